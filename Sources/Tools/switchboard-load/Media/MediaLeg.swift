import DatagramIO
import ICE
import OpenSSLCrypto
import RTP
import SDP
import STUN
import SecureMedia
import Wire

/// One PeerConnection of a virtual participant, with its own socket: ICE checks, then the DTLS handshake, then media
/// both ways. It belongs to one thread, which passes in datagrams and ticks.
final class MediaLeg {
    enum Stage: Equatable {
        case checking
        case handshaking
        case live
        case over(String)
    }

    /// How often `tick` must be called.
    static let tickInterval: UInt64 = 20_000_000
    private static let receiveBuffer: Int32 = 1 << 20

    let plan: LegPlan
    let tools: MediaTools
    let tracks: [SendingTrack]
    var streams: [ReceivedStream]
    /// The index in `streams` of each SSRC, of media or retransmissions.
    let streamIndices: [UInt32: (index: Int, isRepair: Bool)]
    private(set) var stage = Stage.checking
    let begin: LegBegin
    private let socket: DatagramSocket
    private let local: TransportAddress
    private let context: MediaContext
    private var agent: ControllingAgent
    private var handshake: MediaHandshake?
    private(set) var flow: Flow?
    private var sender: SRTPSender?
    private var receiver: SRTPReceiver?
    private var transportSequence: UInt16 = 0
    var arrivals = ArrivalLog()
    /// The SSRC of its reports.
    let reporter: UInt32
    var nextFeedback: UInt64 = 0
    var nextReport: UInt64 = 0
    var hasMedia = false
    /// Whether its participant leaves the call, so that the server ends it.
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
        let localAddress: IPAddress = first.address.isLoopback ? first.address : .any(first.address.family)
        do {
            socket = try DatagramSocket(
                TransportAddress(localAddress, port: 0), .exclusive, receiveBuffer: Self.receiveBuffer)
        } catch {
            throw MediaFailure("no socket: \(error.description); ulimit -n bounds the legs")
        }
        _ = socket.stampArrivals()
        guard let local = socket.address else { throw MediaFailure("a socket without an address") }
        self.local = local
        agent = ControllingAgent(
            plan.local, plan.remote, flows: plan.candidates.map { Flow(.udp, local: local, remote: $0) },
            seed: tools.random.next(), at: SystemClock.now())
        var random = tools.random
        tracks = plan.tracks.map { SendingTrack($0, plan.extensions, bitrate: bitrate, speech: speech, &random) }
        streams = plan.streams.map(ReceivedStream.init)
        var streamIndices: [UInt32: (index: Int, isRepair: Bool)] = [:]
        for (index, stream) in plan.streams.enumerated() {
            streamIndices[stream.ssrc] = (index, false)
            if let repair = stream.retransmissionSSRC { streamIndices[repair] = (index, true) }
        }
        self.streamIndices = streamIndices
        reporter = plan.tracks.first?.ssrc ?? UInt32.random(in: 1..<UInt32.max, using: &random)
        tools.random = random
    }

    var descriptor: Int32 { socket.descriptor }
    var isLive: Bool { stage == .live }
    func clock() -> Instant { SystemClock.now() }

    // MARK: Setup

    /// Handles timeouts.
    func tick(_ now: Instant) {
        if let deadline = agent.deadline, deadline <= now {
            let event = agent.advance(
                to: now, tools.authentication, &tools.messages,
                into: &outbox)
            handle(event)
        }
        switch stage {
        case .checking, .over: return
        case .handshaking:
            guard handshake?.retransmission == 0 else { return }
            if handshake?.retransmit() == false { end("the DTLS handshake gets no response") }
            flushHandshake()
        case .live: report(now)
        }
    }

    private var outbox: CheckOutbox {
        get { CheckOutbox(tools: tools, socket: socket.descriptor) }
        set {}
    }

    private func handle(_ event: ControllingAgent.Event) {
        switch event {
        case .nothing: return
        case .failed(.noResponse): end("no ICE check got a response")
        case .failed(.refused(let number)): end("an ICE check was rejected with \(number)")
        case .failed(.consentExpired): end("the other side has not responded to a check for 30 s")
        case .selected(let flow):
            self.flow = flow
            handshake = MediaHandshake.begin(context, tools.exchange, peer: plan.fingerprints)
            guard handshake != nil else { return end("OpenSSL has no memory") }
            stage = .handshaking
            flushHandshake()
        }
    }

    private func establish(_ material: SRTPKeyingMaterial) {
        sender = SRTPSender.make(material.client)
        receiver = SRTPReceiver.make(material.server)
        handshake?.releaseBuffers()
        guard sender != nil, receiver != nil else { return end("OpenSSL has no memory") }
        tools.counters.profiles[material.client.profile.name, default: 0] += 1
        stage = .live
    }

    private func end(_ why: String) {
        if case .over = stage { return }
        stage = .over(why)
    }

    /// Sends a goodbye, which may get lost.
    func close() {
        if isLive {
            tools.reports.begin()
            tools.reports.appendReceiverReport(from: reporter)
            tools.reports.appendGoodbye([reporter])
            sendReports()
        }
        handshake?.close()
        flushHandshake()
        tools.flush()
    }

    /// Sends what the handshake wrote.
    private func flushHandshake() {
        let exchange = tools.exchange
        if let flow {
            for index in 0..<exchange.count {
                tools.sendCopy(exchange[index].bytes, from: descriptor, to: flow.remote)
            }
        }
        exchange.removeAll()
    }

    // MARK: Receiving

    /// Receives a datagram, and demultiplexes it by its first byte (RFC 7983).
    ///
    /// - Parameter arrival: when the kernel received it.
    func receive(
        _ datagram: UnsafeMutableRawBufferPointer, from source: TransportAddress, arrival: Instant?, at now: Instant
    ) {
        guard let first = datagram.first else { return }
        switch first {
        case 0...3: receiveCheck(datagram, source, now)
        case 20...63: receiveHandshake(datagram, source)
        case 128...191:
            guard isLive, source == flow?.remote else { return reject() }
            if RTCPCompound.isLikely(UnsafeRawBufferPointer(datagram).bytes) {
                receiveReports(datagram, now)
            } else {
                receiveMedia(datagram, arrival, now)
            }
        default: reject()
        }
    }

    private func reject() { tools.counters.refused += 1 }

    private func receiveCheck(_ datagram: UnsafeMutableRawBufferPointer, _ source: TransportAddress, _ now: Instant) {
        do {
            let message = try Message(UnsafeRawBufferPointer(datagram).bytes)
            let event = agent.receive(
                message, on: Flow(.udp, local: local, remote: source), at: now, tools.authentication, &tools.messages,
                into: &outbox)
            handle(event)
        } catch {
            reject()
        }
    }

    private func receiveHandshake(_ datagram: UnsafeMutableRawBufferPointer, _ source: TransportAddress) {
        guard source == flow?.remote, handshake != nil else { return reject() }
        let outcome = handshake?.receive(datagram) ?? .nothing
        switch outcome {
        case .nothing: break
        case .established(let material): establish(material)
        case .closed: end("the other side ended the leg")
        case .failed(.wrongCertificate): end("the other side shows another certificate than it signalled")
        case .failed(.noProfile): end("the other side has no SRTP profile in common")
        case .failed: end("the DTLS handshake failed")
        }
        flushHandshake()
    }

    private func receiveMedia(_ datagram: UnsafeMutableRawBufferPointer, _ arrival: Instant?, _ now: Instant) {
        do {
            let count = try receiver?.unprotectRTP(datagram) ?? 0
            tools.counters.received += 1
            receiveRTP(datagram.upTo(count), arrival: arrival, at: now)
        } catch {
            reject()
        }
    }

    private func receiveReports(_ datagram: UnsafeMutableRawBufferPointer, _ now: Instant) {
        do {
            let count = try receiver?.unprotectRTCP(datagram) ?? 0
            read(UnsafeRawBufferPointer(datagram.upTo(count)).bytes, at: now)
        } catch {
            reject()
        }
    }

    // MARK: Sending

    /// Sets the header extensions that differ in each packet: the next transport-wide sequence number, and the send
    /// time.
    func number(_ values: inout ExtensionValues, at now: Instant) {
        values.transportSequence = transportSequence
        transportSequence &+= 1
        values.absoluteSendTime = AbsoluteSendTime.value(at: now)
    }

    /// Protects the RTP packet at the start of `buffer`, and sends it.
    func protectAndSend(_ buffer: UnsafeMutableRawBufferPointer, count: Int) {
        guard let flow, let size = try? sender?.protectRTP(buffer, count: count) else { return }
        junk.remember(buffer.upTo(size))
        tools.send(buffer.upTo(size), from: descriptor, to: flow.remote)
    }

    /// Protects and sends the RTCP compound of the thread's writer.
    func sendReports() {
        guard let flow, !tools.reports.isEmpty else { return }
        let buffer = tools.nextBuffer
        tools.reports.bytes.withUnsafeBytes { buffer.copyMemory(from: $0) }
        guard let size = try? sender?.protectRTCP(buffer, count: tools.reports.bytes.count) else { return }
        tools.send(buffer.upTo(size), from: descriptor, to: flow.remote)
    }
}

/// What the run passes to a leg at its start.
struct LegBegin: Sendable {
    /// When the offer was made.
    let offered: UInt64
    /// Whether a publisher is in the call already.
    let expectsMedia: Bool
    /// Where the ends of speeches are logged.
    var speech: SpeechLog?
}
