import BasicContainers
import DTLS
import DatagramIO
import OpenSSLCrypto
import STUN
import TURN
import Wire

/// One thread's share of the relay: its sockets, its engine and its loop.
///
/// A round waits for readable sockets, reads each in batches, passes every datagram to the engine, and sends the
/// result, payloads from the buffers that they arrived in. Workers share only `SharedRelay`, which they use when an
/// allocation begins or ends, or when a peer is one of this server's own relays.
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
    var streamListeners: UniqueArray<StreamAcceptor>
    /// Where bytes of connections are read, one connection at a time.
    let wireBuffer = SharedBuffer(byteCount: Worker.streamBufferByteCount)
    /// Where they are decrypted.
    let plainBuffer = SharedBuffer(byteCount: Worker.streamBufferByteCount)
    /// For new TLS connections; nil without a certificate.
    var streamContext: TLSServerContext?
    /// The relays by slot and family: see `socketIndex(_:_:)`.
    var relays = UniqueArray<RelaySocket>()
    var counters = RelayCounters()
    private var transactions: SeededRandom
    let shared: SharedRelay
    /// The current limits.
    var limits: RelayLimits
    let mailbox: WorkerMailbox
    /// Empty, but for its capacity.
    var handedOver = HandedOver()
    var now: Instant
    /// Streams of TCP allocations that wait for their bandwidth.
    var heldStreams = HeldStreams()
    /// Connections whose TLS handshake has to wait, and the time that handshakes may take.
    var heldHandshakes = FairQueue<HeldHandshake>()
    var handshakeBudget = Worker.handshakeShare
    /// Whether the connection being served is one of those.
    var isResumingHandshake = false
    /// Whether connections wait to be accepted until descriptors are free.
    var isShortOfDescriptors = false
    private var nextSweep = Instant(nanoseconds: 0)
    private var nextTick = Instant(nanoseconds: 0)
    private var nextPublish = Instant(nanoseconds: 0)
    private var isPublished = true
    private var isStopping = false

    /// nil when the system is out of memory or descriptors.
    static func make(
        _ sockets: consuming WorkerSockets, _ shared: SharedRelay, _ workerGroup: WorkerGroup
    ) -> Worker? {
        guard let mailbox = workerGroup.mailbox(workerGroup.own), let queue = EventQueue(),
            let authentication = OpenSSLSource.authentication(),
            let decryption = OpenSSLSource.decryption(), let seed = OpenSSLSource.seed(),
            queue.watch(mailbox.wake.descriptor, as: EventTag.wakeBits)
        else { return nil }
        for index in 0..<sockets.listeners.count {
            guard queue.watch(sockets.listeners[index].socket.descriptor, as: EventTag.listener(index)) else {
                return nil
            }
        }
        for index in 0..<sockets.acceptors.count {
            let descriptor = sockets.acceptors[index].listener.descriptor
            guard queue.watch(descriptor, as: EventTag.streamListener(index)) else { return nil }
        }
        let now = SystemClock.now()
        let rules = shared.rules
        let (nonces, cookies) = shared.generators(at: now)
        var engine = TURNEngine(
            credentials: rules.credentials, policy: rules.policy, nonces: nonces,
            limiter: ResponseLimiter(
                perSecond: rules.limits.responsesPerSecond, burst: rules.limits.responseBurst, seed: seed),
            authentication: authentication)
        engine.limits = rules.limits.perAllocation
        engine.alternates = rules.alternates
        engine.discoveries = shared.discoveries
        engine.supply = shared.ledger.total
        engine.decryption = decryption
        engine.worker = workerGroup.own
        engine.tickets = shared.ticketKey.map { TicketCodec(key: $0, worker: workerGroup.own) }
        let sessions = DTLSTable(
            HelloVerifier(cookies: cookies, authentication: authentication), rules.datagramContext,
            DTLSLimits(rules.limits, sessions: shared.share(of: rules.limits.datagramSessions)), seed: seed)
        return Worker(engine, sockets, sessions, queue, SeededRandom(seed: seed), shared, workerGroup, mailbox, now)
    }

    private init(
        _ engine: consuming TURNEngine, _ sockets: consuming WorkerSockets, _ sessions: consuming DTLSTable,
        _ queue: consuming EventQueue, _ transactions: SeededRandom, _ shared: SharedRelay, _ workerGroup: WorkerGroup,
        _ mailbox: WorkerMailbox, _ now: Instant
    ) {
        self.engine = engine
        outbox = WorkerOutbox(
            sockets.listeners, ConnectionTable(limit: shared.share(of: shared.rules.limits.connections)), sessions,
            shared.ledger,
            workerGroup)
        if !shared.joinsDatagrams { outbox.disableSegmentation() }
        streamListeners = sockets.acceptors
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
        executeRequests()
        flush()
        publish()
    }

    private var waitMilliseconds: Int32 {
        if !heldHandshakes.isEmpty { return 1 }
        // The counters of the last packets of a burst are published too, although no packet follows.
        let next = min(isPublished ? nextTick : min(nextTick, nextPublish), heldStreams.next)
        return Int32(clamping: min(next.nanoseconds(since: now), 1_000_000_000) / 1_000_000 &+ 1)
    }

    private mutating func handle(_ event: UInt64, _ readiness: Readiness) {
        switch EventTag.read(event) {
        case .wake:
            mailbox.wake.clear()
            for command in mailbox.takeAll() { handle(command) }
            receiveForwarded()
        case .listener(let index):
            guard index < outbox.listeners.count else { return }
            read(outbox.listeners[index].socket.descriptor, event, limit: ReceiveBatch.capacity) { worker, slot in
                worker.receiveFromClient(slot, listener: index)
            }
        case .relay(let slot, let family, let generation):
            let socketIndex = Self.socketIndex(slot, family)
            guard socketIndex < relays.count, relays[socketIndex].isOpen,
                relays[socketIndex].id.allocation.generation & EventTag.generationMask == generation
            else { return }
            let id = relays[socketIndex].id
            if readiness.hasError { readErrors(socketIndex) }
            read(relays[socketIndex].socket.descriptor, event, limit: Self.relayBatch) { worker, slot in
                worker.receiveFromPeer(slot, id)
            }
        case .streamListener(let index):
            accept(listener: index, event)
        case .connection(let slot, let generation):
            guard let slot = outbox.connections.slot(slot, generation: generation) else { return }
            serve(slot, readiness, event)
        case .relayAcceptor(let slot, let family, let generation):
            acceptPeers(at: Self.socketIndex(slot, family), generation, event)
        case .peer(let slot, let generation):
            guard let slot = outbox.peers.slot(slot, generation: generation) else { return }
            servePeer(slot, readiness, event)
        case .unknown:
            return
        }
    }

    /// Reads a socket until it is empty or has had its turn.
    private mutating func read(
        _ descriptor: Int32, _ event: UInt64, limit: Int, _ receive: (inout Worker, Int) -> Void
    ) {
        for _ in 0..<Self.rounds {
            if received.used == ReceiveBatch.capacity { flush() }
            let requested = min(limit, ReceiveBatch.capacity &- received.used)
            let slots = received.receive(from: descriptor, limit: requested)
            counters.countBatch(slots.count)
            for slot in slots { receive(&self, slot) }
            // Fewer than asked for: the socket is empty, and its next datagram is a new event.
            if slots.count < requested { return }
        }
        queue.rearm(of: descriptor, as: event)
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
        if outbox.hasPendingRequests { executeRequests() }
    }

    mutating func sendToPeer(_ forward: ToPeer, _ datagram: UnsafeRawBufferPointer) {
        let socketIndex = Self.socketIndex(Int(forward.relay.allocation.slot), forward.relay.family)
        guard socketIndex < relays.count, relays[socketIndex].isOpen, forward.payload.upperBound <= datagram.count
        else { return }
        if forward.dontFragment != relays[socketIndex].forbidsFragments {
            outbox.toPeers.flush()
            relays[socketIndex].setForbidsFragments(forward.dontFragment)
        }
        counters.packetsToPeers &+= 1
        counters.bytesToPeers &+= UInt64(truncatingIfNeeded: forward.payload.count)
        outbox.toPeers.append(
            UnsafeRawBufferPointer(rebasing: datagram[forward.payload]), from: relays[socketIndex].socket.descriptor,
            to: forward.destination)
    }

    /// Reads ICMP errors before the socket, which clears the error that would fail the next system call.
    private mutating func readErrors(_ socketIndex: Int) {
        var errors: [SendingError] = []
        relays[socketIndex].socket.readErrors(limit: Self.relayBatch) { errors.append($0) }
        for error in errors {
            engine.receiveError(
                PeerError(type: error.type, code: error.code, mtu: error.mtu), on: relays[socketIndex].id,
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

    // MARK: Control

    private mutating func handle(_ command: WorkerCommand) {
        switch command {
        case .revoke(let name, let unixSeconds, let issued):
            engine.revoke(name, voidingUntil: unixSeconds, issuedUntil: issued, into: &outbox)
            executeRequests()
        case .adopt(let rules):
            if let change = rules.listeners { adopt(change) }
            engine.adopt(rules.credentials, rules.policy, into: &outbox)
            executeRequests()
            engine.limits = rules.limits.perAllocation
            engine.alternates = rules.alternates
            outbox.connections.limit = shared.share(of: rules.limits.connections)
            limits = rules.limits
            outbox.sessions.limits = DTLSLimits(limits, sessions: shared.share(of: limits.datagramSessions))
            outbox.sessions.context = rules.datagramContext
            streamContext = rules.streamContext
        case .keepForwardedFlow(let flow, let owner, let claim, let response):
            if engine.keepForwardedFlow(flow, of: owner, claim, into: &outbox) {
                outbox.send(response.span.bytes, on: flow)
            }
        case .forgetForwardedFlow(let flow, let owner, let claim):
            engine.forgetForwardedFlow(flow, of: owner, claim)
        case .removeIngress(let flow, let claim):
            engine.removeIngress(flow, claim, into: &outbox)
        case .adoptConnection(let moved):
            adopt(moved)
        case .stop:
            isStopping = true
        }
    }

    private mutating func tick() {
        engine.setWallClock(unixMilliseconds: Int64(clamping: SystemClock.unixNanoseconds() / 1_000_000), at: now)
        let (nonces, cookies) = shared.generators(at: now)
        engine.nonces = nonces
        outbox.sessions.helloVerifier.cookies = cookies
        engine.advance(to: now, into: &outbox)
        executeRequests()
        if now >= nextSweep {
            nextSweep = now.adding(seconds: 1)
            acceptAgain()
            sweepConnections()
            sweepPeers()
        }
        advanceSessions()
        // What the timers produced is sent now, not with the next datagram.
        flush()
        shared.ledger.expire(at: now)
        let deadline = min(engine.deadline ?? .distantFuture, outbox.sessions.deadline(at: now))
        nextTick = now.adding(nanoseconds: min(1_000_000_000, deadline.nanoseconds(since: now)))
    }

    private mutating func publish() {
        nextPublish = now.adding(nanoseconds: Self.publishNanoseconds)
        isPublished = true
        counters.update(from: engine.counters)
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
        counters.update(from: outbox.connections)
        counters.update(from: outbox.sessions)
        mailbox.publish(counters)
    }

    /// Executes the requests of the engine.
    mutating func executeRequests() {
        for id in outbox.takeClosed() { close(id) }
        for request in outbox.takeRequests() { open(request) }
        for request in outbox.takePeerRequests() { execute(request) }
    }

    private mutating func close(_ id: RelayID) {
        let socketIndex = Self.socketIndex(Int(id.allocation.slot), id.family)
        guard socketIndex < relays.count, relays[socketIndex].isOpen, relays[socketIndex].id == id else { return }
        // Packets queued for this socket are sent first.
        outbox.toPeers.flush()
        relays[socketIndex].ports?.release(relays[socketIndex].port)
        relays[socketIndex] = RelaySocket.closed
    }

    private mutating func open(_ request: RelayRequest) {
        guard request.transport == .udp else {
            openForConnections(request)
            return
        }
        switch shared.open(request, at: now) {
        case .rejected(let error):
            engine.relayFailed(request.allocation, error, into: &outbox)
        case .opened(let opening, let sockets):
            guard install(sockets, for: request) else {
                shared.ledger.release(request.user)
                engine.relayFailed(request.allocation, .insufficientCapacity, into: &outbox)
                return
            }
            let supply = shared.ledger.supply(of: request.user, request.scope, at: now)
            engine.relayOpened(request.allocation, opening, supply: supply, at: now, into: &outbox)
        }
    }

    /// Stores new sockets in the table and watches them. False, with the sockets closed again, when watching failed.
    mutating func install(_ sockets: [OpenedSocket], for request: RelayRequest) -> Bool {
        var isWatched = true
        for opened in sockets {
            let id = RelayID(request.allocation, opened.family)
            let socketIndex = Self.socketIndex(Int(request.allocation.slot), opened.family)
            while relays.count <= socketIndex { relays.append(RelaySocket.closed) }
            guard let socket = opened.socket.take() else { continue }
            let tag = EventTag.relay(id)
            isWatched = queue.watch(socket.descriptor, as: tag) && isWatched
            relays[socketIndex] = RelaySocket(
                socket, id: id, port: opened.socket.port, ports: opened.socket.entry.ports)
        }
        if !isWatched {
            for opened in sockets { close(RelayID(request.allocation, opened.family)) }
        }
        return isWatched
    }

    /// The index in `relays` of an allocation's socket of one family.
    static func socketIndex(_ slot: Int, _ family: IPAddress.Family) -> Int {
        slot &* 2 &+ (family == .ipv6 ? 1 : 0)
    }
}
