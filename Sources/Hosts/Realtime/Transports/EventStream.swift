import DequeModule
package import NIOCore
import Synchronization

/// A session's frames as server-sent events (WHATWG HTML section 9.2): the body of one HTTP response.
///
/// Frames are buffered here up to a limit; beyond it the session queues them itself, as for a slow WebSocket.
package final class EventStream: AsyncSequence, Sendable {
    package typealias Element = ByteBuffer

    private struct State {
        var chunks: Deque<ByteBuffer> = []
        var bytes = 0
        var isFinished = false
        var isReading = false
        var waiter: CheckedContinuation<ByteBuffer?, Never>?
    }

    private static let maxBufferedBytes = 64 * 1024

    private let state = Mutex(State())
    private let loop: any EventLoop
    /// Called on the loop when there is space again, and when the reader is gone.
    private let changed: @Sendable (Change) -> Void

    enum Change { case drained, abandoned }

    init(loop: any EventLoop, changed: @escaping @Sendable (Change) -> Void) {
        self.loop = loop
        self.changed = changed
    }

    deinit {
        state.withLock { $0.waiter }?.resume(returning: nil)
    }

    var unsentBytes: Int { state.withLock { $0.bytes } }
    var isWritable: Bool { state.withLock { $0.bytes < Self.maxBufferedBytes && !$0.isFinished } }

    /// `data: {…}` and an empty line; frames have no line breaks in them.
    func send(_ frame: OutboundFrame) {
        var chunk = ByteBuffer()
        let text = frame.text
        chunk.reserveCapacity(text.readableBytes + 8)
        chunk.writeStaticString("data: ")
        chunk.writeImmutableBuffer(text)
        chunk.writeStaticString("\n\n")
        append(chunk)
    }

    func finish() {
        let waiter = state.withLock { state in
            state.isFinished = true
            return exchange(&state.waiter, with: nil)
        }
        waiter?.resume(returning: nil)
    }

    private func append(_ chunk: ByteBuffer) {
        let waiter = state.withLock { state -> CheckedContinuation<ByteBuffer?, Never>? in
            guard !state.isFinished else { return nil }
            if let waiter = exchange(&state.waiter, with: nil) { return waiter }
            state.chunks.append(chunk)
            state.bytes += chunk.readableBytes
            return nil
        }
        waiter?.resume(returning: chunk)
    }

    package func makeAsyncIterator() -> Iterator { Iterator(stream: self) }

    package struct Iterator: AsyncIteratorProtocol {
        fileprivate let stream: EventStream
        /// Notifies the session when nobody reads any more, however the response's writer ended.
        private let reader: Reader

        fileprivate init(stream: EventStream) {
            self.stream = stream
            reader = Reader(stream: stream)
        }

        package mutating func next() async -> ByteBuffer? {
            await stream.next()
        }
    }

    private final class Reader: Sendable {
        private let stream: EventStream

        init(stream: EventStream) { self.stream = stream }

        deinit { stream.abandon() }
    }

    private func next() async -> ByteBuffer? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (element, hasDrained) = take(for: continuation)
                if let element { continuation.resume(returning: element) }
                if hasDrained { loop.execute { self.changed(.drained) } }
            }
        } onCancel: {
            abandon()
        }
    }

    /// The next element (an inner nil means that the stream has ended), or nil when the reader has to wait.
    private func take(for continuation: CheckedContinuation<ByteBuffer?, Never>) -> (
        element: ByteBuffer??, drained: Bool
    ) {
        state.withLock { state in
            guard let chunk = state.chunks.popFirst() else {
                if state.isFinished { return (.some(nil), false) }
                state.waiter = continuation
                return (nil, false)
            }
            let wasFull = state.bytes >= Self.maxBufferedBytes
            state.bytes -= chunk.readableBytes
            return (.some(chunk), wasFull && state.bytes < Self.maxBufferedBytes)
        }
    }

    private func abandon() {
        finish()
        loop.execute { self.changed(.abandoned) }
    }
}
