internal import Glibc

/// Writes a program's input and reads its output, until it ends or its deadline passes.
struct ProgramExchange {
    enum Outcome {
        case ended
        case timedOut
        case outputTooLarge
    }

    /// Only the end of standard error is kept.
    private static let maxErrorOutputLength = 2_000

    private let process: ChildProcess
    private let maxOutputSize: Int
    private let feed: [UInt8]
    private var fed = 0
    private var errors: [UInt8] = []
    private var buffer = [UInt8](repeating: 0, count: 65_536)
    private(set) var output: [UInt8] = []

    init(_ process: ChildProcess, feeding bytes: [UInt8], maxOutputSize: Int) {
        self.process = process
        feed = bytes
        self.maxOutputSize = maxOutputSize
        if bytes.isEmpty { process.closeInput() }
    }

    var errorOutput: String {
        String(decoding: errors.suffix(Self.maxErrorOutputLength), as: UTF8.self).trimmed
    }

    mutating func run(until deadline: ContinuousClock.Instant) -> Outcome {
        // The process is polled: a child of its own may keep the pipes open, and it may have closed them long before it
        // ends.
        var pause: Int64 = 2
        var hasEnded = false
        while true {
            let left = ContinuousClock.now.duration(to: deadline)
            guard left > .zero else { return .timedOut }
            if !hasEnded, process.hasEnded {
                hasEnded = true
                // Children that it left behind could go on writing.
                process.killGroup()
            }
            var waits = [
                pollfd(fd: process.output, events: Int16(POLLIN), revents: 0),
                pollfd(fd: process.errors, events: Int16(POLLIN), revents: 0),
                pollfd(fd: process.input, events: Int16(POLLOUT), revents: 0),
            ]
            let timeout = hasEnded ? .zero : min(.milliseconds(pause), left)
            let ready = poll(&waits, 3, Int32(clamping: Int64(timeout / .milliseconds(1))))
            pause = ready == 0 ? min(pause * 2, 100) : 2
            if waits[0].revents != 0 { readOutput() }
            if waits[1].revents != 0 { readErrors() }
            if waits[2].revents != 0 { write() }
            if output.count > maxOutputSize { return .outputTooLarge }
            // What was in the pipe when it ended still counts.
            if hasEnded, ready == 0 || waits[0].revents & Int16(POLLIN) == 0 { return .ended }
        }
    }

    private mutating func readOutput() {
        let count = read(process.output, &buffer, buffer.count)
        if count > 0 {
            output += buffer.prefix(count)
        } else if count == 0 || (errno != EAGAIN && errno != EINTR) {
            process.closeOutput()
        }
    }

    private mutating func readErrors() {
        let count = read(process.errors, &buffer, buffer.count)
        if count > 0 {
            errors += buffer.prefix(count)
            if errors.count > 8 * Self.maxErrorOutputLength {
                errors.removeFirst(errors.count - Self.maxErrorOutputLength)
            }
        } else if count == 0 || (errno != EAGAIN && errno != EINTR) {
            process.closeErrors()
        }
    }

    private mutating func write() {
        let count = feed.withUnsafeBytes { bytes -> Int in
            guard let base = bytes.baseAddress, fed < bytes.count else { return 0 }
            return Glibc.write(process.input, base + fed, bytes.count - fed)
        }
        if count > 0 { fed += count }
        // A program that does not read all of its input may still write output.
        if fed >= feed.count || (count < 0 && errno != EAGAIN && errno != EINTR) { process.closeInput() }
    }
}

extension String {
    fileprivate var trimmed: String {
        split(omittingEmptySubsequences: true, whereSeparator: \.isNewline).joined(separator: "\n")
    }
}
