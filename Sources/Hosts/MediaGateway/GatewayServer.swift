import DatagramIO
package import Gateway
import ICE
import OpenSSLCrypto
import SDP
import SecureMedia
import Synchronization
package import Wire

/// The media gateway: a peer for each participant of a call, that forwards what the others send.
///
/// It has threads and sockets of its own beside the relay's, so that a burst of media never waits behind a relayed one, and
/// a port for each thread: the answer names the port of the thread that the call lives on, and every datagram of the call
/// arrives there. All legs of a call are on one thread.
package final class GatewayServer: Sendable {
    private struct State {
        var records: [LegKey: LegRecord] = [:]
        var calls: [String: CallRecord] = [:]
        var load: [Int]
        var nextNumber: UInt64 = 1
        var isStopped = false
    }

    private let configuration: GatewayConfiguration
    let workers: [GatewayPlace]
    private let threads: [WorkerThread]
    private let fingerprint: SDP.CertificateFingerprint
    private let shared: GatewayShared
    /// What is to be told to whoever operates it, in words that name what to do; nil when all is well.
    package let warning: String?
    private let state: Mutex<State>

    /// Binds every address and starts the workers. Nothing is left open when it throws. Deadlines are kept by the clock:
    /// one of a test goes only as fast as the test does.
    package static func start(
        _ configuration: GatewayConfiguration, clock: @escaping @Sendable () -> Instant = SystemClock.now,
        events: @escaping @Sendable (GatewayEvent) -> Void
    ) throws(GatewayError) -> GatewayServer {
        let local = configuration.localAddresses(InterfaceAddresses.all())
        guard !local.isEmpty else {
            throw GatewayError("relay.listen: this machine has no address to listen on; name one in relay.listen")
        }
        guard let identity = MediaIdentity.make(), let fingerprint = identity.fingerprint(),
            let context = MediaContext.server(identity, profiles: configuration.profiles)
        else { throw GatewayError("OpenSSL cannot make a certificate: it has no memory or no random numbers") }
        let shared = GatewayShared(context, limits: configuration.trackLimits, events)
        var workers: [GatewayPlace] = []
        var threads: [WorkerThread] = []
        do {
            for index in 0..<configuration.workerCount {
                let (place, thread) = try startWorker(index, local, configuration, clock, shared)
                workers.append(place)
                threads.append(thread)
            }
        } catch {
            for worker in workers { _ = worker.mailbox.post(.stop) }
            for thread in threads { thread.join() }
            throw error
        }
        return GatewayServer(configuration, workers, threads, fingerprint, shared)
    }

    private static func startWorker(
        _ index: Int, _ local: [IPAddress], _ configuration: GatewayConfiguration,
        _ clock: @escaping @Sendable () -> Instant, _ shared: GatewayShared
    ) throws(GatewayError) -> (GatewayPlace, WorkerThread) {
        guard configuration.port == 0 || Int(configuration.port) + index <= 65_535 else {
            throw GatewayError("gateway.port: there is no port for worker \(index + 1) behind \(configuration.port)")
        }
        var sockets: [DatagramSocketOwner] = []
        var entrances: [StreamListenerOwner] = []
        for address in local {
            let port = configuration.port == 0 ? 0 : configuration.port + UInt16(truncatingIfNeeded: index)
            sockets.append(try DatagramSocketOwner(TransportAddress(address, port: port)))
            entrances.append(try StreamListenerOwner(TransportAddress(address, port: port)))
        }
        let refusal = GatewayError("the system refuses more threads or descriptors: raise its limits (ulimit -n, -u)")
        guard let mailbox = GatewayMailbox() else { throw refusal }
        let (owners, listeners, connections) = (sockets, entrances, configuration.workerConnections)
        guard
            let thread = WorkerThread.start(
                "gateway-\(index)",
                {
                    guard
                        var worker = GatewayWorker.make(
                            owners, listeners, shared, mailbox, at: clock(), connections: connections)
                    else {
                        for command in mailbox.close() { command.refuse() }
                        return
                    }
                    worker.run(clock)
                })
        else { throw refusal }
        let candidates = HostCandidate.all(
            udp: owners.map(\.address), tcp: listeners.map(\.address), external: configuration.externals(local))
        let place = GatewayPlace(
            mailbox: mailbox, sendBuffer: owners.map(\.sendBuffer).min() ?? 0,
            addresses: owners.map(\.address) + listeners.map(\.address),
            candidates: candidates.map(Candidate.init))
        return (place, thread)
    }

    private init(
        _ configuration: GatewayConfiguration, _ workers: [GatewayPlace], _ threads: [WorkerThread],
        _ fingerprint: OpenSSLCrypto.CertificateFingerprint, _ shared: GatewayShared
    ) {
        self.configuration = configuration
        self.workers = workers
        self.threads = threads
        self.fingerprint = SDP.CertificateFingerprint(
            algorithm: fingerprint.function.name, digest: fingerprint.bytes)
        self.shared = shared
        warning = Self.warning(ofSendBuffer: workers.map(\.sendBuffer).min() ?? 0)
        state = Mutex(State(load: Array(repeating: 0, count: workers.count)))
        shared.ended.withLock { $0.call = { [weak self] key, number in self?.forget(key, number) } }
    }

    static func warning(ofSendBuffer granted: Int) -> String? {
        let wanted = Int(DatagramSocketOwner.sendBuffer)
        guard granted < wanted else { return nil }
        return
            "The system gives the gateway's sockets \(granted) bytes to send from, not \(wanted): key frames for many "
            + "are delayed. Set net.core.wmem_max to \(wanted) or more."
    }

    /// Ends every leg and waits for the workers, which takes milliseconds.
    package func stop() {
        state.withLock { $0.isStopped = true }
        for worker in workers { _ = worker.mailbox.post(.stop) }
        for thread in threads { thread.join() }
    }

    /// The sums over all workers, a fraction of a second old.
    package var figures: GatewayFigures {
        var sum = GatewayFigures()
        for worker in workers { sum += worker.mailbox.figures }
        return sum
    }

    /// Where it listens, on UDP and TCP: local addresses.
    package var addresses: Set<TransportAddress> { Set(workers.flatMap(\.addresses)) }

    // MARK: Offers

    /// Answers an offer: makes the leg, or changes the one that there is. One of another PeerConnection, which shows in its
    /// certificate, replaces it.
    package func answer(_ offer: LegOffer) async throws(LegRefusal) -> LegAnswer {
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
            case .refused(let refusal): throw refusal
            case .replaced: end(record, .replaced)
            }
        }
        throw .gone
    }

    private enum Attempt {
        case answered(LegAnswer)
        case refused(LegRefusal)
        /// The offer is of a PeerConnection that this leg is not.
        case replaced
    }

    private func attempt(_ offer: LegOffer, _ description: SessionDescription, _ record: LegRecord) async -> Attempt {
        let attempt = await withCheckedContinuation { (continuation: CheckedContinuation<Attempt, Never>) in
            // In the lock, so that the worker hears of offers in the order in which they were answered.
            record.state.withLock { state in
                negotiate(offer, description, record, &state) { continuation.resume(returning: $0) }
            }
        }
        switch attempt {
        case .answered, .replaced: break
        // The worker could not make it, or has it no longer.
        case .refused(.gone): end(record, .left)
        case .refused: if !record.state.withLock({ $0.isOpen }) { forget(record.key, record.number) }
        }
        return attempt
    }

    /// Answers an offer and tells the worker, which replies. `reply` is called once.
    private func negotiate(
        _ offer: LegOffer, _ description: SessionDescription, _ record: LegRecord, _ state: inout LegRecord.State,
        reply: @escaping @Sendable (Attempt) -> Void
    ) {
        guard !state.isEnded, let credentials = LocalCredentials.make() else { return reply(.refused(.gone)) }
        let worker = workers[record.worker]
        let transport = GatewayTransport(
            fingerprints: [fingerprint], candidates: worker.candidates,
            freshCredentials: ICECredentials(ufrag: credentials.ufrag.text, password: credentials.passwordText))
        let cname = state.name
        let leg: NegotiatedLeg
        do {
            let capabilities = offer.part.capabilities(configuration.videoCodecs, common: commonCodecs(for: record))
            leg = try state.negotiation.answer(description, capabilities, transport) { kind in
                SlotIdentity.random(kind, cname: cname)
            }
        } catch {
            return reply(Self.attempt(refusedWith: error, isOpen: state.isOpen))
        }
        let answered: GatewayCommand.Reply = { slots in
            guard let slots else { return reply(.refused(.gone)) }
            reply(.answered(LegAnswer(sdp: leg.answer.text, slots: slots, ufrag: leg.credentials.ufrag)))
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
        note(leg, of: record)
    }

    private func commonCodecs(for record: LegRecord) -> Set<MediaCodec> {
        state.withLock {
            $0.calls[record.key.call]?.codecs.common(without: record.number, of: configuration.videoCodecs) ?? []
        }
    }

    /// What the leg can play and publishes may change what the others should publish. Two legs that are answered at once
    /// do not know of each other: whoever is noted last finds whom that concerns.
    private func note(_ leg: NegotiatedLeg, of record: LegRecord) {
        let outdated: [LegKey] = state.withLock { state in
            guard state.records[record.key]?.number == record.number else { return [] }
            state.calls[record.key.call]?.codecs.note(leg, record.number, record.key)
            return state.calls[record.key.call]?.codecs.outdated(of: configuration.videoCodecs) ?? []
        }
        for key in outdated { shared.tell(.outdated(key), of: record.number) }
    }

    private static func attempt(refusedWith error: OfferError, isOpen: Bool) -> Attempt {
        switch error.reason {
        case .fingerprintChanged, .sectionsMissing, .sectionChanged:
            isOpen ? .replaced : .refused(.badOffer("\(error)"))
        default: .refused(.badOffer("\(error)"))
        }
    }

    /// What a leg's participant wants in some of its video slots, by mid. What it wants then in all of them, in the order
    /// of the sections; nothing changes where one that is named is not among them. nil when there is no leg.
    package func want(_ wishes: [String: WantedQuality], on key: LegKey) async -> [SlotWish]? {
        guard let record = state.withLock({ $0.records[key] }) else { return nil }
        return await withCheckedContinuation { continuation in
            // In the lock, so that it comes after the offer whose answer it speaks of.
            record.state.withLock { state in
                guard state.isOpen,
                    workers[record.worker].mailbox.post(
                        .want(number: record.number, wishes) { continuation.resume(returning: $0) })
                else { return continuation.resume(returning: nil) }
            }
        }
    }

    /// Where what is said in tapped calls is to be taken from, one for each worker.
    package var taps: [SoundTap] { workers.map(\.mailbox.tap) }

    /// From now on, or no longer, what is said in the call goes to the taps, whoever is in it now or later.
    package func tap(_ call: String, isOn: Bool) {
        // Every worker: nobody may be in the call yet, and then none is known to have it.
        for worker in workers { _ = worker.mailbox.post(.tap(call: call, isOn: isOn)) }
    }

    /// Ends a leg, if there is one.
    package func end(_ key: LegKey, _ reason: LegEnd = .left) {
        let record = state.withLock { $0.records[key] }
        if let record { end(record, reason) }
    }

    private func end(_ record: LegRecord, _ reason: LegEnd) {
        forget(record.key, record.number)
        record.state.withLock { state in
            // An offer that is being answered at this moment opens nothing behind it.
            state.isEnded = true
            _ = workers[record.worker].mailbox.post(.close(number: record.number, reason))
        }
    }

    // MARK: Records

    private func record(for offer: LegOffer) throws(LegRefusal) -> LegRecord {
        let found: Result<LegRecord, LegRefusal> = state.withLock { state in
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

    /// The leg has ended, unless another one has its place already.
    private func forget(_ key: LegKey, _ number: UInt64) {
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
