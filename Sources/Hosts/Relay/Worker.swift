import BasicContainers
import DTLS
import DatagramIO
import OpenSSLCrypto
import STUN
import TURN
import Wire

/// One thread's share of the relay: its sockets, its engine and its loop.
///
/// A round waits for readable sockets, reads each in batches, hands every datagram to the engine, and sends all that came
/// of it, payloads from the buffers that they arrived in. Nothing is shared with other workers but what `SharedRelay`
/// holds, and that is touched only when an allocation begins or ends, or when a peer is one of our own relays.
struct Worker: ~Copyable {
    /// Sockets are read this many times in a row before others have their turn.
    static let rounds = 4
    /// At most this many datagrams of a relay at once: it serves one client.
    private static let relayBatch = 16
    private static let publishNanoseconds: UInt64 = 50_000_000

    var engine: TURNEngine
    var outbox: WorkerOutbox
    private var received = ReceiveBatch()
    let queue: EventQueue
    var streamListeners: UniqueArray<StreamEntrance>
    /// Where bytes of connections are read, one connection at a time.
    let wireBuffer = SharedBuffer(byteCount: Worker.streamBufferByteCount)
    /// Where they are decrypted.
    let plainBuffer = SharedBuffer(byteCount: Worker.streamBufferByteCount)
    /// For new TLS connections; nil without a certificate.
    var streamContext: TLSServerContext?
    /// The relays by slot and family: see `place(of:)`.
    var relays = UniqueArray<RelaySocket>()
    var counters = RelayCounters()
    private var transactions: SeededRandom
    let shared: SharedRelay
    /// Those that hold now.
    var limits: RelayLimits
    let mailbox: WorkerMailbox
    /// Empty, but for its capacity.
    var handedOver = HandedOver()
    var now: Instant
    /// Streams of TCP allocations that wait for their bandwidth.
    var heldStreams = HeldStreams()
    /// Connections whose TLS waits for its turn, and the time that such work may take.
    var heldHandshakes = FairQueue<HeldHandshake>()
    var handshakeBudget = Worker.handshakeShare
    /// The one that is served is one of those.
    var isResumingHandshake = false
    /// Connections wait to be accepted until descriptors are free.
    var isShortOfDescriptors = false
    private var nextSweep = Instant(nanoseconds: 0)
    private var nextTick = Instant(nanoseconds: 0)
    private var nextPublish = Instant(nanoseconds: 0)
    private var isPublished = true
    private var isStopping = false

    /// nil when the system is out of memory or descriptors.
    static func make(
        _ sockets: consuming WorkerSockets, _ shared: SharedRelay, _ neighbours: Neighbours
    ) -> Worker? {
        guard let mailbox = neighbours.mailbox(neighbours.own), let queue = EventQueue(),
            let authentication = OpenSSLSource.authentication(),
            let decryption = OpenSSLSource.decryption(), let seed = OpenSSLSource.seed(),
            queue.watch(mailbox.wake.descriptor, as: EventTag.wakeBits)
        else { return nil }
        for index in 0..<sockets.listeners.count {
            guard queue.watch(sockets.listeners[index].socket.descriptor, as: EventTag.listener(index)) else {
                return nil
            }
        }
        for index in 0..<sockets.entrances.count {
            let descriptor = sockets.entrances[index].listener.descriptor
            guard queue.watch(descriptor, as: EventTag.streamListener(index)) else { return nil }
        }
        let now = SystemClock.now()
        let rules = shared.rules
        var engine = TURNEngine(
            credentials: rules.credentials, policy: rules.policy, nonces: shared.nonces(at: now),
            limiter: AnswerLimiter(
                perSecond: rules.limits.answersPerSecond, burst: rules.limits.answersAtOnce, seed: seed),
            authentication: authentication)
        engine.limits = rules.limits.perAllocation
        engine.alternates = rules.alternates
        engine.discoveries = shared.discoveries
        engine.supply = shared.ledger.total
        engine.decryption = decryption
        engine.worker = neighbours.own
        engine.tickets = shared.ticketKey.map { TicketMint(key: $0, worker: neighbours.own) }
        let sessions = DTLSTable(
            HelloDoor(cookies: shared.cookies(at: now), authentication: authentication), rules.datagramContext,
            DTLSLimits(rules.limits, sessions: shared.share(of: rules.limits.datagramSessions)), seed: seed)
        return Worker(engine, sockets, sessions, queue, SeededRandom(seed: seed), shared, neighbours, mailbox, now)
    }

