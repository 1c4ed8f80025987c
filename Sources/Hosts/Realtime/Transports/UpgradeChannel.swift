package import HummingbirdCore
package import Logging
package import Model
package import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import NIOWebSocket
import Synchronization

/// The HTTP server's connections: those whose first request opens a realtime session become WebSockets, all others are
/// passed to the responder.
///
///     HTTPServerBuilder { responder in UpgradeChannel(responder: responder, hub: hub, services: services, …) }
///
/// Wrapped in Hummingbird's `.tls` it serves `wss` too. A WebSocket needs no task of the server: it is only a channel
/// handler.
package struct UpgradeChannel: ServerChildChannel {
    package enum Value: ServerChildChannelValue {
        case pending(any Channel, EventLoopFuture<Protocols>)

        package var channel: any Channel {
            switch self {
            case .pending(let channel, _): channel
            }
        }
    }

    /// The protocol of a connection after its first request.
    package enum Protocols: Sendable {
        case http(HTTP1Channel.Value)
        case realtime
    }

    private let http: HTTP1Channel
    private let hub: RealtimeHub
    private let services: RealtimeServices
    private let origins: AllowedOrigins
    private let addresses: ClientAddresses
    private let pace: TransferPace

    /// The response to a plain `GET /v1/realtime`.
    package static let upgradeRequired = Problem(
        .upgradeRequired, "Open a WebSocket here, or POST a hello to /v1/realtime/sse for server-sent events.")

    /// How long a connection may take until the head of its first request.
    private static let firstRequestTimeout: TimeAmount = .seconds(5)

    /// - Parameters:
    ///   - responder: Handles all other requests; also a plain `GET /v1/realtime`, which should be 426.
    ///   - configuration: Of the HTTP connections, such as their idle timeout.
    ///   - addresses: Determine the address of a session's client.
    ///   - pace: The minimum rate of bodies and responses.
    package init(
        responder: @escaping HTTPChannelHandler.Responder, configuration: HTTP1Channel.Configuration = .init(),
        hub: RealtimeHub, services: RealtimeServices, origins: AllowedOrigins,
        addresses: ClientAddresses = ClientAddresses(), pace: TransferPace = TransferPace()
    ) {
        http = HTTP1Channel(responder: responder, configuration: configuration)
        self.hub = hub
        self.services = services
        self.origins = origins
        self.addresses = addresses
        self.pace = pace
    }

    private static let hasSetUp = Mutex(false)

    /// The first connection of the process is set up alone: Swift's runtime (6.3) may crash while event loops instantiate
    /// the generic handlers of NIO at the same time.
    package func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        let first: EventLoopFuture<Value>? = Self.hasSetUp.withLock { hasSetUp in
            if hasSetUp { return nil }
            defer { hasSetUp = true }
            return setUp(channel, logger)
        }
        return first ?? setUp(channel, logger)
    }

    private func setUp(_ channel: any Channel, _ logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            var configuration = NIOUpgradableHTTPServerPipelineConfiguration(
                upgradeConfiguration: NIOTypedHTTPServerUpgradeConfiguration<Protocols>(
                    upgraders: [RealtimeUpgrader(hub: hub, services: services, addresses: addresses)],
                    notUpgradingCompletionHandler: { channel in
                        channel.eventLoop.makeCompletedFuture { .http(try speakHTTP(on: channel, logger)) }
                    }))
            // Hummingbird pipelines and validates by itself.
            configuration.enablePipelining = false
            configuration.enableResponseHeaderValidation = false
            configuration.enableErrorHandling = true
            let future = try pipeline.configureUpgradableHTTPServerPipeline(configuration: configuration)
            let upgradeHandler = try pipeline.handler(type: NIOTypedHTTPServerUpgradeHandler<Protocols>.self)
            try pipeline.addHandler(
                UpgradeHeadFilter(origins: origins, timeout: Self.firstRequestTimeout),
                position: .before(upgradeHandler))
            return .pending(channel, future)
        }
    }

    package func handle(value: Value, logger: Logger) async {
        guard case .pending(_, let future) = value, case .http(let channel) = try? await future.get() else { return }
        await http.handle(value: channel, logger: logger)
    }

    private func speakHTTP(on channel: any Channel, _ logger: Logger) throws -> HTTP1Channel.Value {
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(OldClientsHandler())
        try pipeline.addHandler(HTTP1ToHTTPServerCodec(secure: false))
        try pipeline.addHandler(TransferPaceHandler(pace))
        try pipeline.addHandlers(http.configuration.additionalChannelHandlers())
        try pipeline.addHandler(
            HTTPConnectionStateHandler(
                idleTimeout: http.configuration.idleTimeout.map { .nanoseconds($0.nanoseconds) }, logger: logger))
        return try NIOAsyncChannel(
            wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: true))
    }
}

/// NIO's WebSocket handshake, followed by the session's own handler instead of NIO's frame handlers.
private struct RealtimeUpgrader: NIOTypedHTTPServerProtocolUpgrader {
    let hub: RealtimeHub
    let services: RealtimeServices
    let addresses: ClientAddresses
    private let handshake = NIOTypedWebSocketServerUpgrader<UpgradeChannel.Protocols>(
        // `UpgradeHeadFilter` has checked the request already.
        shouldUpgrade: { channel, head in
            let id = RequestID.make(traceparent: head.headers.first(name: "traceparent"))
            return channel.eventLoop.makeSucceededFuture([RequestID.headerName: id.text])
        },
        upgradePipelineHandler: { channel, _ in channel.eventLoop.makeSucceededFuture(.realtime) })

    init(hub: RealtimeHub, services: RealtimeServices, addresses: ClientAddresses) {
        self.hub = hub
        self.services = services
        self.addresses = addresses
    }

    var supportedProtocol: String { handshake.supportedProtocol }
    var requiredUpgradeHeaders: [String] { handshake.requiredUpgradeHeaders }

    func buildUpgradeResponse(
        channel: any Channel, upgradeRequest: HTTPRequestHead, initialResponseHeaders: HTTPHeaders
    ) -> EventLoopFuture<HTTPHeaders> {
        handshake.buildUpgradeResponse(
            channel: channel, upgradeRequest: upgradeRequest, initialResponseHeaders: initialResponseHeaders)
    }

    func upgrade(
        channel: any Channel, upgradeRequest: HTTPRequestHead
    ) -> EventLoopFuture<UpgradeChannel.Protocols> {
        channel.eventLoop.makeCompletedFuture {
            let origin = SessionOrigin(
                address: addresses.client(of: channel) { upgradeRequest.headers[$0] },
                host: upgradeRequest.headers.first(name: "host"))
            try channel.pipeline.syncOperations.addHandler(
                WebSocketHandler(hub: hub, services: services, origin: origin))
            return .realtime
        }
    }
}
