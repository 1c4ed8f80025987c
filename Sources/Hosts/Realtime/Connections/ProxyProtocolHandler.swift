import NIOCore
import TURN
import Wire

/// Takes the PROXY header (version 2) off the beginning of a balancer's connection, before TLS, and leaves.
///
/// A connection without the header, or with a wrong one, is closed: it does not come through the balancer.
final class ProxyProtocolHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private var received = ByteBuffer()
    private let announce: (IPAddress?) -> Bool

    /// - Parameter announce: Is told for whom the connection was opened, nil when the balancer speaks for itself. Returns
    ///   whether it may go on.
    init(announce: @escaping (IPAddress?) -> Bool) { self.announce = announce }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        received.writeImmutableBuffer(unwrapInboundIn(data))
        switch ProxyHeader(received.readableBytesSpan) {
        case .incomplete: return
        case .malformed: context.close(promise: nil)
        case .whole(let byteCount, let source):
            guard announce(source?.address.unmapped) else { return context.close(promise: nil) }
            received.moveReaderIndex(forwardBy: byteCount)
            let rest = received
            received = ByteBuffer()
            if rest.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(rest)) }
            context.pipeline.syncOperations.removeHandler(self, promise: nil)
        }
    }
}
