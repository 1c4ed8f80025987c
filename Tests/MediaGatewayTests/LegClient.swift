import ICE
import OpenSSLCrypto
import SDP
import STUN
import SecureMedia
import Testing
import Wire

/// A client of the gateway: real sockets, ICE, DTLS and SRTP, and a microphone that sends numbers.
final class LegClient {
    let name: String
    /// Of its microphone.
    var ssrc: UInt32
    /// Its own in the offers, and the one that the gateway knows it by.
    var ufrag = "peer"
    var negotiation = LegNegotiation(session: 1)
    /// The fingerprint in its offer; a test may set a wrong one.
    var claimed: CertificateFingerprint
    /// The gateway's, that it checks with.
    var remote: LocalCredentials?
    var number: UInt64 = 0
    /// The gateway's certificate, as an answer names it.
    var expected: [CertificateFingerprint] = []
    /// Success and error responses to its checks.
    private(set) var responses = 0
    private(set) var rejections = 0
    /// Authentic RTP payloads that it received, with the index of the socket.
    private(set) var received: [(word: UInt8, socketIndex: Int)] = []
    /// The results of DTLS after the keys.
    private(set) var outcomes: [MediaHandshake.Outcome] = []
    private(set) var isConnected = false
    /// Everything that it sent.
    private(set) var sent: [[UInt8]] = []
    var sockets: [TestSocket]
    /// The socket with which it sends.
    var socketIndex = 0
    /// How many DTLS datagrams it still sends.
    var handshakeDatagrams = Int.max
    /// The number of its video slots, whose sections follow those for audio.
    var videoSlots = 0
    /// The section in which it receives is `inactive` for now.
    var isInactive = false
    /// Zeros behind each word.
    var padding = 0
    /// It waits for the gateway to begin the handshake, as FFmpeg does.
    let isPassive: Bool
    /// `a=setup` of its next offer.
    var setup: String
    /// It has no section in which it receives.
    var onlySends = false

    private let authentication: OpenSSLAuthentication
    private let context: MediaContext
    private let server: TransportAddress
    private let exchange = DTLSExchange()
    private var handshake: MediaHandshake?
    private var keys: Keys?
    private var sequence: UInt16 = 100
    private var transactions: UInt64 = 0

    init(
        _ name: String, ssrc: UInt32, to server: TransportAddress, isStream: Bool = false,
        profiles: [SRTPProfile] = SRTPProfile.preferred, isPassive: Bool = false
    ) throws {
        self.name = name
        self.ssrc = ssrc
        self.server = server
        authentication = try #require(OpenSSLAuthentication())
        let identity = try #require(MediaIdentity.make())
        claimed = try #require(identity.fingerprint())
        let contexts = try #require(MediaContexts.make(identity, profiles: profiles))
        context = isPassive ? contexts.server : contexts.client
        self.isPassive = isPassive
        setup = isPassive ? "passive" : "actpass"
        sockets = [try TestSocket(to: server, isStream: isStream)]
    }

    /// Another socket to send from: another address.
    func move(to other: TransportAddress? = nil, isStream: Bool = false) throws {
        sockets.append(try TestSocket(to: other ?? server, isStream: isStream))
        socketIndex = sockets.count - 1
    }

    /// As if the network failed, and the kernel notified the gateway.
    func dropSockets() {
        for index in sockets.indices { sockets[index] = TestSocket.closed }
    }

    var offer: String {
        let own = claimed.bytes.map { byte in
            let text = String(byte, radix: 16, uppercase: true)
            return text.count < 2 ? "0" + text : text
        }
        let transport = """
            c=IN IP4 0.0.0.0\r\na=rtcp-mux\r\na=ice-ufrag:\(ufrag)\r\na=ice-pwd:abcdabcdabcdabcdabcdabcd\r
            a=setup:\(setup)\r\na=fingerprint:\(claimed.function.name) \(own.joined(separator: ":"))\r\n
            """
        let common = "a=rtpmap:111 opus/48000/2\r\n\(transport)"
        let videoSections = (0..<videoSlots).map { index in
            "m=video 9 UDP/TLS/RTP/SAVPF 96\r\na=mid:\(index + 2)\r\na=recvonly\r\na=rtpmap:96 VP8/90000\r\n\(transport)"
        }
        let mids = (0..<(onlySends ? 1 : videoSlots + 2)).map(String.init).joined(separator: " ")
        let receiving = """
            m=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=mid:1\r\na=\(isInactive ? "inactive" : "recvonly")\r\n\(common)\(videoSections.joined())
            """
        return """
            v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\na=group:BUNDLE \(mids)\r
            m=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=mid:0\r\na=sendonly\r\na=ssrc:\(ssrc) cname:c\r\n\(common)\
            \(onlySends ? "" : receiving)
            """
    }

    // MARK: What it sends

