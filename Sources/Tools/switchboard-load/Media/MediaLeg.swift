import DatagramIO
import ICE
import OpenSSLCrypto
import RTP
import SDP
import STUN
import SecureMedia
import Wire

/// One PeerConnection of a virtual participant, with a socket of its own: ICE checks, then the DTLS handshake, then media
/// both ways. It belongs to one thread, which says when datagrams came and when time has passed.
final class MediaLeg {
    enum Stage: Equatable {
        case checking
        case shaking
        case live
        case over(String)
    }

    /// How often `tick` wants to be called.
    static let tickInterval: UInt64 = 20_000_000
    private static let receiveBuffer: Int32 = 1 << 20

    let plan: LegPlan
    let tools: MediaTools
    let tracks: [SendingTrack]
    var streams: [ReceivedStream]
    /// Where in `streams` a source is, first-hand or repaired.
    let places: [UInt32: (index: Int, isRepair: Bool)]
    private(set) var stage = Stage.checking
    let begin: LegBegin
    private let socket: DatagramSocket
    private let local: TransportAddress
    private let context: MediaContext
    private var agent: CheckingAgent
    private var handshake: MediaHandshake?
    private(set) var flow: Flow?
    private var sender: SRTPSender?
    private var receiver: SRTPReceiver?
    private var transportSequence: UInt16 = 0
    var arrivals = ArrivalLog()
    /// SSRC of our reports.
    let reporter: UInt32
    var nextFeedback: UInt64 = 0
    var nextReport: UInt64 = 0
    var hasMedia = false
    /// Its participant leaves the call, so that the server ends it.
    var isLeaving = false
    var junk = JunkStock()

    init(
        _ plan: LegPlan, _ context: MediaContext, _ begin: LegBegin, bitrate: Int, speech: SpokenClip? = nil,
        _ tools: MediaTools
    ) throws {
        guard let first = plan.candidates.first else { throw MediaFailure("the answer has no candidate") }
        self.plan = plan
        self.context = context
        self.begin = begin
        self.tools = tools
        let home: IPAddress = first.address.isLoopback ? first.address : .any(first.address.family)
        do {
            socket = try DatagramSocket(
                TransportAddress(home, port: 0), .exclusive, receiveBuffer: Self.receiveBuffer)
        } catch {
            throw MediaFailure("no socket: \(error.description); ulimit -n bounds the legs")
        }
        _ = socket.stampArrivals()
        guard let local = socket.address else { throw MediaFailure("a socket without an address") }
        self.local = local
        agent = CheckingAgent(
            plan.local, plan.remote, flows: plan.candidates.map { Flow(.udp, local: local, remote: $0) },
            seed: tools.chance.next(), at: SystemClock.now())
        var chance = tools.chance
        tracks = plan.tracks.map { SendingTrack($0, plan.extensions, bitrate: bitrate, speech: speech, &chance) }
        streams = plan.streams.map(ReceivedStream.init)
        var places: [UInt32: (index: Int, isRepair: Bool)] = [:]
        for (index, stream) in plan.streams.enumerated() {
            places[stream.ssrc] = (index, false)
            if let repair = stream.retransmissionSSRC { places[repair] = (index, true) }
        }
        self.places = places
        reporter = plan.tracks.first?.ssrc ?? UInt32.random(in: 1..<UInt32.max, using: &chance)
        tools.chance = chance
    }

    var descriptor: Int32 { socket.descriptor }
    var isLive: Bool { stage == .live }
    func clock() -> Instant { SystemClock.now() }

    // MARK: Coming to life

    /// Does what time asks for.
    func tick(_ now: Instant) {
        if let deadline = agent.deadline, deadline <= now {
            let event = agent.advance(
                to: now, tools.authentication, &tools.messages,
                into: &outbox)
            follow(event)
        }
        switch stage {
        case .checking, .over: return
        case .shaking:
            guard handshake?.retransmission == 0 else { return }
            if handshake?.retransmit() == false { end("the DTLS handshake gets no answers") }
            pour()
        case .live: report(now)
        }
    }

    private var outbox: CheckOutbox {
        get { CheckOutbox(tools: tools, socket: socket.descriptor) }
        set {}
    }

    private func follow(_ event: CheckingAgent.Event) {
        switch event {
        case .nothing: return
        case .failed(.unanswered): end("no ICE check was answered")
        case .failed(.refused(let number)): end("an ICE check was refused with \(number)")
        case .failed(.consentExpired): end("the other side has not answered a check for 30 s")
        case .selected(let flow):
            self.flow = flow
            handshake = MediaHandshake.begin(context, tools.exchange, peer: plan.fingerprints)
            guard handshake != nil else { return end("OpenSSL has no memory") }
            stage = .shaking
            pour()
        }
    }

