import BasicContainers
import DatagramIO
import Synchronization
import TURN
package import Wire

/// The STUN and TURN server: one worker thread per core, each with its own sockets.
///
/// It checks its configuration when it is made, and is started and stopped once. While it runs, any thread may read its
/// counters and revoke allocations.
package final class RelayServer: Sendable {
    /// The receive buffer requested for each worker's sockets for clients: 30 ms at 1 Gbit/s.
    static let receiveBuffer: Int32 = 4 << 20

    private struct Running {
        let threads: [WorkerThread]
        let mailboxes: [WorkerMailbox]
        let shared: SharedRelay
        var listening: RelayListeners
    }

    private let configuration: RelayConfiguration
    private let running = Mutex<Running?>(nil)

    package init(configuration: RelayConfiguration) throws(RelayError) {
        try configuration.check()
        self.configuration = configuration
    }

    /// Binds every address and starts the workers. Nothing is left open when it throws.
    package func start() throws(RelayError) {
        let started = try makeRunning()
        running.withLock { $0 = started }
    }

    /// Ends every allocation and waits for the workers, which takes milliseconds.
    package func stop() {
        let stopped = running.withLock { running in
            defer { running = nil }
            return running
        }
        guard let stopped else { return }
        for mailbox in stopped.mailboxes { mailbox.post(.stop) }
        for thread in stopped.threads { thread.join() }
        stopped.shared.ledger.endReservations()
    }

    /// Ends the allocations of a user: a static name, a whole ephemeral name, or the user part of one.
    ///
    /// - Parameters:
    ///   - user: whose allocations end.
    ///   - seconds: the lifetime of issued credentials; existing ones make no new allocation.
    package func revoke(user: String, credentialSeconds seconds: Int64 = 0) {
        revoke(.user(user), seconds)
    }

    /// Ends the allocations that were made with credentials for a call.
    package func revoke(call: String, credentialSeconds seconds: Int64 = 0) {
        revoke(.call(call), seconds)
    }

    /// Ends a user's allocations for a call, when the user has left it.
    package func revoke(user: String, in call: String, credentialSeconds seconds: Int64 = 0) {
        revoke(.participant(user: user, call: call), seconds)
    }

    private func revoke(_ name: RevokedName, _ seconds: Int64) {
        let until = seconds > 0 ? SystemClock.unixSeconds() + seconds : 0
        post(.revoke(name, voidingUntil: until, issuedUntil: CredentialClock.next()))
    }

    /// Checks a new configuration and makes its rules, with the sockets of added ports. nil when the relay is not
    /// running.
    package func rules(for configuration: RelayConfiguration) throws(RelayError) -> RelayRules? {
        try configuration.check()
        guard
            let (shared, listening, workers) = running.withLock({ running in
                running.map { ($0.shared, $0.listening, $0.threads.count) }
            })
        else { return nil }
        let change = try listening.change(to: configuration, workers: workers)
        var next = listening
        if let change { next.adopt(change) }
        return shared.rules(for: configuration, listeningOn: next.ports, change)
    }

    /// Applies new rules. Allocations stay.
    package func adopt(_ rules: RelayRules) {
        let shared = running.withLock { running in
            if let change = rules.ports { running?.listening.adopt(change) }
            return running?.shared
        }
        guard let shared else { return }
        shared.adopt(rules)
        post(.adopt(rules))
    }

    /// Lets allocations reach public services of this server, for clients that can only use the relay. To be called
    /// before the first `adopt`.
    ///
    /// - Parameter addresses: local ones.
    package func openToPeers(_ addresses: Set<TransportAddress>) throws(RelayError) {
        running.withLock { $0?.shared }?.openToPeers(addresses)
        if let rules = try rules(for: configuration) { adopt(rules) }
    }

    /// While draining, every new allocation is rejected (508, or 300 with an alternate relay), and existing ones go on.
    package var isDraining: Bool {
        get { running.withLock { $0?.shared }?.ledger.isDraining ?? false }
        set { running.withLock { $0?.shared }?.ledger.isDraining = newValue }
    }

    /// The sums over all workers, at most some 50 ms old.
    package var counters: RelayCounters {
        let mailboxes = running.withLock { $0?.mailboxes ?? [] }
        var sum = RelayCounters()
        for mailbox in mailboxes { sum += mailbox.counters }
        return sum
    }

    /// The counters of each worker by itself.
    package var workerCounters: [RelayCounters] {
        running.withLock { $0?.mailboxes ?? [] }.map(\.counters)
    }

    /// Rejected allocations by the limit that they exceeded.
    package var rejections: [(reason: AllocationRejections.Reason, count: UInt64)] {
        running.withLock { $0?.shared }?.rejections.counts ?? []
    }

    /// The current limits.
    package var limits: RelayLimits {
        running.withLock { $0?.shared }?.rules.limits ?? configuration.limits
    }

    /// The addresses of UDP and TCP, once started.
    package var addresses: [TransportAddress] {
        running.withLock { $0?.listening.addresses ?? [] }
    }

    /// The additional addresses of TLS and DTLS.
    package var tlsAddresses: [TransportAddress] {
        running.withLock { $0?.listening.tlsAddresses ?? [] }
    }

    /// Allocations charged to users, and ports held for RESERVATION-TOKENs: exact, and 0 when everything is released.
    package var outstanding: (allocations: Int, reservedPorts: Int) {
        let ledger = running.withLock { $0?.shared.ledger }
        return (ledger?.charged ?? 0, ledger?.heldPorts ?? 0)
    }

    private func post(_ command: WorkerCommand) {
        for mailbox in running.withLock({ $0?.mailboxes ?? [] }) { mailbox.post(command) }
    }

    private func makeRunning() throws(RelayError) -> Running {
        _ = DescriptorLimit.raise()
        let own = InterfaceAddresses.all()
        let local =
            configuration.listen.contains { $0.isUnspecified } || configuration.listen.isEmpty
            ? configuration.wildcardAddresses(own) : configuration.listen
        guard !local.isEmpty else {
            throw RelayError("relay.listen: this machine has no address to listen on; name one in relay.listen")
        }
        var sockets = UniqueArray<WorkerSockets>()
        let listening = try RelayListeners.bound(configuration, on: local, into: &sockets)
        guard let key = OpenSSLSource.key(), let cookieKey = OpenSSLSource.key(),
            let ticketKey = OpenSSLSource.key()
        else {
            throw RelayError("OpenSSL returned no random numbers")
        }
        let shared = SharedRelay(
            configuration, RelayAddresses(local: local, externals: configuration.externalAddresses),
            deniedOwnPorts: configuration.deniedOwnPorts.union(listening.ports), discoveries: listening.discoveries,
            own: own + local, nonceKey: key, cookieKey: cookieKey, ticketKey: configuration.isMobile ? ticketKey : nil)
        return try startWorkers(&sockets, shared, listening)
    }

    private func startWorkers(
        _ sockets: inout UniqueArray<WorkerSockets>, _ shared: SharedRelay, _ listening: RelayListeners
    ) throws(RelayError) -> Running {
        var threads: [WorkerThread] = []
        let mailboxes = (0..<sockets.count).compactMap { _ in WorkerMailbox() }
        guard mailboxes.count == sockets.count else {
            throw RelayError("the system allows no more descriptors: raise the limit (ulimit -n)")
        }
        var index = 0
        let pinsThreads = configuration.pinsThreads
        while let next = sockets.popLast() {
            let released = ReleasedSockets(next)
            let workerGroup = WorkerGroup(own: UInt8(truncatingIfNeeded: index), mailboxes: mailboxes)
            guard
                let thread = WorkerThread.start(
                    "relay-\(index)",
                    {
                        if pinsThreads { _ = WorkerThread.pin(to: Int(workerGroup.own)) }
                        guard var worker = Worker.make(released.adopt(), shared, workerGroup) else { return }
                        worker.run()
                    })
            else {
                _ = released.adopt()
                for mailbox in mailboxes { mailbox.post(.stop) }
                for thread in threads { thread.join() }
                throw RelayError("the system allows no more threads or descriptors: raise its limits (ulimit -n, -u)")
            }
            threads.append(thread)
            index += 1
        }
        return Running(threads: threads, mailboxes: mailboxes, shared: shared, listening: listening)
    }
}
