package import DatagramIO
package import Gateway
import ICE
import OpenSSLCrypto
import SDP
import SecureMedia
import Synchronization
package import Wire

/// The media gateway: a WebRTC peer for each participant of a call, which forwards the media of the others.
///
/// It has its own threads and sockets, separate from the relay's, so that a burst of media never waits behind a relayed
/// one, and a port per thread: the answer contains the port of the call's thread, where every datagram of the call
/// arrives. All legs of a call are on one thread.
package final class GatewayServer: Sendable {
    private struct State {
        var records: [LegKey: LegRecord] = [:]
        var calls: [String: CallRecord] = [:]
        var load: [Int]
        var nextNumber: UInt64 = 1
        var isStopped = false
    }

    private let configuration: GatewayConfiguration
    private let listening: Mutex<GatewayListening>
    let workers: [GatewayWorkerHandle]
    private let threads: [WorkerThread]
    private let fingerprint: FingerprintAttribute
    private let shared: GatewayShared
    /// A warning for the operator, with what to do; nil when all is well.
    package let warning: String?
    private let state: Mutex<State>

    /// Binds every address and starts the workers. Nothing is left open when it throws. All deadlines use `clock`,
    /// which a test may control.
    ///
    /// - Parameter addresses: those of the machine.
    package static func start(
        _ configuration: GatewayConfiguration, on addresses: LocalAddresses = .current(),
        clock: @escaping @Sendable () -> Instant = SystemClock.now,
        events: @escaping @Sendable (GatewayEvent) -> Void
    ) throws(GatewayError) -> GatewayServer {
        let listening = try GatewayListening(configuration, on: addresses)
        guard let identity = MediaIdentity.make(), let fingerprint = identity.fingerprint(),
            let contexts = MediaContexts.make(identity, profiles: configuration.profiles)
        else { throw GatewayError("OpenSSL cannot make a certificate: it has no memory or no random numbers") }
        let shared = GatewayShared(contexts, limits: configuration.trackLimits, events)
        var workers: [GatewayWorkerHandle] = []
        var threads: [WorkerThread] = []
        do {
            for index in 0..<configuration.workerCount {
                let (worker, thread) = try startWorker(
                    index, listening.sockets(of: index), configuration, clock, shared)
                workers.append(worker)
                threads.append(thread)
            }
        } catch {
            for worker in workers { _ = worker.mailbox.post(.stop) }
            for thread in threads { thread.join() }
            throw error
        }
        return GatewayServer(configuration, listening, workers, threads, fingerprint, shared)
    }

    private static func startWorker(
        _ index: Int, _ sockets: [AddressSockets], _ configuration: GatewayConfiguration,
        _ clock: @escaping @Sendable () -> Instant, _ shared: GatewayShared
    ) throws(GatewayError) -> (GatewayWorkerHandle, WorkerThread) {
        let limitError = GatewayError("no more threads or descriptors: raise the limits of the system (ulimit -n, -u)")
        guard let mailbox = GatewayMailbox() else { throw limitError }
        let connections = configuration.workerConnections
        // Not captured by the thread, which would keep them open when their address is gone.
        _ = mailbox.post(.listen(opened: sockets, closed: []))
        guard
            let thread = WorkerThread.start(
                "gateway-\(index)",
                {
                    guard
                        var worker = GatewayWorker.make([], [], shared, mailbox, at: clock(), connections: connections)
                    else {
                        for command in mailbox.close() { command.reject() }
                        return
                    }
                    worker.run(clock)
                })
        else { throw limitError }
        return (GatewayWorkerHandle(mailbox: mailbox), thread)
    }

    private init(
        _ configuration: GatewayConfiguration, _ listening: GatewayListening, _ workers: [GatewayWorkerHandle],
        _ threads: [WorkerThread], _ fingerprint: CertificateFingerprint, _ shared: GatewayShared
    ) {
        self.configuration = configuration
        self.workers = workers
        self.threads = threads
        self.fingerprint = FingerprintAttribute(
            algorithm: fingerprint.function.name, digest: fingerprint.bytes)
        self.shared = shared
        warning = Self.warning(ofSendBuffer: listening.sendBuffer)
        self.listening = Mutex(listening)
        state = Mutex(State(load: Array(repeating: 0, count: workers.count)))
        shared.ended.withLock { $0.call = { [weak self] key, number in self?.removeRecord(key, number) } }
    }

    static func warning(ofSendBuffer granted: Int) -> String? {
        let requested = Int(DatagramSocketOwner.sendBuffer)
        guard granted < requested else { return nil }
        return
            "The system limits the send buffers of the gateway's sockets to \(granted) bytes instead of \(requested): "
            + "key frames for many receivers are delayed. Set net.core.wmem_max to \(requested) or more."
    }

    /// Ends every leg and waits for the workers, which takes milliseconds.
    package func stop() {
        state.withLock { $0.isStopped = true }
        for worker in workers { _ = worker.mailbox.post(.stop) }
        for thread in threads { thread.join() }
        listening.withLock { $0.close() }
    }

    /// The sums over all workers, a fraction of a second old.
    package var stats: GatewayStats {
        var sum = GatewayStats()
        for worker in workers { sum += worker.mailbox.stats }
        return sum
    }

    /// What the system granted its sockets' send buffers, the least of them, in bytes.
    var sendBuffer: Int { listening.withLock { $0.sendBuffer } }

    /// The local addresses on which it listens, for UDP and TCP.
    package var addresses: Set<TransportAddress> { listening.withLock { $0.addresses } }

    /// Follows the addresses of the machine, where none are named: answers contain the new ones from now on, and legs go
    /// on where their clients still reach it.
    ///
    /// - Parameter isListening: called with all addresses before the first client is given a new one.
    /// - Returns: why it does not listen on some of them.
    package func follow(
        _ addresses: LocalAddresses, isListening: (Set<TransportAddress>) -> Void = { _ in }
    ) -> [String] {
        // Offers wait for the lock.
        listening.withLock { listening in
            let change = listening.follow(addresses)
            guard !change.isEmpty else { return change.failures }
            for (worker, opened) in zip(workers, change.opened) {
                _ = worker.mailbox.post(.listen(opened: opened, closed: change.closed))
            }
            isListening(listening.addresses)
            return change.failures
        }
    }

    /// The addresses that answers contain, without external ones.
    package var offered: [IPAddress] { listening.withLock { $0.offered } }

    // MARK: Offers

    /// Answers an offer: makes the leg, or changes the existing one. An offer of another PeerConnection, recognized by
    /// its certificate, replaces the leg.
    package func answer(_ offer: LegOffer) async throws(LegRejection) -> LegAnswer {
        let description: SessionDescription
        do {
            description = try SessionDescription(parsing: offer.sdp)
        } catch {
            throw .badOffer("\(error)")
        }
        for _ in 0..<2 {
            let record = try record(for: offer)
            switch await attempt(offer, description, record) {
            case .answered(let answer): return answer
            case .rejected(let rejection): throw rejection
            case .replaced: end(record, .replaced)
            }
        }
        throw .gone
    }

    private enum Attempt {
        case answered(LegAnswer)
        case rejected(LegRejection)
        /// The offer is of another PeerConnection.
        case replaced
    }

    private func attempt(_ offer: LegOffer, _ description: SessionDescription, _ record: LegRecord) async -> Attempt {
        let attempt = await withCheckedContinuation { (continuation: CheckedContinuation<Attempt, Never>) in
            // In the lock, so that the worker gets the offers in the order in which they were answered.
            record.state.withLock { state in
                negotiate(offer, description, record, &state) { continuation.resume(returning: $0) }
            }
        }
        switch attempt {
        case .answered, .replaced: break
        // The worker could not make the leg, or no longer has it.
        case .rejected(.gone): end(record, .left)
        case .rejected: if !record.state.withLock({ $0.isOpen }) { removeRecord(record.key, record.number) }
        }
        return attempt
    }

    /// Answers an offer and posts it to the worker, which replies. `reply` is called once.
    private func negotiate(
        _ offer: LegOffer, _ description: SessionDescription, _ record: LegRecord, _ state: inout LegRecord.State,
        reply: @escaping @Sendable (Attempt) -> Void
    ) {
        guard !state.isEnded, let credentials = LocalCredentials.make() else { return reply(.rejected(.gone)) }
        let worker = workers[record.worker]
        let transport = GatewayTransport(
            fingerprints: [fingerprint], candidates: listening.withLock { $0.candidates[record.worker] },
            freshCredentials: ICECredentials(ufrag: credentials.ufrag.text, password: credentials.passwordText))
        let cname = state.name
        let leg: NegotiatedLeg
        do {
            let capabilities = offer.part.capabilities(configuration.videoCodecs, common: commonCodecs(for: record))
            leg = try state.negotiation.answer(description, capabilities, transport) { kind in
                SlotIdentity.random(kind, cname: cname)
            }
        } catch {
            return reply(Self.attempt(rejectedWith: error, isOpen: state.isOpen))
        }
        let answered: GatewayCommand.Reply = { slots in
            guard let slots else { return reply(.rejected(.gone)) }
            reply(
                .answered(
                    LegAnswer(
                        sdp: leg.answer.text, slots: slots, ufrag: leg.credentials.ufrag,
                        rejected: leg.rejectedSections)))
        }
        let command: GatewayCommand =
            if state.isOpen {
                .renegotiate(
                    number: record.number, leg, offer.sources,
                    leg.credentials.ufrag == credentials.ufrag.text ? credentials : nil, answered)
            } else {
                .open(
                    LegOpening(
                        number: record.number, key: record.key, credentials: credentials, negotiated: leg,
                        sources: offer.sources), answered)
            }
        state.isOpen = true
        if !worker.mailbox.post(command) { answered(nil) }
        updateCodecs(leg, of: record)
    }

    private func commonCodecs(for record: LegRecord) -> Set<MediaCodec> {
        state.withLock {
            $0.calls[record.key.call]?.codecs.common(without: record.number, of: configuration.videoCodecs) ?? []
        }
    }

    /// Records the leg's codecs, which may change what the others should publish. Of two legs answered at the same
    /// time, the one recorded last finds the outdated ones.
    private func updateCodecs(_ leg: NegotiatedLeg, of record: LegRecord) {
        let outdated: [LegKey] = state.withLock { state in
            guard state.records[record.key]?.number == record.number else { return [] }
            state.calls[record.key.call]?.codecs.update(leg, record.number, record.key)
            return state.calls[record.key.call]?.codecs.outdated(of: configuration.videoCodecs) ?? []
        }
        for key in outdated { shared.notify(.outdated(key), of: record.number) }
    }

    private static func attempt(rejectedWith error: OfferError, isOpen: Bool) -> Attempt {
        switch error.reason {
        case .fingerprintChanged, .sectionsMissing, .sectionChanged:
            isOpen ? .replaced : .rejected(.badOffer("\(error)"))
        case .codecsNotSupported: .rejected(.codecsNotSupported("\(error)"))
        default: .rejected(.badOffer("\(error)"))
        }
    }

    /// Sets a participant's preferences for some of its video slots, by mid; changes nothing if one of the mids is
    /// unknown. Returns the resulting preferences of all its video slots, in the order of the sections; nil when there
    /// is no leg.
    package func setPreferences(_ preferences: [String: PreferredQuality], on key: LegKey) async -> [LegSlotPreference]?
    {
        guard let record = state.withLock({ $0.records[key] }) else { return nil }
        return await withCheckedContinuation { continuation in
            // In the lock, so that it follows the offer that it refers to.
            record.state.withLock { state in
                guard state.isOpen,
                    workers[record.worker].mailbox.post(
                        .setPreferences(number: record.number, preferences) { continuation.resume(returning: $0) })
                else { return continuation.resume(returning: nil) }
            }
        }
    }

    /// The taps for the audio of tapped calls, one per worker.
    package var taps: [AudioTap] { workers.map(\.mailbox.tap) }

    /// Starts or stops tapping a call's audio, including that of participants who join later.
    package func tap(_ call: String, isOn: Bool) {
        // Every worker: the call may have no legs yet, and then no worker.
        for worker in workers { _ = worker.mailbox.post(.tap(call: call, isOn: isOn)) }
    }

    /// Ends a leg, if there is one.
    package func end(_ key: LegKey, _ reason: LegEnd = .left) {
        let record = state.withLock { $0.records[key] }
        if let record { end(record, reason) }
    }

    private func end(_ record: LegRecord, _ reason: LegEnd) {
        removeRecord(record.key, record.number)
        record.state.withLock { state in
            // So that an offer being answered now does not open the leg again.
            state.isEnded = true
            _ = workers[record.worker].mailbox.post(.close(number: record.number, reason))
        }
    }

    // MARK: Records

    private func record(for offer: LegOffer) throws(LegRejection) -> LegRecord {
        let found: Result<LegRecord, LegRejection> = state.withLock { state in
            if state.isStopped { return .failure(.gone) }
            if let record = state.records[offer.key] { return .success(record) }
            guard state.records.count < configuration.legs else { return .failure(.full) }
            let worker =
                state.calls[offer.key.call]?.worker
                ?? state.load.indices.min { state.load[$0] < state.load[$1] } ?? 0
            let record = LegRecord(offer.key, worker: worker, number: state.nextNumber)
            state.nextNumber += 1
            state.records[offer.key] = record
            state.calls[offer.key.call, default: CallRecord(worker: worker)].legs += 1
            state.load[worker] += 1
            return .success(record)
        }
        return try found.get()
    }

    /// Removes the record of an ended leg, unless it was replaced already.
    private func removeRecord(_ key: LegKey, _ number: UInt64) {
        state.withLock { state in
            guard let record = state.records[key], record.number == number else { return }
            state.records[key] = nil
            state.load[record.worker] -= 1
            guard var call = state.calls[key.call] else { return }
            call.legs -= 1
            call.codecs.remove(number)
            state.calls[key.call] = call.legs > 0 ? call : nil
        }
    }
}