    private init(
        _ engine: consuming TURNEngine, _ sockets: consuming WorkerSockets, _ sessions: consuming DTLSTable,
        _ queue: consuming EventQueue, _ transactions: SeededRandom, _ shared: SharedRelay, _ neighbours: Neighbours,
        _ mailbox: WorkerMailbox, _ now: Instant
    ) {
        self.engine = engine
        outbox = WorkerOutbox(
            sockets.listeners, ConnectionTable(limit: shared.share(of: shared.rules.limits.connections)), sessions,
            shared.ledger,
            neighbours)
        if !shared.joinsDatagrams { outbox.forbidJoining() }
        streamListeners = sockets.entrances
        self.queue = queue
        self.transactions = transactions
        self.shared = shared
        limits = shared.rules.limits
        streamContext = shared.rules.streamContext
        self.mailbox = mailbox
        self.now = now
    }

    mutating func run() {
        while !isStopping {
            let count = queue.wait(milliseconds: waitMilliseconds)
            now = SystemClock.now()
            isPublished = isPublished && count == 0
            for index in 0..<count { handle(queue[index], queue.readiness(index)) }
            resumeHeldStreams()
            resumeHandshakes()
            flush()
            if now >= nextTick { tick() }
            if now >= nextPublish { publish() }
        }
        endSessions()
        engine.endAll(into: &outbox)
        settle()
        flush()
        publish()
    }

    private var waitMilliseconds: Int32 {
        // The last packets of a burst are counted too, although nothing follows them.
        if !heldHandshakes.isEmpty { return 1 }
        let next = min(isPublished ? nextTick : min(nextTick, nextPublish), heldStreams.next)
        return Int32(clamping: min(next.nanoseconds(since: now), 1_000_000_000) / 1_000_000 &+ 1)
    }

    private mutating func handle(_ event: UInt64, _ readiness: Readiness) {
        switch EventTag.read(event) {
        case .wake:
            mailbox.wake.clear()
            for command in mailbox.takeAll() { obey(command) }
            receiveHandedOver()
        case .listener(let index):
            guard index < outbox.listeners.count else { return }
            read(outbox.listeners[index].socket.descriptor, event, limit: ReceiveBatch.capacity) { worker, slot in
                worker.receiveFromClient(slot, listener: index)
            }
        case .relay(let slot, let family, let generation):
            let place = Self.place(slot, family)
            guard place < relays.count, relays[place].isOpen,
                relays[place].id.allocation.generation & EventTag.generationMask == generation
            else { return }
            let id = relays[place].id
            if readiness.hasError { readErrors(place) }
            read(relays[place].socket.descriptor, event, limit: Self.relayBatch) { worker, slot in
                worker.receiveFromPeer(slot, id)
            }
        case .streamListener(let index):
            accept(listener: index, event)
        case .connection(let slot, let generation):
            guard let slot = outbox.connections.slot(slot, generation: generation) else { return }
            serve(slot, readiness, event)
        case .relayEntrance(let slot, let family, let generation):
            acceptPeers(at: Self.place(slot, family), generation, event)
        case .peer(let slot, let generation):
            guard let slot = outbox.peers.slot(slot, generation: generation) else { return }
            servePeer(slot, readiness, event)
        case .unknown:
            return
        }
    }

    /// Reads a socket until it is empty or has had its turn.
    private mutating func read(
        _ descriptor: Int32, _ event: UInt64, limit: Int, _ take: (inout Worker, Int) -> Void
    ) {
        for _ in 0..<Self.rounds {
            if received.used == ReceiveBatch.capacity { flush() }
            let wanted = min(limit, ReceiveBatch.capacity &- received.used)
            let slots = received.receive(from: descriptor, limit: wanted)
            counters.countBatch(slots.count)
            for slot in slots { take(&self, slot) }
            // Fewer than asked for: the socket is empty, and its next datagram is a new event.
            if slots.count < wanted { return }
        }
        queue.remind(of: descriptor, as: event)
    }

