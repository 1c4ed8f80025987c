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
/// The first byte says what a datagram is (RFC 7983). STUN finds its leg by the ufrag that it was asked with; everything
/// else only by the address that a valid check came from, so nobody reaches DTLS or SRTP who does not know a password.
package struct GatewayWorker: ~Copyable {
    private static let rounds = 4
    private static let publishNanoseconds: UInt64 = 200_000_000
    private static let idleMilliseconds: Int32 = 1_000
    /// How often the sockets are read after a stall before time goes on: more than their buffers hold.
    private static let roundsAfterStall = 64

    let queue: EventQueue
    let mailbox: GatewayMailbox
    let shared: GatewayShared
    let exchange = DTLSExchange()
    let authentication: OpenSSLAuthentication
    private let sockets: [DatagramSocketOwner]
    /// Those of which it is to be told that they have room.
    private var awaiting: [Bool]
    private var received = ReceiveBatch()
    /// For what is read from connections.
    let buffer = SharedBuffer(byteCount: 64 * 1024)
    var wires: GatewayWires
    var engine: GatewayEngine
    var writer = MessageWriter()
    var directory = LegDirectory<UInt64>()
    /// By their numbers.
    package internal(set) var legs: [UInt64: LegTransport] = [:]
    /// Those whose DTLS waits for an answer.
    var shaking: [UInt64: LegTransport] = [:]
    /// Whose the datagrams of a checked address are.
    var flows: [Flow: LegTransport] = [:]
    /// The engine's names.
    var numbers: [LegID: UInt64] = [:]
    /// The numbers of legs whose DTLS waits, and the time that such work may take.
    var handshakeQueue = FairQueue<UInt64>()
    var handshakeBudget: WorkBudget
    var figures = GatewayFigures()
    var now: Instant
    private var keeper: Timekeeper
    private var nextTick: Instant
    private var nextSweep: Instant
    private var nextPublish: Instant
    private var isStopping = false

    /// nil when the system has no more descriptors or OpenSSL no memory.
    ///
    /// - Parameters:
    ///   - seed: of the numbers that slots begin with; chance unless it is given.
    ///   - connections: how many there may be at a time, as usual unless it is given.
    ///   - handshakes: the share of the thread that is theirs.
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
        awaiting = sockets.map { _ in false }
        self.queue = queue
        self.authentication = authentication
        self.shared = shared
        self.mailbox = mailbox
        wires = GatewayWires(
            sockets.map { GatewayListener(descriptor: $0.descriptor, address: $0.address) },
            connections, mailbox.tap)
        var generator = SystemRandomNumberGenerator()
        engine = GatewayEngine(random: SeededRandom(seed: seed ?? generator.next()))
        engine.limits = shared.limits
        self.now = now
        keeper = Timekeeper(at: now)
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

    /// Waits for what comes, does what it asks for and what is due, and sends what came of it.
    package mutating func turn(waiting milliseconds: Int32, clock: () -> Instant) {
        let count = queue.wait(milliseconds: milliseconds)
        now = clock()
        let stall = keeper.stall(at: now)
        serveHandshakes()
        for index in 0..<count { handle(queue[index], queue.readiness(index)) }
        if stall > 0 { catchUp(after: stall) }
        if now >= nextTick { tick() }
        engine.releaseWaiting(at: now, into: &wires)
        finish()
        if now >= nextPublish { publish() }
        keeper.plan(now.adding(nanoseconds: UInt64(max(0, waitMilliseconds)) &* 1_000_000), at: now)
    }

    /// This thread did not run for so many nanoseconds: reads what came meanwhile, and lets nobody's time have passed.
    private mutating func catchUp(after stall: UInt64) {
        for _ in 0..<Self.roundsAfterStall {
            let count = queue.wait(milliseconds: 0)
            guard count > 0 else { break }
            for index in 0..<count { handle(queue[index], queue.readiness(index)) }
        }
        for leg in legs.values { leg.extend(by: stall, at: now) }
        wires.connections.extend(by: stall, at: now)
    }

    package mutating func stop() {
        for leg in Array(legs.values) { end(leg, .stopped) }
        finish()
        for command in mailbox.close() { command.refuse() }
        publish()
    }

    private var waitMilliseconds: Int32 {
        guard !legs.isEmpty || wires.connections.count > 0 else { return Self.idleMilliseconds }
        guard handshakeQueue.isEmpty else { return 1 }
        return Int32(clamping: min(nextTick, engine.nextRelease).nanoseconds(since: now) / 1_000_000 &+ 1)
    }

    private mutating func handle(_ event: UInt64, _ readiness: Readiness) {
        switch GatewayEventTag(bits: event) {
        case .wake:
            mailbox.wake.clear()
            for command in mailbox.takeAll() { obey(command) }
        case .datagrams(let index):
            if readiness.isWritable { sendKept(index, event) }
            read(index, event)
        case .listener(let index): accept(listener: index)
        case .connection(let number): serve(number, readiness)
        }
    }

    /// Reads a socket until it is empty or has had its turn.
    private mutating func read(_ index: Int, _ event: UInt64) {
        guard index < sockets.count else { return }
        let (descriptor, local) = (sockets[index].descriptor, sockets[index].address)
        for _ in 0..<Self.rounds {
            if received.used == ReceiveBatch.capacity { finish() }
            let wanted = ReceiveBatch.capacity &- received.used
            let slots = received.receive(from: descriptor, limit: wanted)
            for slot in slots {
                guard let source = received.source(of: slot) else {
                    figures.dropped.unknownKind &+= 1
                    continue
                }
                receive(received.datagram(slot), on: Flow(.udp, local: local, remote: source))
            }
            if slots.count < wanted { return }
        }
        if wires.holdsUnsent(for: descriptor) {
            queue.remindOfRoom(in: descriptor, as: event)
        } else {
            queue.remind(of: descriptor, as: event)
        }
    }

    /// Sends what waits for a socket, which is to be reported again for as long as some does.
    private mutating func sendKept(_ index: Int, _ event: UInt64) {
        guard index < sockets.count, wires.holdsUnsent(for: sockets[index].descriptor) else { return }
        if wires.sendKept(from: sockets[index].descriptor) {
            queue.remind(of: sockets[index].descriptor, as: event)
            awaiting[index] = false
        }
    }

    /// Sockets that became full are reported as soon as they have room; that is looked at with each tick too.
    private mutating func awaitRoom() {
        for index in sockets.indices where !awaiting[index] && wires.holdsUnsent(for: sockets[index].descriptor) {
            awaiting[index] = true
            queue.remindOfRoom(in: sockets[index].descriptor, as: GatewayEventTag.datagrams(index).bits)
        }
    }

    /// Sends what was written and tells what has changed.
    private mutating func finish() {
        wires.flush()
        awaitRoom()
        received.reset()
        for (id, slots) in wires.takeShown() {
            guard let number = numbers[id], let leg = legs[number] else { continue }
            shared.tell(.shows(leg.key, slots), of: number)
        }
    }

    // MARK: Time

    private mutating func tick() {
        nextTick = now.adding(
            nanoseconds: legs.isEmpty && wires.connections.count == 0 ? 1_000_000_000 : GatewayEngine.tickNanoseconds)
        for index in sockets.indices { sendKept(index, GatewayEventTag.datagrams(index).bits) }
        engine.advance(to: now, into: &wires)
        for leg in Array(shaking.values) where leg.retransmission <= now { retransmit(leg) }
        guard now >= nextSweep else { return }
        sweepConnections()
        nextSweep = now.adding(nanoseconds: 500_000_000)
        for leg in Array(legs.values) { sweep(leg) }
        forgetSources()
    }

    private mutating func publish() {
        nextPublish = now.adding(nanoseconds: Self.publishNanoseconds)
        mailbox.publish(report)
    }

    /// What it holds and did until now.
    package var report: GatewayFigures {
        var figures = figures
        figures.legs = legs.count
        figures.connectedLegs = numbers.count
        figures.flows = flows.count
        figures.connections = wires.connections.count
        figures.connectionsRefused = wires.connections.refused
        figures.names = directory.count
        figures.calls = engine.callCount
        figures.tracks = engine.trackCount
        figures.tally = engine.tally
        figures.packetsSent = wires.packetsSent
        figures.bytesSent = wires.bytesSent
        figures.packetsLost = wires.dropped
        figures.packetsRefused = wires.refused
        figures.packetsKept = wires.kept
        figures.unsentBytes = wires.unsentByteCount
        figures.tapBytes = mailbox.tap.waitingByteCount
        figures.tapDropped = mailbox.tap.droppedCount
        return figures
    }

    // MARK: Commands

    private mutating func obey(_ command: GatewayCommand) {
        switch command {
        case .open(let opening, let reply): reply(open(opening))
        case .renegotiate(let number, let negotiated, let sources, let credentials, let reply):
            reply(renegotiate(number, negotiated, sources, credentials))
        case .want(let number, let wishes, let reply): reply(want(number, wishes))
        case .tap(let call, let isOn): engine.tap(call, isOn: isOn, into: &wires)
        case .close(let number, let reason):
            if let leg = legs[number] { end(leg, reason) }
        case .stop: isStopping = true
        }
    }
}
