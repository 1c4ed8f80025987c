import DatagramIO
import Gateway
import ICE
import OpenSSLCrypto
import RTP
import SDP
import STUN
import SecureMedia
package import Wire

/// One thread of the gateway: its sockets, the legs of its calls, and the engine that forwards between them.
///
/// The first byte tells the protocols apart (RFC 7983). STUN requests find their leg by their ufrag; everything else
/// only by the address of a valid check, so nobody reaches DTLS or SRTP without knowing a password.
package struct GatewayWorker: ~Copyable {
    private static let rounds = 4
    private static let publishNanoseconds: UInt64 = 200_000_000
    private static let idleMilliseconds: Int32 = 1_000
    /// How often the sockets are read after a stall before timers run: more than their buffers hold.
    private static let roundsAfterStall = 64

    let queue: EventQueue
    let mailbox: GatewayMailbox
    let shared: GatewayShared
    let exchange = DTLSExchange()
    let authentication: OpenSSLAuthentication
    /// Nil where one was closed.
    var sockets: [DatagramSocketOwner?]
    /// Sockets that are watched for becoming writable.
    var awaitsWritable: [Bool]
    private var received = ReceiveBatch()
    /// For reading from connections.
    let buffer = SharedBuffer(byteCount: 64 * 1024)
    var sender: PacketSender
    var engine: GatewayEngine
    var writer = MessageWriter()
    var ufrags = UfragTable<UInt64>()
    /// By number.
    package internal(set) var legs: [UInt64: LegTransport] = [:]
    /// When DTLS retransmits its last flight, by the number of the leg; none for a leg that is connected.
    var retransmissions: [UInt64: Instant] = [:]
    /// The leg of each checked flow.
    var flows: [Flow: LegTransport] = [:]
    /// The legs' numbers by their ids in the engine.
    var numbers: [LegID: UInt64] = [:]
    /// The numbers of legs whose handshake waits for its turn, and the time that handshakes may take.
    var handshakeQueue = FairQueue<UInt64>()
    var handshakeBudget: WorkBudget
    var stats = GatewayStats()
    var now: Instant
    private var timekeeper: StallDetector
    var nextTick: Instant
    private var nextSweep: Instant
    private var nextPublish: Instant
    private var isStopping = false

    /// nil when the system has no more descriptors or OpenSSL no memory.
    ///
    /// - Parameters:
    ///   - seed: of the numbers that slots begin with; random by default.
    ///   - connections: how many there may be at a time; nil for the default.
    ///   - handshakes: the share of the thread for handshakes.
    package static func make(
        _ sockets: [DatagramSocketOwner], _ listeners: [StreamListenerOwner], _ shared: GatewayShared,
        _ mailbox: GatewayMailbox, at now: Instant = SystemClock.now(), seed: UInt64? = nil, connections: Int? = nil,
        handshakes: WorkBudget = GatewayWorker.handshakeShare
    ) -> GatewayWorker? {
        guard let queue = EventQueue(), let authentication = OpenSSLAuthentication(),
            queue.watch(mailbox.wake.descriptor, as: GatewayEventTag.wakeBits)
        else { return nil }
        for (index, socket) in sockets.enumerated() {
            guard queue.watch(socket.descriptor, as: GatewayEventTag.datagrams(index).bits) else { return nil }
        }
        for (index, listener) in listeners.enumerated() {
            guard queue.watch(listener.descriptor, as: GatewayEventTag.listener(index).bits) else { return nil }
        }
        return GatewayWorker(
            sockets, queue, authentication, shared, mailbox, at: now, seed: seed,
            GatewayConnections(listeners, limit: connections ?? GatewayConnections.defaultLimit), handshakes)
    }

    private init(
        _ sockets: [DatagramSocketOwner], _ queue: consuming EventQueue, _ authentication: OpenSSLAuthentication,
        _ shared: GatewayShared, _ mailbox: GatewayMailbox, at now: Instant, seed: UInt64?,
        _ connections: GatewayConnections, _ handshakes: WorkBudget
    ) {
        handshakeBudget = handshakes
        self.sockets = sockets
        awaitsWritable = sockets.map { _ in false }
        self.queue = queue
        self.authentication = authentication
        self.shared = shared
        self.mailbox = mailbox
        sender = PacketSender(
            sockets.map { GatewayListener(descriptor: $0.descriptor, address: $0.address) },
            connections, mailbox.tap)
        var generator = SystemRandomNumberGenerator()
        engine = GatewayEngine(random: SeededRandom(seed: seed ?? generator.next()))
        engine.limits = shared.limits
        self.now = now
        timekeeper = StallDetector(at: now)
        let start = NTPTime(unixNanoseconds: SystemClock.unixNanoseconds())
        engine.wallClockAtZero = NTPTime(
            bits: start.bits &- NTPTime(bits: 0).adding(nanoseconds: now.nanoseconds).bits)
        nextTick = now
        nextSweep = now
        nextPublish = now
    }

    mutating func run(_ clock: () -> Instant) {
        while !isStopping { turn(waiting: waitMilliseconds, clock: clock) }
        stop()
    }

    /// One turn of the event loop: waits for events, handles them and due timers, and sends the results.
    package mutating func turn(waiting milliseconds: Int32, clock: () -> Instant) {
        let count = queue.wait(milliseconds: milliseconds)
        now = clock()
        let stall = timekeeper.stall(at: now)
        serveHandshakes()
        for index in 0..<count { handle(queue[index], queue.readiness(index)) }
        if stall > 0 { catchUp(after: stall) }
        if now >= nextTick { tick() }
        engine.releaseWaiting(at: now, into: &sender)
        finish()
        if now >= nextPublish { publish() }
        timekeeper.plan(now.adding(nanoseconds: UInt64(max(0, waitMilliseconds)) &* 1_000_000), at: now)
    }

    /// Handles a stall of this thread, in nanoseconds: reads what arrived meanwhile, and extends all deadlines.
    private mutating func catchUp(after stall: UInt64) {
        for _ in 0..<Self.roundsAfterStall {
            let count = queue.wait(milliseconds: 0)
            guard count > 0 else { break }
            for index in 0..<count { handle(queue[index], queue.readiness(index)) }
        }
        for leg in legs.values { leg.extend(by: stall, at: now) }
        sender.connections.extend(by: stall, at: now)
    }

    package mutating func stop() {
        for leg in Array(legs.values) { end(leg, .stopped) }
        finish()
        for command in mailbox.close() { command.reject() }
        publish()
    }

    private var waitMilliseconds: Int32 {
        guard !legs.isEmpty || sender.connections.count > 0 else { return Self.idleMilliseconds }
        guard handshakeQueue.isEmpty else { return 1 }
        return Int32(clamping: min(nextTick, engine.nextRelease).nanoseconds(since: now) / 1_000_000 &+ 1)
    }

    private mutating func handle(_ event: UInt64, _ readiness: Readiness) {
        switch GatewayEventTag(bits: event) {
        case .wake:
            mailbox.wake.clear()
            for command in mailbox.takeAll() { handle(command) }
        case .datagrams(let index):
            if readiness.isWritable { sendUnsent(index, event) }
            read(index, event)
        case .listener(let index): accept(listener: index)
        case .connection(let number): serve(number, readiness)
        }
    }

    /// Reads a socket until it is empty or has had its share.
    private mutating func read(_ index: Int, _ event: UInt64) {
        guard index < sockets.count, let socket = sockets[index] else { return }
        let (descriptor, local) = (socket.descriptor, socket.address)
        for _ in 0..<Self.rounds {
            if received.used == ReceiveBatch.capacity { finish() }
            let limit = ReceiveBatch.capacity &- received.used
            let slots = received.receive(from: descriptor, limit: limit)
            for slot in slots {
                guard let source = received.source(of: slot) else {
                    stats.dropped.unknownKind &+= 1
                    continue
                }
                receive(received.datagram(slot), on: Flow(.udp, local: local, remote: source))
            }
            if slots.count < limit { return }
        }
        if sender.hasUnsent(for: descriptor) {
            queue.rearmForWriting(descriptor, as: event)
        } else {
            queue.rearm(of: descriptor, as: event)
        }
    }

    /// Sends what waits for a socket. The socket stays watched until nothing waits.
    private mutating func sendUnsent(_ index: Int, _ event: UInt64) {
        guard index < sockets.count, let descriptor = sockets[index]?.descriptor, sender.hasUnsent(for: descriptor)
        else { return }
        if sender.sendUnsent(from: descriptor) {
            queue.rearm(of: descriptor, as: event)
            awaitsWritable[index] = false
        }
    }

    /// Watches full sockets for becoming writable; each tick retries them too.
    private mutating func watchWritable() {
        for index in sockets.indices where !awaitsWritable[index] {
            guard let descriptor = sockets[index]?.descriptor, sender.hasUnsent(for: descriptor) else { continue }
            awaitsWritable[index] = true
            queue.rearmForWriting(descriptor, as: GatewayEventTag.datagrams(index).bits)
        }
    }

    /// Sends what was written and reports changes of slots.
    mutating func finish() {
        sender.flush()
        watchWritable()
        received.reset()
        for (id, slots) in sender.takeShown() {
            guard let number = numbers[id], let leg = legs[number] else { continue }
            shared.notify(.shows(leg.key, slots), of: number)
        }
    }

    // MARK: Time

    private mutating func tick() {
        nextTick = now.adding(
            nanoseconds: legs.isEmpty && sender.connections.count == 0 ? 1_000_000_000 : GatewayEngine.tickNanoseconds)
        for index in sockets.indices { sendUnsent(index, GatewayEventTag.datagrams(index).bits) }
        engine.advance(to: now, into: &sender)
        for (number, due) in retransmissions where due <= now {
            if let leg = legs[number] { retransmit(leg) }
        }
        guard now >= nextSweep else { return }
        sweepConnections()
        nextSweep = now.adding(nanoseconds: 500_000_000)
        for leg in Array(legs.values) { sweep(leg) }
        removeEndedSources()
    }

    private mutating func publish() {
        nextPublish = now.adding(nanoseconds: Self.publishNanoseconds)
        mailbox.publish(report)
    }

    /// Its current state and totals.
    package var report: GatewayStats {
        var stats = stats
        stats.legs = legs.count
        stats.connectedLegs = numbers.count
        stats.flows = flows.count
        stats.connections = sender.connections.count
        stats.connectionsRejected = sender.connections.rejected
        stats.ufrags = ufrags.count
        stats.calls = engine.callCount
        stats.tracks = engine.trackCount
        stats.counters = engine.counters
        stats.packetsSent = sender.packetsSent
        stats.bytesSent = sender.bytesSent
        stats.packetsLost = sender.dropped
        stats.packetsRejected = sender.rejected
        stats.packetsQueued = sender.queued
        stats.unsentBytes = sender.unsentByteCount
        stats.tapBytes = mailbox.tap.waitingByteCount
        stats.tapDropped = mailbox.tap.droppedCount
        return stats
    }

    // MARK: Commands

    private mutating func handle(_ command: GatewayCommand) {
        switch command {
        case .open(let opening, let reply): reply(open(opening))
        case .renegotiate(let number, let negotiated, let sources, let credentials, let reply):
            reply(renegotiate(number, negotiated, sources, credentials))
        case .setPreferences(let number, let preferences, let reply): reply(setPreferences(number, preferences))
        case .tap(let call, let isOn): engine.tap(call, isOn: isOn, into: &sender)
        case .listen(let opened, let closed): listen(on: opened, closing: closed)
        case .close(let number, let reason):
            if let leg = legs[number] { end(leg, reason) }
        case .stop: isStopping = true
        }
    }
}
