import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import NIOWebSocket

/// One WebSocket to the server (RFC 6455), which carries text frames.
struct WebSocketConnection: Sendable {
    /// The maximum size of a server's message; enough for a snapshot with 256 KiB of SDP in each of its signals.
    private static let maxMessageBytes = 8 << 20

    private let channel: NIOAsyncChannel<WebSocketFrame, WebSocketFrame>

    /// Connects and upgrades.
    static func open(
        _ address: ServerAddress, options: SwitchboardOptions, group: any EventLoopGroup
    ) async throws -> WebSocketConnection {
        let tls = address.isSecure ? try NIOSSLContext(configuration: options.tls ?? .makeClientConfiguration()) : nil
        let upgrade = try await ClientBootstrap(group: group)
            .connectTimeout(TimeAmount(options.connectTimeout))
            .channelOption(.socketOption(.tcp_nodelay), value: 1)
            .connect(host: address.host, port: address.port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls {
                        let name = address.host.contains(":") || address.host.allSatisfy { $0.isNumber || $0 == "." }
                        try channel.pipeline.syncOperations.addHandler(
                            NIOSSLClientHandler(context: tls, serverHostname: name ? nil : address.host))
                    }
                    return try channel.pipeline.syncOperations.configureUpgradableHTTPClientPipeline(
                        configuration: .init(upgradeConfiguration: upgradeConfiguration(address)))
                }
            }
        guard let channel = try await upgrade.get() else {
            throw SwitchboardError.unreachable("the server did not upgrade to WebSocket")
        }
        return WebSocketConnection(channel: channel)
    }

    /// Runs `body` with the received messages until the connection ends; returning from `body` closes it.
    func withMessages(_ body: (NIOAsyncChannelInboundStream<WebSocketFrame>) async throws -> Void) async throws {
        try await channel.executeThenClose { inbound, _ in try await body(inbound) }
    }

    /// Sends a text message. A failure shows as the end of the connection.
    func send(_ text: [UInt8]) {
        send(.text, ByteBuffer(bytes: text))
    }

    /// Responds to control frames and returns the text of a message.
    func text(of frame: WebSocketFrame) -> [UInt8]? {
        switch frame.opcode {
        case .text, .binary: return Array(frame.unmaskedData.readableBytesView)
        case .ping: send(.pong, frame.unmaskedData)
        case .connectionClose: close()
        default: break
        }
        return nil
    }

    /// Ends the connection.
    func close() {
        channel.channel.close(promise: nil)
    }

    private func send(_ opcode: WebSocketOpcode, _ data: ByteBuffer) {
        channel.channel.writeAndFlush(
            WebSocketFrame(fin: true, opcode: opcode, maskKey: .random(), data: data), promise: nil)
    }

    private static func upgradeConfiguration(
        _ address: ServerAddress
    ) -> NIOTypedHTTPClientUpgradeConfiguration<NIOAsyncChannel<WebSocketFrame, WebSocketFrame>?> {
        let upgrader = NIOTypedWebSocketClientUpgrader<NIOAsyncChannel<WebSocketFrame, WebSocketFrame>?>(
            maxFrameSize: maxMessageBytes, enableAutomaticErrorHandling: true
        ) { channel, _ in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(
                    NIOWebSocketFrameAggregator(
                        minNonFinalFragmentSize: 1, maxAccumulatedFrameCount: 1_024,
                        maxAccumulatedFrameSize: maxMessageBytes))
                return try NIOAsyncChannel(wrappingChannelSynchronously: channel)
            }
        }
        var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: address.path + "/v1/realtime")
        head.headers.add(name: "Host", value: address.authority)
        head.headers.add(name: "Content-Length", value: "0")
        head.headers.add(name: "User-Agent", value: SwitchboardVersion.userAgent)
        return NIOTypedHTTPClientUpgradeConfiguration(upgradeRequestHead: head, upgraders: [upgrader]) { channel in
            channel.close(promise: nil)
            return channel.eventLoop.makeSucceededFuture(nil)
        }
    }
}
