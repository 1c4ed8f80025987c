import DatagramIO
import Logging
import Relay
import ServiceLifecycle
import Services
import Synchronization
import Wire

/// Keeps the relay and the gateway listening on the addresses that the machine has.
final class AddressFollower: Service {
    private let relay: RelayServer?
    private let gateway: GatewayLegs?
    private let known: LocalAddresses
    private let logger: Logger
    /// What was logged last, until it succeeds.
    private let failures = Mutex<[String]>([])

    /// - Parameter known: the addresses of the machine before relay and gateway were started.
    init(relay: RelayServer?, gateway: GatewayLegs?, after known: LocalAddresses, logger: Logger) {
        self.relay = relay
        self.gateway = gateway
        self.known = known
        self.logger = logger
    }

    func run() async throws {
        guard relay != nil || gateway != nil else { return try await gracefulShutdown() }
        let before = Mutex(offered(known))
        let watch = AddressWatch.start(after: known) { [self] addresses in
            let failures = follow(addresses)
            let after = offered(addresses)
            logChange(
                from: before.withLock { before in
                    defer { before = after }
                    return before
                }, to: after)
            logFailures(failures)
            return failures.isEmpty
        }
        guard let watch else {
            logger.warning(
                """
                the addresses of this machine are not followed: the system has no descriptor or netlink socket for it. \
                Restart the server when they have changed
                """)
            return try await gracefulShutdown()
        }
        try? await gracefulShutdown()
        watch.stop()
    }

    /// The relay is first: its peers must not reach the services of this machine on a new address.
    private func follow(_ addresses: LocalAddresses) -> [String] {
        (relay?.follow(addresses) ?? [])
            + (gateway?.follow(addresses) { [relay] in relay?.openToPeers($0) } ?? [])
    }

    /// The addresses that clients are given.
    private func offered(_ addresses: LocalAddresses) -> [IPAddress] {
        let all = (relay?.addresses.map(\.address) ?? []) + (gateway?.offered ?? [])
        return addresses.preferred.filter { all.contains($0) }
    }

    private func logChange(from before: [IPAddress], to after: [IPAddress]) {
        guard before != after else { return }
        func list(_ addresses: [IPAddress], without others: [IPAddress]) -> Logger.MetadataValue {
            "\(addresses.filter { !others.contains($0) }.map(\.description).joined(separator: ", "))"
        }
        logger.notice(
            "the addresses of this machine have changed",
            metadata: ["added": list(after, without: before), "removed": list(before, without: after)])
    }

    private func logFailures(_ failures: [String]) {
        let isNew = self.failures.withLock { last in
            defer { last = failures }
            return last != failures
        }
        guard isNew else { return }
        for failure in failures { logger.warning("an address is not listened on: \(failure)") }
    }
}
