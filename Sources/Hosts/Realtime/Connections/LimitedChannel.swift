package import HummingbirdCore
package import Logging
package import NIOCore
import Wire

/// The connections of a port before TLS and HTTP: closes those over the limits, and reads the PROXY headers of load
/// balancers.
///
///     HTTPServerBuilder { responder in LimitedChannel(UpgradeChannel(responder: responder, …), …) }
package struct LimitedChannel<Base: ServerChildChannel>: ServerChildChannel {
    package typealias Value = Base.Value

    private let base: Base
    private let addresses: ClientAddresses
    private let limits: ConnectionLimits

    package init(_ base: Base, addresses: ClientAddresses, limits: ConnectionLimits) {
        self.base = base
        self.addresses = addresses
        self.limits = limits
    }

    package func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        do {
            try admit(channel)
            return base.setup(channel: channel, logger: logger)
        } catch {
            // Nothing else closes a channel whose setup failed.
            channel.close(promise: nil)
            return channel.eventLoop.makeFailedFuture(error)
        }
    }

    package func handle(value: Value, logger: Logger) async {
        await base.handle(value: value, logger: logger)
    }

    private struct Rejected: Error {}

    private func admit(_ channel: any Channel) throws {
        let (addresses, limits) = (addresses, limits)
        guard limits.acquire() else { throw Rejected() }
        channel.closeFuture.whenComplete { _ in limits.release() }
        guard let peer = addresses.peer(of: channel) else { return }
        guard addresses.expectsProxyHeader(peer) else {
            guard Self.count(peer, channel, addresses, limits) else { throw Rejected() }
            return
        }
        try channel.pipeline.syncOperations.addHandler(
            ProxyProtocolHandler { [weak channel] client in
                guard let channel, let client else { return true }
                addresses.setClient(client, of: channel)
                return Self.count(client, channel, addresses, limits)
            })
    }

    /// Counts the connection for its client, until it is closed.
    private static func count(
        _ client: IPAddress, _ channel: any Channel, _ addresses: ClientAddresses, _ limits: ConnectionLimits
    ) -> Bool {
        if addresses.isTrusted(client) { return true }
        guard limits.acquire(from: client) else { return false }
        channel.closeFuture.whenComplete { _ in limits.release(from: client) }
        return true
    }
}
