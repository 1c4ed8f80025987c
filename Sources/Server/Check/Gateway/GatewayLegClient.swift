import DatagramIO
import ICE
import OpenSSLCrypto
import STUN
import SecureMedia
import Wire

/// A client of the media gateway that waits for each step: ICE over one address, DTLS, then SRTP both ways.
final class GatewayLegClient {
    private enum Stage {
        case checking
        case handshaking
        case connected
    }

    /// For ICE and DTLS together.
    private static let timeoutNanoseconds: UInt64 = 4_000_000_000
    private static let pollMilliseconds: Int32 = 20

    /// The name of the negotiated SRTP profile, once connected.
    private(set) var profile = ""
    private let address: TransportAddress
    private let flow: Flow
    private let socket: ClientSocket
    private let offer: GatewayLegOffer
    private let answer: GatewayLegAnswer
    private let authentication: OpenSSLAuthentication
    private let exchange = DTLSExchange()
    private var stage = Stage.checking
    private var agent: ControllingAgent
    private var messages = MessageWriter()
    private var outbox = CheckOutbox()
    private var handshake: MediaHandshake?
    private var sender: SRTPSender?
    private var receiver: SRTPReceiver?
    private var sequence: UInt16 = 1

    init(_ offer: GatewayLegOffer, _ answer: GatewayLegAnswer, over address: TransportAddress) throws(CheckProblem) {
        guard let authentication = OpenSSLAuthentication(), let seed = OpenSSLRandom.integer() else {
            throw Self.noMemory
        }
        socket = try Self.open(address)
        self.address = address
        self.offer = offer
        self.answer = answer
        self.authentication = authentication
        flow = Flow(.udp, local: socket.local, remote: address)
        agent = ControllingAgent(
            offer.credentials, answer.credentials, flows: [flow], seed: seed, at: SystemClock.now())
    }

    private static func open(_ address: TransportAddress) throws(CheckProblem) -> ClientSocket {
        do throws(ClientSocket.Failure) {
            return try ClientSocket(.datagram, to: address, milliseconds: 1_000)
        } catch {
            throw CheckProblem(
                "there is no route to \(address), which the gateway gives to clients",
                remedy: "Correct relay.externalAddress or relay.listen.")
        }
    }

    // MARK: Connecting

    /// ICE, then DTLS, until the keys of SRTP are there.
    func connect() throws(CheckProblem) {
        let deadline = SystemClock.now().adding(nanoseconds: Self.timeoutNanoseconds)
        while stage != .connected {
            let now = SystemClock.now()
            guard now < deadline else { throw timeout }
            if let due = agent.deadline, due <= now {
                try handle(agent.advance(to: now, authentication, &messages, into: &outbox))
            }
            if stage == .handshaking, handshake?.retransmission == 0, handshake?.retransmit() == false { throw timeout }
            try flush()
            guard var datagram = try receive(milliseconds: Self.pollMilliseconds) else { continue }
            switch datagram.first {
            case .some(0...3): try receiveCheck(datagram)
            case .some(20...63):
                let outcome = datagram.withUnsafeMutableBytes { handshake?.receive($0) ?? .nothing }
                try handle(outcome)
            default: break
            }
            try flush()
        }
    }

    private func receiveCheck(_ datagram: [UInt8]) throws(CheckProblem) {
        guard let message = try? Message(datagram.span.bytes) else { return }
        let event = agent.receive(
            message, on: flow, at: SystemClock.now(), authentication, &messages, into: &outbox)
        try handle(event)
    }

    private func handle(_ event: ControllingAgent.Event) throws(CheckProblem) {
        switch event {
        case .nothing: return
        case .selected:
            guard stage == .checking else { return }
            handshake = MediaHandshake.begin(offer.context, exchange, peer: answer.fingerprints)
            guard handshake != nil else { throw Self.noMemory }
            stage = .handshaking
        case .failed(.refused(let number)):
            throw CheckProblem(
                "an ICE check over UDP \(address) is rejected with \(number)",
                remedy: "Another program listens on UDP port \(address.port): change gateway.port.")
        case .failed: throw timeout
        }
    }

    private func handle(_ outcome: MediaHandshake.Outcome) throws(CheckProblem) {
        switch outcome {
        case .nothing: return
        case .established(let material):
            sender = SRTPSender.make(material.client)
            receiver = SRTPReceiver.make(material.server)
            guard sender != nil, receiver != nil else { throw Self.noMemory }
            profile = material.client.profile.name
            stage = .connected
        case .closed:
            throw CheckProblem("the gateway ended the leg over UDP \(address)", remedy: "Look at the server's log.")
        case .failed(.wrongCertificate):
            throw CheckProblem(
                "UDP \(address) shows another certificate than the gateway's answer",
                remedy: "Another gateway has that address: correct relay.externalAddress or gateway.port.")
        case .failed:
            throw CheckProblem(
                "the DTLS handshake over UDP \(address) fails", remedy: "Check gateway.srtpProfiles.")
        }
    }

