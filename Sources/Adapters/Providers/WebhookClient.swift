internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL
internal import Synchronization
package import Webhooks

/// Posts to one host at an address that was checked, over connections that are kept.
///
/// As with `ProviderClient` no redirect is followed, the size of the response is limited, and the whole exchange has a
/// deadline. It is HTTP/1.1 with what every request to a webhook needs and nothing else, all on one event loop: a request
/// costs a hop there and one back, no tasks and no timer of its own. There is no limit of connections: each webhook has
/// one for each of its attempts at a time, so that no webhook waits for another of the same host.
package final class WebhookClient: Sendable {
    private let loop: any EventLoop
    private let connections: NIOLoopBoundBox<WebhookConnections>
    private let ids = Atomic<UInt64>(0)

    /// Reading the system's certificates takes a while, so all clients share this.
    private static let encryption = Result {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.applicationProtocols = ["http/1.1"]
        return try NIOSSLContext(configuration: configuration)
    }

    /// - Parameter address: of the host, which was checked.
    package convenience init(host: String, address: String) {
        self.init(host: host, address: address) { try Self.encryption.get() }
    }

    /// - Parameter encryption: is called for the first connection with TLS.
    init(host: String, address: String, encryption: @escaping @Sendable () throws -> NIOSSLContext) {
        loop = MultiThreadedEventLoopGroup.singleton.next()
        let connections = WebhookConnections(host: host, address: address, encryption: encryption, loop: loop)
        self.connections = .makeBoxSendingValue(connections, eventLoop: loop)
    }

    /// Requests hold the client: when it ends, all its connections are idle.
    deinit {
        let connections = connections
        loop.execute { connections.value.close() }
    }

    package func post(
        _ body: [UInt8], to url: WebhookURL, headers: [(String, String)], maxResponseSize: Int,
        excess: ProviderClient.Excess = .rejected, deadline: ContinuousClock.Instant
    ) async throws(ProviderFailure) -> ProviderClient.Response {
        let id = ids.wrappingAdd(1, ordering: .relaxed).newValue
        let request = WebhookRequest(
            url: url, headers: headers, body: body, maxResponseSize: maxResponseSize, excess: excess,
            deadline: .now() + TimeAmount(ContinuousClock.now.duration(to: deadline)))
        // Set before the event loop is asked to cancel, which may be before it begins.
        let isCancelled = CancellationFlag()
        let result: Result<ProviderClient.Response, ProviderFailure> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                loop.execute { [connections] in
                    guard !isCancelled.isSet else { return continuation.resume(returning: .failure(.cancelled)) }
                    connections.value.send(request, id: id) { continuation.resume(returning: $0) }
                }
            }
        } onCancel: {
            isCancelled.set()
            loop.execute { [connections] in connections.value.cancel(id) }
        }
        return try result.get()
    }
}

/// A request to a webhook, and what bounds its response.
struct WebhookRequest: Sendable {
    var url: WebhookURL
    var headers: [(String, String)]
    var body: [UInt8]
    var maxResponseSize: Int
    var excess: ProviderClient.Excess
    var deadline: NIODeadline
}

private final class CancellationFlag: Sendable {
    private let flag = Atomic(false)

    var isSet: Bool { flag.load(ordering: .acquiring) }

    func set() { flag.store(true, ordering: .releasing) }
}
