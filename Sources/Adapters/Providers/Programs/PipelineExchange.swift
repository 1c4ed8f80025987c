internal import Glibc

/// One request to programs that keep running, and its response.
struct PipelineExchange {
    enum Outcome: Hashable {
        case response([UInt8])
        /// They have closed their output, which programs do as they end.
        case ended
        case timedOut
        case tooLarge
        /// There was more than one response.
        case unexpected
    }

    /// How responses end: with so many of these bytes.
    struct Framing: Sendable {
        var delimiter: UInt8
        var count: Int
        var maxSize: Int
    }

    /// Only the end of the error output is kept.
    private static let maxErrorOutputLength = 2_000

    private let pipeline: ChildPipeline
    private let framing: Framing
    private let request: [UInt8]
    private var written = 0
    private var delimiters = 0
    private var response: [UInt8] = []
    private var errors: [UInt8] = []
    private var buffer = [UInt8](repeating: 0, count: 16_384)

    init(_ pipeline: ChildPipeline, request: [UInt8], framing: Framing) {
        self.pipeline = pipeline
        self.request = request
        self.framing = framing
    }

    var errorOutput: String {
        String(decoding: errors.suffix(Self.maxErrorOutputLength), as: UTF8.self)
            .split(whereSeparator: \.isNewline).joined(separator: "\n")
    }

    /// Whether the programs wait for a request: they have neither ended nor written anything.
    static func isReady(_ pipeline: ChildPipeline) -> Bool {
        var waits = [pollfd(fd: pipeline.output, events: Int16(POLLIN), revents: 0)]
        return poll(&waits, 1, 0) == 0
    }

    mutating func run(until deadline: ContinuousClock.Instant) -> Outcome {
        while true {
            let left = ContinuousClock.now.duration(to: deadline)
            guard left > .zero else { return .timedOut }
            var waits = [
                pollfd(fd: pipeline.output, events: Int16(POLLIN), revents: 0),
                pollfd(fd: pipeline.errors, events: Int16(POLLIN), revents: 0),
                pollfd(fd: written < request.count ? pipeline.input : -1, events: Int16(POLLOUT), revents: 0),
            ]
            // Rounded up: with 0 it would spin.
            let timeout = Int32(clamping: Int64(left / .milliseconds(1)) + 1)
            guard poll(&waits, 3, timeout) >= 0 || errno == EINTR else { return .ended }
            if waits[1].revents != 0 { readErrors() }
            if waits[0].revents != 0, let outcome = readResponse() { return outcome }
            if waits[2].revents != 0 { write() }
        }
    }

    private mutating func readResponse() -> Outcome? {
        let count = read(pipeline.output, &buffer, buffer.count)
        guard count > 0 else {
            let isNothing = count < 0 && (errno == EAGAIN || errno == EINTR)
            if !isNothing { readErrors() }
            return isNothing ? nil : .ended
        }
        let part = buffer.prefix(count)
        response += part
        delimiters += part.count { $0 == framing.delimiter }
        if response.count > framing.maxSize { return .tooLarge }
        guard delimiters >= framing.count else { return nil }
        guard delimiters == framing.count, response.last == framing.delimiter, written == request.count else {
            return .unexpected
        }
        return .response(response)
    }

    private mutating func readErrors() {
        let count = read(pipeline.errors, &buffer, buffer.count)
        if count > 0 {
            errors += buffer.prefix(count)
            if errors.count > 8 * Self.maxErrorOutputLength {
                errors.removeFirst(errors.count - Self.maxErrorOutputLength)
            }
        } else if count == 0 || (errno != EAGAIN && errno != EINTR) {
            pipeline.closeErrors()
        }
    }

    private mutating func write() {
        let count = request.withUnsafeBytes { bytes -> Int in
            guard let base = bytes.baseAddress else { return 0 }
            return Glibc.write(pipeline.input, base + written, bytes.count - written)
        }
        if count > 0 { written += count }
        // Programs that do not read any more have ended, or will be noticed at the deadline.
        if count < 0, errno != EAGAIN, errno != EINTR { pipeline.closeInput() }
    }
}
