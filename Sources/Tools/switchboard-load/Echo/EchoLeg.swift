import DatagramIO
import ICE
import OpenSSLCrypto
import RTP
import SDP
import STUN
import SecureMedia
import Wire

/// What a leg reports to its call.
enum EchoLegEvent: Hashable, Sendable {
    /// Media can flow; the address is the other side's.
    case connected(String)
    /// The first packet of this kind was sent back.
    case echoes(MediaKind)
    /// Once, as the last event: why it failed, or that the other side closed it.
    case ended(String)
}

/// One PeerConnection that sends back what it receives: ICE checks, then the DTLS handshake, then media. It belongs to
/// one thread, which passes in datagrams and ticks.
final class EchoLeg {
    private enum Stage {
        case connecting
        case live
        case over
    }

    let id: EchoWorker.LegID
    let sockets: [EchoSocket]
    let tools: MediaTools
    /// The SSRC of its reports.
    let reporter: UInt32
    private(set) var streams: [EchoStream] = []
    private(set) var extensions: HeaderExtensionIDs
    var demultiplexer: EchoDemultiplexer
    var arrivals = ArrivalLog()
    var nextFeedback: UInt64 = 0
    var nextReport: UInt64 = 0
    private var stage = Stage.connecting
    private var agent: EchoAgent
    /// Where media is sent; nil before a pair was nominated.
    private var flow: Flow?
    private var handshake: MediaHandshake?
    private let context: MediaContext
    private let fingerprints: [CertificateFingerprint]
    private var sender: SRTPSender?
    private var receiver: SRTPReceiver?
    private var transportSequence: UInt16 = 0
    private var echoed: Set<MediaKind> = []
    private let counts: EchoCounts
    private let report: @Sendable (EchoLegEvent) -> Void

    init(
        _ id: EchoWorker.LegID, _ plan: EchoLegPlan, _ counts: EchoCounts, _ tools: MediaTools, at now: Instant,
        report: @escaping @Sendable (EchoLegEvent) -> Void
    ) {
        self.id = id
        self.tools = tools
        self.counts = counts
        self.report = report
        sockets = plan.sockets
        context = plan.context
        fingerprints = plan.fingerprints
        extensions = plan.media.extensions
        demultiplexer = EchoDemultiplexer(plan.media.routes, plan.media.extensions)
        reporter = plan.media.routes.first?.ssrc ?? UInt32.random(in: 1..<UInt32.max, using: &tools.random)
        switch plan.role {
        case .controlling(let local, let remote, let candidates):
            let flows = plan.sockets.flatMap { socket in
                candidates.map { Flow(.udp, local: socket.address, remote: $0) }
            }
            agent = .controlling(
                ControllingAgent(local, remote, flows: flows, seed: tools.random.next(), at: now))
        case .lite(let local, let ufrag):
            agent = .lite(LiteAgent(local, remoteUfrag: ufrag, at: now))
            handshake = MediaHandshake.begin(plan.context, tools.exchange, peer: plan.fingerprints)
        }
        streams = plan.media.routes.map { EchoStream($0, plan.media.extensions, &tools.random) }
    }

    var isLive: Bool { stage == .live }
    var isOver: Bool { stage == .over }

    /// Applies a later offer. A stream that is still sent goes on.
    func apply(_ change: EchoChange) {
        if let restart = change.restart { agent.restart(restart.credentials, remoteUfrag: restart.remoteUfrag) }
        guard change.media != EchoMedia(routes: streams.map(\.route), extensions: extensions) else { return }
        let known = streams
        extensions = change.media.extensions
        demultiplexer = EchoDemultiplexer(change.media.routes, extensions)
        streams = change.media.routes.map { route in
            guard let stream = known.first(where: { $0.route.ssrc == route.ssrc }) else {
                return EchoStream(route, extensions, &tools.random)
            }
            stream.route = route
            return stream
        }
    }

    // MARK: Setup

    /// Handles timeouts; called every 20 ms.
    func tick(_ now: Instant) {
        if let deadline = agent.deadline, deadline <= now {
            var outbox = EchoOutbox(tools: tools, sockets: sockets)
            handle(agent.advance(to: now, tools.authentication, &tools.messages, into: &outbox))
        }
        switch stage {
        case .over: return
        case .connecting:
            guard handshake?.retransmission == 0 else { return }
            let continues = handshake?.retransmit() ?? false
            flushHandshake(to: flow)
            if !continues { end("the DTLS handshake gets no response") }
        case .live: sendDueReports(now)
        }
    }

    private func handle(_ event: EchoAgent.Event) {
        switch event {
        case .nothing: return
        case .failed(let why): end(why)
        case .selected(let flow):
            self.flow = flow
            // The lite side waits for the other side's ClientHello.
            guard handshake == nil else { return }
            handshake = MediaHandshake.begin(context, tools.exchange, peer: fingerprints)
            guard handshake != nil else { return end("OpenSSL has no memory") }
            flushHandshake(to: flow)
        }
    }

    private func establish(_ material: SRTPKeyingMaterial, on flow: Flow) {
        let (own, theirs) = context.isServer ? (material.server, material.client) : (material.client, material.server)
        sender = SRTPSender.make(own)
        receiver = SRTPReceiver.make(theirs)
        handshake?.releaseBuffers()
        guard sender != nil, receiver != nil else { return end("OpenSSL has no memory") }
        stage = .live
        report(.connected("\(flow.remote)"))
    }

