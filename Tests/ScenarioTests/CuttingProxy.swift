import NIOCore
import NIOPosix
import Synchronization

/// A TCP proxy that closes every connection on demand, with all data in transit in both directions, and can hold back what
/// streams tell.
final class CuttingProxy: Sendable {
    private let listener: any Channel
    private let connections: Connections
    private let dropped = DroppedFrames()

    private final class Connections: Sendable {
        let channels = Mutex<[ObjectIdentifier: any Channel]>([:])

        func add(_ channel: any Channel) {
            channels.withLock { $0[ObjectIdentifier(channel)] = channel }
            channel.closeFuture.whenComplete { [weak self] _ in
                self?.channels.withLock { $0[ObjectIdentifier(channel)] = nil }
            }
        }
    }

    var port: Int { listener.localAddress?.port ?? 0 }

    /// Listens on a free port of the loopback and forwards to the port `target`.
    ///
    /// - Parameter roundTrip: how much later a response comes.
    init(to target: Int, roundTrip: TimeAmount = .zero) async throws {
        connections = Connections()
        listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelOption(.autoRead, value: false)
            .childChannelInitializer { [connections, dropped] client in
                connections.add(client)
                return ClientBootstrap(group: client.eventLoop)
                    .channelOption(.autoRead, value: false)
                    .connect(host: "127.0.0.1", port: target)
                    .flatMapThrowing { server in
                        connections.add(server)
                        let delay = TimeAmount.nanoseconds(roundTrip.nanoseconds / 2)
                        try client.pipeline.syncOperations.addHandler(Relaying(to: server, after: delay))
                        try server.pipeline.syncOperations.addHandlers(
                            StreamFilter(dropped), Relaying(to: client, after: delay))
                        client.setOption(.autoRead, value: true).whenComplete { _ in }
                        server.setOption(.autoRead, value: true).whenComplete { _ in }
                    }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    /// From now on, the frames of streams do not arrive; responses do.
    func holdStreams() { dropped.state.withLock { $0.streams = true } }

    /// From now on, the results of requests do not arrive, until it says that they do.
    func holdResults(_ isHolding: Bool = true) { dropped.state.withLock { $0.results = isHolding } }

    /// How many results with a call have not arrived.
    var heldCalls: Int { dropped.state.withLock { $0.calls } }

    /// Closes every connection.
    func cut() {
        for channel in connections.channels.withLock({ Array($0.values) }) { channel.close(promise: nil) }
    }

    func close() async throws {
        try await listener.close()
        cut()
    }
}

/// Forwards data and the end of a channel to another one.
private final class Relaying: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private let other: any Channel
    private let delay: TimeAmount

    init(to other: any Channel, after delay: TimeAmount) {
        self.other = other
        self.delay = delay
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let (other, bytes) = (other, unwrapInboundIn(data))
        guard delay > .zero else { return other.writeAndFlush(bytes, promise: nil) }
        // What comes later is due later: the order stays.
        context.eventLoop.scheduleTask(in: delay) { other.writeAndFlush(bytes, promise: nil) }
    }

    func channelInactive(context: ChannelHandlerContext) { other.close(promise: nil) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
