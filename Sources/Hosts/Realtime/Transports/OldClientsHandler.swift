package import HummingbirdCore
package import Logging
package import NIOCore
import NIOHTTP1
import NIOHTTPTypesHTTP1

/// Responds to HTTP/1.0, which load balancers and embedded clients still speak: such a client knows no chunks, and takes
/// the end of the connection for that of the response (RFC 9112 sections 6.1 and 6.3).
///
/// It is between NIO's codec and that of the shared HTTP types, which have no version.
final class OldClientsHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// Requests without a response.
    private var waiting = 0
    /// The responses before that to a request of HTTP/1.0, the last one of the connection.
    private var before: Int?

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(var head) = unwrapInboundIn(data) else { return context.fireChannelRead(data) }
        if head.version == .http1_0 {
            if before == nil { before = waiting }
            head.headers.replaceOrAdd(name: "connection", value: "close")
        }
        waiting += 1
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .head(var head) = unwrapOutboundIn(data), !(100..<200).contains(head.status.code) else {
            return context.write(data, promise: promise)
        }
        waiting -= 1
        if before == 0 {
            head.version = .http1_0
            head.headers.replaceOrAdd(name: "connection", value: "close")
        }
        before = before.map { $0 - 1 }
        context.write(wrapOutboundOut(.head(head)), promise: promise)
    }
}

/// Connections that are no WebSockets, of which some speak HTTP/1.0.
package struct PlainChannel: ServerChildChannel {
    private let http: HTTP1Channel

    package init(_ http: HTTP1Channel) { self.http = http }

    package func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
        http.setup(channel: channel, logger: logger).flatMapThrowing { value in
            let pipeline = channel.pipeline.syncOperations
            let codec = try pipeline.handler(type: HTTP1ToHTTPServerCodec.self)
            try pipeline.addHandler(OldClientsHandler(), position: .before(codec))
            return value
        }
    }

    package func handle(value: HTTP1Channel.Value, logger: Logger) async {
        await http.handle(value: value, logger: logger)
    }
}
