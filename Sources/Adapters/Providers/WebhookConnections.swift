internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL
internal import Webhooks

/// The connections to one host, and the requests that use them. It is confined to its event loop.
///
/// One timer serves all deadlines and all idle connections: requests have the same deadline from their beginning, so it
/// is rarely set anew.
final class WebhookConnections {
    typealias Completion = (Result<ProviderClient.Response, ProviderFailure>) -> Void

    /// A request that has no response yet.
    private struct Exchange {
        var request: WebhookRequest
        var complete: Completion
        /// Nil until there is a connection.
        var connection: WebhookConnection?
    }

    private struct Idle {
        var connection: WebhookConnection
        var until: NIODeadline
    }

    /// How long a connection is kept without a request.
    private static let idleTime = TimeAmount.seconds(60)
    private static let connectTimeout = TimeAmount.seconds(10)
    private let host: String
    private let address: String
    private let encryption: @Sendable () throws -> NIOSSLContext
    private let loop: any EventLoop
    private var exchanges: [UInt64: Exchange] = [:]
    /// By port and whether they are encrypted; the last one was used last.
    private var idle: [Destination: [Idle]] = [:]
    private var timer: (at: NIODeadline, task: Scheduled<Void>)?
    private var isClosed = false

    struct Destination: Hashable {
        var port: Int
        var isEncrypted: Bool
    }

    init(
        host: String, address: String, encryption: @escaping @Sendable () throws -> NIOSSLContext, loop: any EventLoop
    ) {
        self.host = host
        self.address = address
        self.encryption = encryption
        self.loop = loop
    }

    func send(_ request: WebhookRequest, id: UInt64, _ complete: @escaping Completion) {
        exchanges[id] = Exchange(request: request, complete: complete)
        setTimer(request.deadline)
        let destination = Destination(port: request.url.port, isEncrypted: request.url.isEncrypted)
        if let connection = idle[destination]?.popLast()?.connection {
            begin(id, on: connection)
        } else {
            connect(to: destination, for: id)
        }
    }

    func cancel(_ id: UInt64) { abort(id, .cancelled) }

    /// Closes idle connections now, and others as they become idle.
    func close() {
        isClosed = true
        for connection in idle.values.joined() { connection.connection.close() }
        idle = [:]
    }

    /// The exchange has ended, and the connection may be used again.
    func finish(_ id: UInt64, _ result: Result<ProviderClient.Response, ProviderFailure>, keep: WebhookConnection?) {
        if let keep, !isClosed {
            idle[keep.destination, default: []].append(Idle(connection: keep, until: .now() + Self.idleTime))
        } else {
            keep?.close()
        }
        exchanges.removeValue(forKey: id)?.complete(result)
    }

    /// The connection is lost.
    func remove(_ connection: WebhookConnection) {
        idle[connection.destination]?.removeAll { $0.connection === connection }
    }

    /// Returns false if the exchange has ended.
    @discardableResult
    private func begin(_ id: UInt64, on connection: WebhookConnection) -> Bool {
        guard let request = exchanges[id]?.request else { return false }
        exchanges[id]?.connection = connection
        connection.send(request, id: id)
        return true
    }

    private func abort(_ id: UInt64, _ failure: ProviderFailure) {
        guard let exchange = exchanges.removeValue(forKey: id) else { return }
        exchange.connection?.close()
        exchange.complete(.failure(failure))
    }
}

// Connecting.
extension WebhookConnections {
    private func connect(to destination: Destination, for id: UInt64) {
        let socket: SocketAddress
        do {
            socket = try SocketAddress(ipAddress: address, port: destination.port)
        } catch {
            return finish(id, .failure(.unreachable("its address is invalid")), keep: nil)
        }
        let connection = WebhookConnection(connections: self, destination: destination)
        let bound = NIOLoopBound((self, connection), eventLoop: loop)
        let (name, encryption) = (host, encryption)
        ClientBootstrap(group: loop)
            .connectTimeout(Self.connectTimeout)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if destination.isEncrypted {
                        try pipeline.addHandler(Self.encrypted(to: name, encryption()))
                    }
                    try pipeline.addHTTPClientHandlers(leftOverBytesStrategy: .dropBytes)
                    try pipeline.addHandler(bound.value.1)
                }
            }
            .connect(to: socket)
            .whenComplete { result in
                let (connections, connection) = bound.value
                switch result {
                case .success:
                    if !connections.begin(id, on: connection) { connection.close() }
                case .failure(let error):
                    connections.finish(id, .failure(WebhookConnection.failure(of: error)), keep: nil)
                }
            }
    }

    /// The name of a host is checked against its certificate; so is an address, if it has no name.
    private static func encrypted(to host: String, _ context: NIOSSLContext) throws -> NIOSSLClientHandler {
        let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
        return try NIOSSLClientHandler(context: context, serverHostname: isAddress ? nil : host)
    }
}

// The timer.
extension WebhookConnections {
    private func setTimer(_ deadline: NIODeadline) {
        if let timer, timer.at <= deadline { return }
        timer?.task.cancel()
        let bound = NIOLoopBound(self, eventLoop: loop)
        timer = (deadline, loop.scheduleTask(deadline: deadline) { bound.value.expire() })
    }

    private func expire() {
        timer = nil
        let now = NIODeadline.now()
        for id in exchanges.filter({ $0.value.request.deadline <= now }).keys { abort(id, .timedOut) }
        for (destination, connections) in idle {
            let kept = connections.filter { $0.until > now }
            for connection in connections where connection.until <= now { connection.connection.close() }
            idle[destination] = kept.isEmpty ? nil : kept
        }
        let deadlines = exchanges.values.map(\.request.deadline) + idle.values.joined().map(\.until)
        if let next = deadlines.min() { setTimer(next) }
    }
}
