import ICE
import OpenSSLCrypto
import STUN
import SecureMedia
import Wire

/// A participant: what it knows, and what it would send.
final class FuzzClient {
    /// The number of its leg, 0 while it has none.
    var number: UInt64 = 0
    var credentials: LocalCredentials?
    var hasKeys: Bool { sender != nil }
    /// It waits for the handshake.
    private(set) var isPassive = false
    /// DTLS datagrams in flight.
    var underWay: [[UInt8]] = []
    /// The newest check and the newest packet of media that were made.
    var latestCheck: [UInt8] = []
    var latestMedia: [UInt8] = []

    private let setup: LegFuzzHarness
    private let exchange = DTLSExchange()
    private var handshake: MediaHandshake?
    private var sender: SRTPSender?
    private var transactions: UInt64 = 0
    private var sequence: UInt16 = 65_000

    init(_ setup: LegFuzzHarness) {
        self.setup = setup
    }

    /// A leg of its own, with a password that nobody had before.
    func begin(_ number: UInt64, _ credentials: LocalCredentials, isPassive: Bool) {
        self.number = number
        self.isPassive = isPassive
        self.credentials = credentials
        handshake = nil
        sender = nil
        underWay = []
        latestCheck = []
        latestMedia = []
    }

    func check(_ choice: UInt8) -> [UInt8] {
        guard let credentials else { return [] }
        transactions += 1
        var writer = MessageWriter()
        writer.begin(MessageType(.request, .binding), TransactionID(UInt32(truncatingIfNeeded: number), transactions))
        writer.append(.username, text: "\(credentials.ufrag.text):peer")
        writer.append(.iceControlling, integer: UInt64.max)
        writer.append(.priority, integer: UInt32(1))
        if choice & 1 != 0 { writer.append(.useCandidate, bytes: []) }
        _ = writer.appendIntegrity(.sha1, key: credentials.password.span.bytes, setup.authentication)
        writer.appendFingerprint()
        latestCheck = writer.bytes
        return latestCheck
    }

    // MARK: DTLS

    func startHandshake() {
        handshake = MediaHandshake.begin(
            isPassive ? setup.clientContexts.server : setup.clientContexts.client, exchange, peer: setup.ofServer)
        collect()
    }

    func receive(_ datagram: [UInt8]) {
        guard let first = datagram.first, (20...63).contains(first) else { return }
        var datagram = datagram
        let outcome = datagram.withUnsafeMutableBytes { handshake?.receive($0) ?? .nothing }
        if case .established(let material) = outcome { establish(material) }
        collect()
    }

    func sayAgain() {
        _ = handshake?.retransmit()
        collect()
    }

    func close() {
        handshake?.close()
        collect()
    }

    private func collect() {
        for index in 0..<exchange.count where underWay.count < 64 { underWay.append(Array(exchange[index])) }
        exchange.removeAll()
    }

    // MARK: Media

    func establish(_ material: SRTPKeyingMaterial) {
        sender = SRTPSender.make(material.keys(isServer: isPassive).own, maximumSources: 300)
    }

    /// A packet of RTP with the fields that the input gives, protected.
    func media(_ fields: [UInt8], payload: [UInt8]) -> [UInt8] {
        sequence &+= UInt16(fields[0] & 15)
        let sources: [UInt32] = [11, 22, 23, 33, UInt32(fields[1])]
        var packet: [UInt8] = [0x90, [111, 96, 97, 98][Int(fields[2] & 3)]]
        packet.append(bigEndian: sequence)
        packet.append(bigEndian: UInt32(sequence) &* 960)
        packet.append(bigEndian: sources[Int(fields[3]) % sources.count])
        packet += [0xBE, 0xDE, 0, 2, 0x10, 0x30 + (fields[1] & 3), 0x20, fields[2] & 4 == 0 ? 0x6C : 0x68]
        packet += [0x31, 0, fields[0], 0]
        return protected(packet + [0x90, 0x80, 0x80, fields[3], fields[2] >> 3 & 1] + payload, isReport: false)
    }

    /// Any bytes as RTP or RTCP, protected if they have a header.
    func raw(_ bytes: [UInt8], isReport: Bool) -> [UInt8] {
        var bytes = bytes
        // The payload type is what tells the one from the other.
        if bytes.count > 1 { bytes[1] = isReport ? 192 | bytes[1] & 31 : bytes[1] & 63 }
        return protected(bytes, isReport: isReport)
    }

    private func protected(_ packet: [UInt8], isReport: Bool) -> [UInt8] {
        var buffer = packet + [UInt8](repeating: 0, count: SRTPSender.maximumExpansion)
        let count = buffer.withUnsafeMutableBytes { bytes in
            isReport
                ? try? sender?.protectRTCP(bytes, count: packet.count)
                : try? sender?.protectRTP(bytes, count: packet.count)
        }
        guard let count else { return [] }
        latestMedia = Array(buffer.prefix(count))
        return latestMedia
    }
}
