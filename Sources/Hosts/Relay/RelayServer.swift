import BasicContainers
package import DatagramIO
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
        /// Of the machine.
        var addresses: LocalAddresses

        func post(_ command: WorkerCommand) {
            for mailbox in mailboxes { mailbox.post(command) }
        }

        mutating func follow(_ addresses: LocalAddresses, _ configuration: RelayConfiguration) -> [String] {
            self.addresses = addresses
            // Peers are kept from a new address at once.
            let own = addresses.all + addresses.used + listening.local
            post(.adopt(shared.adopt(own: own)))
            let (change, failures) = listening.follow(
                configuration.localAddresses(addresses.preferred), used: addresses.used, workers: threads.count)
            let externals = configuration.externalAddresses
            post(
                .adopt(
                    shared.adopt(
                        RelayAddresses(local: listening.local, externals: externals),
                        used: RelayAddresses(local: configuration.localAddresses(addresses.used), externals: externals),
                        change)))
            return failures
        }
    }

    private let configuration: RelayConfiguration
    private let running = Mutex<Running?>(nil)

    package init(configuration: RelayConfiguration) throws(RelayError) {
        try configuration.check()
        self.configuration = configuration
    }

    /// Binds every address and starts the workers. Nothing is left open when it throws.
    ///
    /// - Parameter addresses: those of the machine.
    package func start(on addresses: LocalAddresses = .current()) throws(RelayError) {
        let started = try makeRunning(addresses)
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
    ///
    /// - Returns: why new ports are not open on some addresses, which changed since the rules were made.
    @discardableResult
    package func adopt(_ rules: RelayRules) -> [String] {
        running.withLock { running in
            guard let shared = running?.shared else { return [] }
            if let change = rules.ports { running?.listening.adopt(change) }
            running?.post(.adopt(shared.adopt(rules)))
            guard rules.ports != nil, let addresses = running?.addresses else { return [] }
            return running?.follow(addresses, configuration) ?? []
        }
    }

    /// Follows the addresses of the machine, where none are named: listens and relays on new ones, and keeps peers away
    /// from all of them. Allocations go on where their clients still reach them.
    ///
    /// - Returns: why it does not listen on some of them.
    package func follow(_ addresses: LocalAddresses) -> [String] {
        running.withLock { running in running?.follow(addresses, configuration) ?? [] }
    }

    /// Lets allocations reach public services of this server, for clients that can only use the relay.
    ///
    /// - Parameter addresses: local ones.
    package func openToPeers(_ addresses: Set<TransportAddress>) {
        running.withLock { running in
            guard let shared = running?.shared else { return }
            running?.post(.adopt(shared.openToPeers(addresses)))
        }
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

    private func makeRunning(_ addresses: LocalAddresses) throws(RelayError) -> Running {
        _ = DescriptorLimit.raise()
        let local = configuration.localAddresses(addresses.preferred)
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
            listeningPorts: listening.ports, discoveries: listening.discoveries, own: addresses.all + local,
            nonceKey: key, cookieKey: cookieKey, ticketKey: configuration.isMobile ? ticketKey : nil)
        return try startWorkers(&sockets, shared, listening, addresses)
    }

    private func startWorkers(
        _ sockets: inout UniqueArray<WorkerSockets>, _ shared: SharedRelay, _ listening: RelayListeners,
        _ addresses: LocalAddresses
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
        return Running(
            threads: threads, mailboxes: mailboxes, shared: shared, listening: listening, addresses: addresses)
    }
}