    private func end(_ why: String) {
        guard stage != .over else { return }
        close()
        report(.ended(why))
    }

    /// Sends a goodbye, which may get lost, and closes DTLS.
    func close() {
        guard stage != .over else { return }
        if stage == .live {
            tools.reports.begin()
            tools.reports.appendReceiverReport(from: reporter)
            tools.reports.appendGoodbye(streams.map(\.route.ssrc))
            sendReports()
        }
        stage = .over
        handshake?.close()
        flushHandshake(to: flow)
        tools.flush()
    }

    /// Sends what the handshake wrote.
    private func flushHandshake(to flow: Flow?) {
        let exchange = tools.exchange
        if let flow, let descriptor = sockets.descriptor(of: flow) {
            for index in 0..<exchange.count {
                tools.sendCopy(exchange[index].bytes, from: descriptor, to: flow.remote)
            }
        }
        exchange.removeAll()
    }

    // MARK: Receiving

    /// Receives a datagram, and demultiplexes it by its first byte (RFC 7983).
    func receive(_ datagram: UnsafeMutableRawBufferPointer, on flow: Flow, at now: Instant) {
        guard let first = datagram.first, stage != .over else { return }
        switch first {
        case 0...3: receiveCheck(UnsafeRawBufferPointer(datagram), flow, now)
        case 20...63: if agent.isValid(flow) { receiveHandshake(datagram, flow) }
        case 128...191: if stage == .live, agent.isValid(flow) { receiveMedia(datagram, now) }
        default: break
        }
    }

    private func receiveCheck(_ datagram: UnsafeRawBufferPointer, _ flow: Flow, _ now: Instant) {
        guard let message = try? Message(datagram.bytes) else { return }
        var outbox = EchoOutbox(tools: tools, sockets: sockets)
        handle(agent.receive(message, on: flow, at: now, tools.authentication, &tools.messages, into: &outbox))
    }

    private func receiveHandshake(_ datagram: UnsafeMutableRawBufferPointer, _ flow: Flow) {
        guard handshake != nil else { return }
        let outcome = handshake?.receive(datagram) ?? .nothing
        flushHandshake(to: flow)
        switch outcome {
        case .nothing: break
        case .established(let material): establish(material, on: flow)
        case .closed: end("the other side closed it")
        case .failed(.wrongCertificate): end("the other side shows another certificate than it signalled")
        case .failed(.noProfile): end("the other side has no SRTP profile in common")
        case .failed: end("the DTLS handshake failed")
        }
    }

    private func receiveMedia(_ datagram: UnsafeMutableRawBufferPointer, _ now: Instant) {
        // A packet that is not authentic is dropped.
        if RTCPCompound.isLikely(UnsafeRawBufferPointer(datagram).bytes) {
            guard let count = try? receiver?.unprotectRTCP(datagram) else { return }
            receiveReports(UnsafeRawBufferPointer(datagram.upTo(count)).bytes, at: now)
        } else {
            guard let count = try? receiver?.unprotectRTP(datagram) else { return }
            counts.receive()
            receiveRTP(datagram.upTo(count), at: now)
        }
    }

    // MARK: Sending

    /// The header extensions of this hop for the next packet.
    func extensionValues(at now: Instant) -> ExtensionValues {
        var values = ExtensionValues()
        values.transportSequence = transportSequence
        values.absoluteSendTime = AbsoluteSendTime.value(at: now)
        return values
    }

    /// Protects the RTP packet at the start of `buffer`, and sends it.
    func protectAndSend(_ buffer: UnsafeMutableRawBufferPointer, count: Int, _ kind: MediaKind) {
        guard let flow, let descriptor = sockets.descriptor(of: flow),
            let size = try? sender?.protectRTP(buffer, count: count)
        else { return }
        transportSequence &+= 1
        tools.send(buffer.upTo(size), from: descriptor, to: flow.remote)
        counts.send(kind)
        if echoed.insert(kind).inserted { report(.echoes(kind)) }
    }

    /// Protects and sends the RTCP compound of the thread's writer.
    func sendReports() {
        guard let flow, let descriptor = sockets.descriptor(of: flow), !tools.reports.isEmpty else { return }
        let buffer = tools.nextBuffer
        tools.reports.bytes.withUnsafeBytes { buffer.copyMemory(from: $0) }
        guard let size = try? sender?.protectRTCP(buffer, count: tools.reports.bytes.count) else { return }
        tools.send(buffer.upTo(size), from: descriptor, to: flow.remote)
    }
}

/// Sends an agent's messages with the next batch, each from the socket of its flow.
private struct EchoOutbox: Outbox {
    let tools: MediaTools
    let sockets: [EchoSocket]

    func send(_ message: RawSpan, on flow: Flow) {
        guard let descriptor = sockets.descriptor(of: flow) else { return }
        tools.sendCopy(message, from: descriptor, to: flow.remote)
    }
}

extension [EchoSocket] {
    fileprivate func descriptor(of flow: Flow) -> Int32? {
        first { $0.address == flow.local }?.descriptor
    }
}
