import Foundation
import NIOCore
import Synchronization

/// What a ``StreamFilter`` drops: set by a test, and read on event loops.
final class DroppedFrames: Sendable {
    struct State: Sendable {
        var streams = false
        var results = false
        /// How many results with a call were dropped.
        var calls = 0
    }

    let state = Mutex(State())
}

/// Drops the frames of streams, or the results of requests, out of what a server sends over a WebSocket (RFC 6455 section
/// 5.2), while a test wants it. Everything else passes as it is.
final class StreamFilter: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private enum Mode { case head, http, frames }

    private let dropped: DroppedFrames
    private var mode = Mode.head
    private var waiting = ByteBuffer()

    init(_ dropped: DroppedFrames) { self.dropped = dropped }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        waiting.writeBuffer(&bytes)
        if mode == .head { readHead(context) }
        switch mode {
        case .head: break
        case .http: pass(waiting.readableBytes, context)
        case .frames: while let length = frameLength { pass(length, context, unless: isDropped(length)) }
        }
        waiting.discardReadBytes()
    }

    /// Only a connection that becomes a WebSocket has frames.
    private func readHead(_ context: ChannelHandlerContext) {
        let text = String(buffer: waiting)
        guard text.hasPrefix("HTTP/1.1 101") || text.utf8.count < 12 else { return mode = .http }
        guard let end = text.range(of: "\r\n\r\n") else { return }
        pass(text[..<end.upperBound].utf8.count, context)
        mode = .frames
    }

    private func pass(_ length: Int, _ context: ChannelHandlerContext, unless isDropped: Bool = false) {
        guard let bytes = waiting.readSlice(length: length), length > 0, !isDropped else { return }
        context.fireChannelRead(wrapInboundOut(bytes))
    }

    /// Of the header of a frame that is not masked, and the payload; nil until all of it is there.
    private var frame: (header: Int, payload: Int)? {
        let start = waiting.readerIndex
        guard let length: UInt8 = waiting.getInteger(at: start + 1) else { return nil }
        switch length & 0x7F {
        case 126: return waiting.getInteger(at: start + 2, as: UInt16.self).map { (4, Int($0)) }
        case 127: return waiting.getInteger(at: start + 2, as: UInt64.self).map { (10, Int($0)) }
        case let short: return (2, Int(short))
        }
    }

    private var frameLength: Int? {
        guard let (header, payload) = frame, waiting.readableBytes >= header + payload else { return nil }
        return header + payload
    }

    private func isDropped(_ length: Int) -> Bool {
        guard dropped.state.withLock({ $0.streams || $0.results }), let (header, payload) = frame,
            let text = waiting.getBytes(at: waiting.readerIndex + header, length: payload),
            let json = try? JSONSerialization.jsonObject(with: Data(text)) as? [String: Any]
        else { return false }
        return dropped.state.withLock { state in
            guard state.results, let result = json["result"] else { return state.streams && json["stream"] != nil }
            if (result as? [String: Any])?["call"] != nil { state.calls += 1 }
            return true
        }
    }
}