    private func establish(_ material: SRTPKeyingMaterial) {
        sender = SRTPSender.make(material.client)
        receiver = SRTPReceiver.make(material.server)
        handshake?.releaseBuffers()
        guard sender != nil, receiver != nil else { return end("OpenSSL has no memory") }
        tools.tally.profiles[material.client.profile.name, default: 0] += 1
        stage = .live
    }

    private func end(_ why: String) {
        if case .over = stage { return }
        stage = .over(why)
    }

    /// Says goodbye, which may get lost.
    func close() {
        if isLive {
            tools.reports.begin()
            tools.reports.appendReceiverReport(from: reporter)
            tools.reports.appendGoodbye([reporter])
            sendReports()
        }
        handshake?.close()
        pour()
        tools.flush()
    }

    /// Sends what the handshake wrote.
    private func pour() {
        let exchange = tools.exchange
        if let flow {
            for index in 0..<exchange.count {
                tools.sendCopy(exchange[index].bytes, from: descriptor, to: flow.remote)
            }
        }
        exchange.removeAll()
    }

    // MARK: What comes

    /// Takes a datagram in, and tells by its first byte what it is (RFC 7983).
    ///
    /// - Parameter arrival: when the kernel had it.
    func take(
        _ datagram: UnsafeMutableRawBufferPointer, from source: TransportAddress, arrival: Instant?, at now: Instant
    ) {
        guard let first = datagram.first else { return }
        switch first {
        case 0...3: takeCheck(datagram, source, now)
        case 20...63: takeHandshake(datagram, source)
        case 128...191:
            guard isLive, source == flow?.remote else { return refuse() }
            if RTCPCompound.isLikely(UnsafeRawBufferPointer(datagram).bytes) {
                takeReports(datagram, now)
            } else {
                takeMedia(datagram, arrival, now)
            }
        default: refuse()
        }
    }

    private func refuse() { tools.tally.refused += 1 }

    private func takeCheck(_ datagram: UnsafeMutableRawBufferPointer, _ source: TransportAddress, _ now: Instant) {
        do {
            let message = try Message(UnsafeRawBufferPointer(datagram).bytes)
            let event = agent.receive(
                message, on: Flow(.udp, local: local, remote: source), at: now, tools.authentication, &tools.messages,
                into: &outbox)
            follow(event)
        } catch {
            refuse()
        }
    }

    private func takeHandshake(_ datagram: UnsafeMutableRawBufferPointer, _ source: TransportAddress) {
        guard source == flow?.remote, handshake != nil else { return refuse() }
        let outcome = handshake?.receive(datagram) ?? .nothing
        switch outcome {
        case .nothing: break
        case .established(let material): establish(material)
        case .closed: end("the other side ended the leg")
        case .failed(.wrongCertificate): end("the other side shows another certificate than it signalled")
        case .failed(.noProfile): end("the other side has no SRTP profile in common")
        case .failed: end("the DTLS handshake failed")
        }
        pour()
    }

    private func takeMedia(_ datagram: UnsafeMutableRawBufferPointer, _ arrival: Instant?, _ now: Instant) {
        do {
            let count = try receiver?.unprotectRTP(datagram) ?? 0
            tools.tally.received += 1
            receive(datagram.upTo(count), arrival: arrival, at: now)
        } catch {
            refuse()
        }
    }

    private func takeReports(_ datagram: UnsafeMutableRawBufferPointer, _ now: Instant) {
        do {
            let count = try receiver?.unprotectRTCP(datagram) ?? 0
            read(UnsafeRawBufferPointer(datagram.upTo(count)).bytes, at: now)
        } catch {
            refuse()
        }
    }

    // MARK: What goes

    /// Sets what is different in each packet's header extensions: the next transport-wide number, and the time.
    func number(_ values: inout ExtensionValues, at now: Instant) {
        values.transportSequence = transportSequence
        transportSequence &+= 1
        values.absoluteSendTime = AbsoluteSendTime.value(at: now)
    }

    /// Protects the RTP packet at the beginning of `room`, and sends it.
    func protectAndSend(_ room: UnsafeMutableRawBufferPointer, count: Int) {
        guard let flow, let size = try? sender?.protectRTP(room, count: count) else { return }
        junk.remember(room.upTo(size))
        tools.send(room.upTo(size), from: descriptor, to: flow.remote)
    }

    /// The same for the compound that the thread's writer holds.
    func sendReports() {
        guard let flow, !tools.reports.isEmpty else { return }
        let room = tools.room
        tools.reports.bytes.withUnsafeBytes { room.copyMemory(from: $0) }
        guard let size = try? sender?.protectRTCP(room, count: tools.reports.bytes.count) else { return }
        tools.send(room.upTo(size), from: descriptor, to: flow.remote)
    }
}

/// What the run told of a leg's beginning.
struct LegBegin: Sendable {
    /// When the offer was made.
    let offered: UInt64
    /// Somebody whose media should come is there already.
    let expectsMedia: Bool
    /// Where it is noted when something has been said.
    var speech: SpeechLog?
}