    private mutating func receiveFromClient(_ slot: Int, listener: Int) {
        guard let source = received.source(of: slot) else {
            counters.droppedOversized &+= 1
            return
        }
        let datagram = UnsafeRawBufferPointer(received.datagram(slot))
        if let first = datagram.first, RecordHeader.mayBegin(with: first), outbox.sessions.isServing {
            receiveDTLS(received.datagram(slot), listener: listener, from: source)
            return
        }
        counters.packetsFromClients &+= 1
        counters.bytesFromClients &+= UInt64(truncatingIfNeeded: datagram.count)
        let flow = Flow(.udp, local: outbox.listeners[listener].address, remote: source)
        let forward = engine.receive(datagram.bytes, on: flow, at: now, into: &outbox)
        if let forward { sendToPeer(forward, datagram) }
        if outbox.hasWishes { settle() }
    }

    mutating func sendToPeer(_ forward: ToPeer, _ datagram: UnsafeRawBufferPointer) {
        let place = Self.place(Int(forward.relay.allocation.slot), forward.relay.family)
        guard place < relays.count, relays[place].isOpen, forward.payload.upperBound <= datagram.count else { return }
        if forward.dontFragment != relays[place].forbidsFragments {
            outbox.toPeers.flush()
            relays[place].setForbidsFragments(forward.dontFragment)
        }
        counters.packetsToPeers &+= 1
        counters.bytesToPeers &+= UInt64(truncatingIfNeeded: forward.payload.count)
        outbox.toPeers.append(
            UnsafeRawBufferPointer(rebasing: datagram[forward.payload]), from: relays[place].socket.descriptor,
            to: forward.destination)
    }

    /// ICMP errors, read before the socket: the kernel then forgets the one that it would fail the next call with.
    private mutating func readErrors(_ place: Int) {
        var errors: [SendingError] = []
        relays[place].socket.readErrors(limit: Self.relayBatch) { errors.append($0) }
        for error in errors {
            engine.receiveError(
                PeerError(type: error.type, code: error.code, mtu: error.mtu), on: relays[place].id,
                from: error.destination, at: now, into: &outbox)
        }
    }

    private mutating func receiveFromPeer(_ slot: Int, _ id: RelayID) {
        guard let source = received.source(of: slot) else {
            counters.droppedOversized &+= 1
            return
        }
        let payload = received.datagram(slot).count
        counters.packetsFromPeers &+= 1
        counters.bytesFromPeers &+= UInt64(truncatingIfNeeded: payload)
        guard let forward = engine.receiveFromPeer(on: id, from: source, byteCount: payload, at: now) else { return }
        let framing = forward.framing
        let padding = framing.paddingByteCount(payload: payload, on: forward.flow.transport)
        guard let packet = received.widened(slot, before: framing.headerByteCount, after: padding) else { return }
        var header = packet.mutableBytes
        guard framing.write(payload: payload, transaction: nextTransaction(), into: &header) else { return }
        if let worker = forward.worker {
            outbox.forward(UnsafeRawBufferPointer(packet), on: forward.flow, through: worker)
        } else {
            guard outbox.forward(UnsafeRawBufferPointer(packet), on: forward.flow) else { return }
        }
        counters.packetsToClients &+= 1
        counters.bytesToClients &+= UInt64(truncatingIfNeeded: payload)
    }

    private mutating func nextTransaction() -> TransactionID {
        TransactionID(UInt32(truncatingIfNeeded: transactions.next()), transactions.next())
    }

    mutating func flush() {
        outbox.flush()
        endConnections()
        resumePeers()
        received.reset()
    }

    // MARK: What is not per packet

    private mutating func obey(_ command: WorkerCommand) {
        switch command {
        case .revoke(let name, let unixSeconds, let issued):
            engine.revoke(name, voidingUntil: unixSeconds, issuedUntil: issued, into: &outbox)
            settle()
        case .adopt(let rules):
            if let change = rules.ports { adopt(change) }
            engine.adopt(rules.credentials, rules.policy, into: &outbox)
            settle()
            engine.limits = rules.limits.perAllocation
            engine.alternates = rules.alternates
            outbox.connections.limit = shared.share(of: rules.limits.connections)
            limits = rules.limits
            outbox.sessions.limits = DTLSLimits(limits, sessions: shared.share(of: limits.datagramSessions))
            outbox.sessions.context = rules.datagramContext
            streamContext = rules.streamContext
        case .keepStranger(let flow, let owner, let claim, let answer):
            if engine.keepStranger(flow, of: owner, claim, into: &outbox) { outbox.send(answer.span.bytes, on: flow) }
        case .forgetStranger(let flow, let owner, let claim):
            engine.forgetStranger(flow, of: owner, claim)
        case .loseGuest(let flow, let claim):
            engine.loseGuest(flow, claim, into: &outbox)
        case .take(let moved):
            take(moved)
        case .stop:
            isStopping = true
        }
    }