    private var timeout: CheckProblem {
        switch stage {
        case .checking:
            CheckProblem(
                "no response to ICE checks over UDP \(address)",
                remedy: "Open UDP port \(address.port) in the firewall, and one more for each further thread of the "
                    + "gateway (gateway.port, gateway.workers). Behind a NAT, the router has to forward them, also for "
                    + "this machine.")
        case .handshaking, .connected:
            CheckProblem(
                "ICE works over UDP \(address), but the DTLS handshake gets no response",
                remedy: "Does a firewall drop UDP packets of 1200 bytes, or all but STUN?")
        }
    }

    private static let noMemory = CheckProblem("OpenSSL has no memory or no random numbers")

    // MARK: Media

    /// Sends an Opus packet that ends with `marker`.
    func sendAudio(_ marker: [UInt8]) {
        sequence &+= 1
        var packet: [UInt8] = [0x80, GatewayLegOffer.opus]
        packet += Self.bigEndian(sequence) + Self.bigEndian(UInt32(sequence) &* 960) + Self.bigEndian(offer.ssrc)
        // 20 ms of SILK at 8 kHz, one frame (RFC 6716 section 3.1).
        packet += [0x08] + marker
        var buffer = packet + [UInt8](repeating: 0, count: SRTPSender.maximumExpansion)
        let count = buffer.withUnsafeMutableBytes { try? sender?.protectRTP($0, count: packet.count) }
        guard let count else { return }
        // What is lost is sent again.
        try? socket.send(Array(buffer.prefix(count)), milliseconds: 100)
    }

    /// Whether an authentic packet arrives that ends with `marker`.
    func receives(_ marker: [UInt8], until deadline: Instant) -> Bool {
        repeat {
            let now = SystemClock.now()
            let left = now < deadline ? deadline.nanoseconds(since: now) / 1_000_000 : 0
            guard var datagram = (try? receive(milliseconds: Int32(clamping: left &+ 1))) ?? nil else { continue }
            // RFC 5761 section 4: RTCP has packet types from 192 to 223.
            guard datagram.count > 12, (128...191).contains(datagram[0]), !(192...223).contains(datagram[1]) else {
                continue
            }
            let count = datagram.withUnsafeMutableBytes { try? receiver?.unprotectRTP($0) }
            if let count, datagram.prefix(count).suffix(marker.count).elementsEqual(marker) { return true }
        } while SystemClock.now() < deadline
        return false
    }

    /// Sends a close_notify, so that the gateway ends the leg at once.
    func close() {
        handshake?.close()
        try? flush()
    }

    private static func bigEndian(_ value: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: value.bigEndian) { Array($0) }
    }

    // MARK: Datagrams

    /// Sends what ICE and DTLS wrote.
    private func flush() throws(CheckProblem) {
        for message in outbox.takeAll() { try send(message) }
        for index in 0..<exchange.count { try send(Array(exchange[index])) }
        exchange.removeAll()
    }

    private func send(_ datagram: [UInt8]) throws(CheckProblem) {
        do throws(ClientSocket.Failure) {
            try socket.send(datagram, milliseconds: 100)
        } catch {
            try explain(error)
        }
    }

    private func receive(milliseconds: Int32) throws(CheckProblem) -> [UInt8]? {
        do throws(ClientSocket.Failure) {
            return try socket.receive(milliseconds: milliseconds)
        } catch {
            try explain(error)
            return nil
        }
    }

    /// A closed port is known at once. What a firewall rejects may be one packet of many: the timeout tells.
    private func explain(_ failure: ClientSocket.Failure) throws(CheckProblem) {
        guard failure == .refused else { return }
        throw CheckProblem(
            "nothing listens on UDP \(address)",
            remedy: "Does a firewall reject it, or is relay.externalAddress another machine's? Open UDP port "
                + "\(address.port) (gateway.port).")
    }
}

/// Keeps an agent's messages until they are sent.
private struct CheckOutbox: Outbox {
    private var messages: [[UInt8]] = []

    mutating func send(_ message: RawSpan, on flow: Flow) {
        messages.append(message.withUnsafeBytes { Array($0) })
    }

    mutating func takeAll() -> [[UInt8]] {
        defer { messages = [] }
        return messages
    }
}