    func send(_ packet: [UInt8]) {
        sent.append(packet)
        sockets[socketIndex].send(packet)
    }

    /// A connectivity check with the credentials of the newest answer, or with others.
    func check(nominates: Bool = false, with credentials: LocalCredentials? = nil, as ufrag: String? = nil) {
        send(checkBytes(nominates: nominates, with: credentials, as: ufrag))
    }

    func checkBytes(
        nominates: Bool = false, with credentials: LocalCredentials? = nil, as ufrag: String? = nil
    ) -> [UInt8] {
        guard let credentials = credentials ?? remote else { return [] }
        transactions += 1
        var writer = MessageWriter()
        writer.begin(MessageType(.request, .binding), TransactionID(UInt32(truncatingIfNeeded: number), transactions))
        writer.append(.username, text: "\(credentials.ufrag.text):\(ufrag ?? self.ufrag)")
        writer.append(.iceControlling, integer: UInt64.max)
        writer.append(.priority, integer: UInt32(1))
        if nominates { writer.append(.useCandidate, bytes: []) }
        _ = writer.appendIntegrity(.sha1, key: credentials.password.span.bytes, authentication)
        writer.appendFingerprint()
        return writer.bytes
    }

    /// Sends a ClientHello, or waits for one.
    func startHandshake() {
        handshake = MediaHandshake.begin(context, exchange, peer: expected)
        sendHandshake()
    }

    func sendAudio(_ word: UInt8) {
        guard let packet = audioPacket(word) else { return }
        send(packet)
    }

    /// A packet of its microphone, protected.
    func audioPacket(_ word: UInt8, from source: UInt32? = nil) -> [UInt8]? {
        sequence &+= 1
        var packet: [UInt8] = [0x80, 111]
        packet += bigEndian(sequence) + bigEndian(UInt32(sequence) * 960) + bigEndian(source ?? ssrc) + [0x78, word]
        packet += [UInt8](repeating: 0, count: padding)
        return protected(packet) { try $0.protectRTP($1, count: $2) }
    }

    /// A receiver report about nothing, protected.
    func reportPacket() -> [UInt8]? {
        protected([0x80, 201, 0, 1] + bigEndian(ssrc)) { try $0.protectRTCP($1, count: $2) }
    }

    private func protected(
        _ packet: [UInt8],
        _ protect: (inout SRTPSender, UnsafeMutableRawBufferPointer, Int) throws -> Int
    ) -> [UInt8]? {
        var buffer = packet + [UInt8](repeating: 0, count: SRTPSender.maximumExpansion)
        let length = packet.count
        guard let keys else { return nil }
        let count = buffer.withUnsafeMutableBytes { try? protect(&keys.sender, $0, length) }
        return count.map { Array(buffer.prefix($0)) }
    }

    func close() {
        handshake?.close()
        sendHandshake()
    }

    private func sendHandshake() {
        for index in 0..<exchange.count where handshakeDatagrams > 0 {
            handshakeDatagrams -= 1
            send(Array(exchange[index]))
        }
        exchange.removeAll()
    }

    // MARK: What comes

    /// Handles all received packets, and returns how many.
    func takeAll() -> Int {
        var count = 0
        for index in sockets.indices {
            let packets = sockets[index].take()
            count += packets.count
            for packet in packets { take(packet, index) }
        }
        return count
    }

    private func take(_ packet: [UInt8], _ socketIndex: Int) {
        var packet = packet
        switch packet.first {
        case .some(0...3):
            guard let message = try? Message(packet.span.bytes) else { return }
            if message.type == MessageType(.success, .binding) { responses += 1 } else { rejections += 1 }
        case .some(20...63):
            let outcome = packet.withUnsafeMutableBytes { handshake?.receive($0) ?? .nothing }
            sendHandshake()
            handle(outcome)
        default:
            guard packet.count > 12, !(192...223).contains(packet[1]) else { return }
            let count = packet.withUnsafeMutableBytes { bytes in try? keys?.receiver.unprotectRTP(bytes) }
            if let count, count > 13 { received.append((packet[13], socketIndex)) }
        }
    }

    private func handle(_ outcome: MediaHandshake.Outcome) {
        switch outcome {
        case .nothing: break
        case .established(let material):
            keys = Keys(material, isServer: isPassive)
            isConnected = keys != nil
        case .closed, .failed: outcomes.append(outcome)
        }
    }
}

private final class Keys {
    var sender: SRTPSender
    var receiver: SRTPReceiver

    init?(_ material: SRTPKeyingMaterial, isServer: Bool) {
        let keys = material.keys(isServer: isServer)
        guard let sender = SRTPSender.make(keys.own, maximumSources: 2000),
            let receiver = SRTPReceiver.make(keys.peer)
        else {
            return nil
        }
        self.sender = sender
        self.receiver = receiver
    }
}

private func bigEndian(_ value: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: value.bigEndian) { Array($0) }
}
