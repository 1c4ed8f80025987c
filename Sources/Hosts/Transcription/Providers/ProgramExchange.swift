internal import Glibc

/// Feeds a program and reads what it says, until it ended, or should have.
struct ProgramExchange {
    enum End {
        case ended
        case tooLate
        case tooMuch
    }

    /// Of what it complains about, the end is kept.
    private static let complaintLength = 2_000

    private let process: ChildProcess
    private let largestOutput: Int
    private let feed: [UInt8]
    private var fed = 0
    private var errors: [UInt8] = []
    private var room = [UInt8](repeating: 0, count: 65_536)
    private(set) var output: [UInt8] = []

    init(_ process: ChildProcess, feeding bytes: [UInt8], largestOutput: Int) {
        self.process = process
        feed = bytes
        self.largestOutput = largestOutput
        if bytes.isEmpty { process.closeInput() }
    }

    var complaint: String {
        String(decoding: errors.suffix(Self.complaintLength), as: UTF8.self).trimmed
    }

    mutating func run(until deadline: ContinuousClock.Instant) -> End {
        // Whether it ended is looked at now and then: a child of its own may hold the pipes open, and it may have closed
        // them long before.
        var pause: Int64 = 2
        var hasEnded = false
        while true {
            let left = ContinuousClock.now.duration(to: deadline)
            guard left > .zero else { return .tooLate }
            if !hasEnded, process.hasEnded {
                hasEnded = true
                // What it left behind would go on to write.
                process.killGroup()
            }
            var waits = [
                pollfd(fd: process.output, events: Int16(POLLIN), revents: 0),
                pollfd(fd: process.errors, events: Int16(POLLIN), revents: 0),
                pollfd(fd: process.input, events: Int16(POLLOUT), revents: 0),
            ]
            let patience = hasEnded ? .zero : min(.milliseconds(pause), left)
            let ready = poll(&waits, 3, Int32(clamping: Int64(patience / .milliseconds(1))))
            pause = ready == 0 ? min(pause * 2, 100) : 2
            if waits[0].revents != 0 { readOutput() }
            if waits[1].revents != 0 { readErrors() }
            if waits[2].revents != 0 { write() }
            if output.count > largestOutput { return .tooMuch }
            // What was in the pipe when it ended still counts.
            if hasEnded, ready == 0 || waits[0].revents & Int16(POLLIN) == 0 { return .ended }
        }
    }

    private mutating func readOutput() {
        let count = read(process.output, &room, room.count)
        if count > 0 {
            output += room.prefix(count)
        } else if count == 0 || (errno != EAGAIN && errno != EINTR) {
            process.closeOutput()
        }
    }

    private mutating func readErrors() {
        let count = read(process.errors, &room, room.count)
        if count > 0 {
            errors += room.prefix(count)
            if errors.count > 8 * Self.complaintLength { errors.removeFirst(errors.count - Self.complaintLength) }
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
        // One that does not want all of it may still answer.
        if fed >= feed.count || (count < 0 && errno != EAGAIN && errno != EINTR) { process.closeInput() }
    }
}

extension String {
    fileprivate var trimmed: String {
        split(omittingEmptySubsequences: true, whereSeparator: \.isNewline).joined(separator: "\n")
    }
}
