import NIOCore
import Wire

/// Reads the PROXY header (version 2) at the beginning of a load balancer's connection, before TLS, and removes itself.
///
/// A connection without a valid header is closed: it does not come from the balancer.
final class ProxyProtocolHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private var received = ByteBuffer()
    private let onHeader: (IPAddress?) -> Bool

    /// - Parameter onHeader: Gets the client's address, nil when the connection is the balancer's own. Returns whether
    ///   the connection may stay open.
    init(onHeader: @escaping (IPAddress?) -> Bool) { self.onHeader = onHeader }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        received.writeImmutableBuffer(unwrapInboundIn(data))
        switch ProxyHeader(received.readableBytesSpan) {
        case .incomplete: return
        case .malformed: context.close(promise: nil)
        case .whole(let byteCount, let source):
            guard onHeader(source?.address.unmapped) else { return context.close(promise: nil) }
            received.moveReaderIndex(forwardBy: byteCount)
            let rest = received
            received = ByteBuffer()
            if rest.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(rest)) }
            context.pipeline.syncOperations.removeHandler(self, promise: nil)
        }
    }
}
