import Foundation
import Glibc
import Synchronization

/// Writes lines to a descriptor on a thread of its own, so that nobody waits while nobody reads them.
///
/// What does not fit into the queue is lost: it is counted, and a line in its place says how many lines that were. The
/// descriptor stays blocking, since its description may be shared with other processes. Errors, such as those of a closed
/// pipe or a full disk, lose lines and end nothing.
final class LineWriter: Sendable {
    /// What a pipe takes in one piece (PIPE_BUF), so that lines of other processes do not come between.
    private static let pieceByteCount = 4_096
    /// While nobody reads, in milliseconds.
    private static let flushTimeout = 1_000

    private struct Queue {
        var bytes: [UInt8] = []
        /// The lines after those, for which there was no room.
        var lost = 0
        /// Whether the thread has something to do.
        var isBusy = false
    }

    private let descriptor: Int32
    private let capacity: Int
    private let lossLine: @Sendable (Int) -> String
    private let queue = Mutex(Queue())
    private let wake = DispatchSemaphore(value: 0)
    private let lost = Atomic(0)
    private let written = Atomic(0)

    /// - Parameters:
    ///   - capacity: the bytes that wait; as many are being written.
    ///   - lossLine: what is written in the place of so many lost lines.
    init(_ descriptor: Int32, capacity: Int = 256 << 10, lossLine: @escaping @Sendable (Int) -> String) {
        self.descriptor = descriptor
        self.capacity = capacity
        self.lossLine = lossLine
        let thread = Thread { [self] in work() }
        thread.name = "log"
        thread.start()
    }

    /// Lines that were lost since the start.
    var lostCount: Int { lost.load(ordering: .relaxed) }

    /// - Parameter line: with its line feed.
    func write(_ line: String) {
        let (isLost, mustWake) = queue.withLock { queue in
            // After a loss nothing is queued until the line that says so.
            let fits = queue.lost == 0 && queue.bytes.count + line.utf8.count <= capacity
            if fits { queue.bytes += line.utf8 } else { queue.lost += 1 }
            defer { queue.isBusy = true }
            return (!fits, !queue.isBusy)
        }
        if isLost { lost.add(1, ordering: .relaxed) }
        if mustWake { wake.signal() }
    }

    /// Waits until all is written, or nobody has read for a second.
    func flush() {
        var (waited, before) = (0, written.load(ordering: .relaxed))
        while waited < Self.flushTimeout, queue.withLock({ $0.isBusy }) {
            usleep(1_000)
            let now = written.load(ordering: .relaxed)
            waited = now == before ? waited + 1 : 0
            before = now
        }
    }

    /// `exit` too then waits for the last lines.
    func flushAtExit() {
        Self.last.withLock { $0 = self }
        atexit { LineWriter.last.withLock { $0 }?.flush() }
    }

    private static let last = Mutex<LineWriter?>(nil)

    private func work() {
        // A pipe without a reader is an error here, and not the end.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        // Lines that are lost and not told yet.
        var untold = 0
        while true {
            wake.wait()
            while let (bytes, lost) = take() {
                untold = tell(untold)
                let failed = write(bytes)
                self.lost.add(failed, ordering: .relaxed)
                untold = tell(untold + failed + lost)
            }
        }
    }

    /// - Returns: the number of lines that is still to be told.
    private func tell(_ lost: Int) -> Int {
        lost > 0 && write(Array(lossLine(lost).utf8)) > 0 ? lost : 0
    }

    private func take() -> (bytes: [UInt8], lost: Int)? {
        queue.withLock { queue in
            guard !queue.bytes.isEmpty || queue.lost > 0 else {
                queue.isBusy = false
                return nil
            }
            defer { (queue.bytes, queue.lost) = ([], 0) }
            return (queue.bytes, queue.lost)
        }
    }

    /// - Returns: the number of lines that could not be written.
    private func write(_ bytes: [UInt8]) -> Int {
        var start = 0
        while start < bytes.count {
            let count = bytes[start..<end(of: bytes, from: start)].withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress, $0.count)
            }
            if count > 0 {
                start += count
                written.add(count, ordering: .relaxed)
            } else if errno == EAGAIN {
                // Another process has made it so.
                var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = Glibc.poll(&poll, 1, -1)
            } else if errno != EINTR {
                return bytes[start...].count { $0 == UInt8(ascii: "\n") }
            }
        }
        return 0
    }

    /// Of as many whole lines as a pipe takes in one piece; of one if it is longer.
    private func end(of bytes: [UInt8], from start: Int) -> Int {
        let limit = start + Self.pieceByteCount
        guard limit < bytes.count else { return bytes.count }
        let newline = UInt8(ascii: "\n")
        let last = bytes[start..<limit].lastIndex(of: newline) ?? bytes[limit...].firstIndex(of: newline)
        return last.map { $0 + 1 } ?? bytes.count
    }
}