    private mutating func tick() {
        engine.setWallClock(unixSeconds: SystemClock.unixSeconds(), at: now)
        engine.nonces = shared.nonces(at: now)
        outbox.sessions.door.cookies = shared.cookies(at: now)
        engine.advance(to: now, into: &outbox)
        settle()
        if now >= nextSweep {
            nextSweep = now.adding(seconds: 1)
            acceptAgain()
            sweepConnections()
            sweepPeers()
        }
        advanceSessions()
        // What came of time alone leaves now, not with the next datagram.
        flush()
        shared.ledger.expire(at: now)
        let deadline = min(engine.deadline ?? .distantFuture, outbox.sessions.deadline(at: now))
        nextTick = now.adding(nanoseconds: min(1_000_000_000, deadline.nanoseconds(since: now)))
    }

    private mutating func publish() {
        nextPublish = now.adding(nanoseconds: Self.publishNanoseconds)
        isPublished = true
        counters.take(engine.tally)
        counters.allocationsLive = UInt64(engine.allocationCount)
        counters.allocationsByTransport = engine.allocationsByTransport
        counters.sendCalls = outbox.toPeers.calls
        counters.sendBatches = outbox.toPeers.sizes
        counters.droppedSending = outbox.toPeers.dropped
        for index in 0..<outbox.listeners.count {
            counters.sendCalls &+= outbox.listeners[index].batch.calls
            counters.sendBatches += outbox.listeners[index].batch.sizes
            counters.droppedSending &+= outbox.listeners[index].batch.dropped
        }
        counters.take(outbox.connections)
        counters.take(outbox.sessions)
        mailbox.publish(counters)
    }

    /// Does what the engine asked for.
    mutating func settle() {
        for id in outbox.takeClosed() { close(id) }
        for request in outbox.takeRequests() { open(request) }
        for wish in outbox.takePeerWishes() { fulfil(wish) }
    }

    private mutating func close(_ id: RelayID) {
        let place = Self.place(Int(id.allocation.slot), id.family)
        guard place < relays.count, relays[place].isOpen, relays[place].id == id else { return }
        // What waits to leave through this socket leaves first.
        outbox.toPeers.flush()
        shared.table.release(relays[place].port, at: relays[place].addressIndex)
        relays[place] = RelaySocket.closed
    }

    private mutating func open(_ request: RelayRequest) {
        guard request.transport == .udp else {
            openForConnections(request)
            return
        }
        switch shared.open(request, at: now) {
        case .refused(let error):
            engine.relayRefused(request.allocation, error, into: &outbox)
        case .opened(let opening, let sockets):
            guard install(sockets, for: request) else {
                shared.ledger.release(request.user)
                engine.relayRefused(request.allocation, .insufficientCapacity, into: &outbox)
                return
            }
            let supply = shared.ledger.supply(of: request.user, request.scope, at: now)
            engine.relayOpened(request.allocation, opening, supply: supply, at: now, into: &outbox)
        }
    }

    /// Puts new sockets in their places and watches them; closes them again when the system cannot.
    mutating func install(_ sockets: [OpenedSocket], for request: RelayRequest) -> Bool {
        var isWatched = true
        for opened in sockets {
            let id = RelayID(request.allocation, opened.family)
            let place = Self.place(Int(request.allocation.slot), opened.family)
            while relays.count <= place { relays.append(RelaySocket.closed) }
            guard let socket = opened.socket.take() else { continue }
            let tag = EventTag.relay(id)
            isWatched = queue.watch(socket.descriptor, as: tag) && isWatched
            relays[place] = RelaySocket(socket, id: id, port: opened.socket.port, addressIndex: opened.socket.index)
        }
        if !isWatched {
            for opened in sockets { close(RelayID(request.allocation, opened.family)) }
        }
        return isWatched
    }

    static func place(_ slot: Int, _ family: IPAddress.Family) -> Int {
        slot &* 2 &+ (family == .ipv6 ? 1 : 0)
    }
}
