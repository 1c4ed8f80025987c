import Glibc
import OpenSSLCrypto
import SecureMedia
import TestSupport
import Testing
import Wire

/// Both ends of a media handshake with a wire of arrays between them; with a seed, a bad wire.
final class SecureMediaHarness {
    private(set) var atServer: [MediaHandshake.Outcome] = []
    private(set) var atClient: [MediaHandshake.Outcome] = []
    private(set) var largest = 0
    /// Datagrams with a part of the client's hello.
    private(set) var helloDatagrams = 0

    private let serverExchange = DTLSExchange()
    private let clientExchange = DTLSExchange()
    private var server: MediaHandshake?
    private var client: MediaHandshake?
    private var toServer: [[UInt8]] = []
    private var toClient: [[UInt8]] = []
    private var random: SeededRandom?
    /// By how much the client's record numbers are too low, since its hello was cut into more records behind its back.
    var addedRecords: UInt8 = 0

    init(
        server serverProfiles: [SRTPProfile] = SRTPProfile.preferred,
        client clientProfiles: [SRTPProfile] = SRTPProfile.preferred, seed: UInt64? = nil,
        expected: [CertificateFingerprint]? = nil
    ) throws {
        let (one, other) = (try #require(MediaIdentity.make()), try #require(MediaIdentity.make()))
        let serverContext = try #require(MediaContext.server(one, profiles: serverProfiles))
        let clientContext = try #require(MediaContext.client(other, profiles: clientProfiles))
        let ofClient = try #require(other.fingerprint())
        let ofServer = try #require(one.fingerprint(.sha512))
        server = MediaHandshake.begin(serverContext, serverExchange, peer: expected ?? [ofClient])
        client = MediaHandshake.begin(clientContext, clientExchange, peer: [ofServer])
        random = seed.map { SeededRandom(seed: $0) }
        collect()
    }

    var rejectedByServer: UInt64 { server?.rejectedRecords ?? 0 }
    var idleAtServer: UInt64 { server?.idleRecords ?? 0 }
    var isEstablished: Bool { server?.isEstablished == true && client?.isEstablished == true }

    var serverMaterial: SRTPKeyingMaterial? { Self.material(atServer) }
    var clientMaterial: SRTPKeyingMaterial? { Self.material(atClient) }

    private static func material(_ outcomes: [MediaHandshake.Outcome]) -> SRTPKeyingMaterial? {
        for case .established(let material) in outcomes { return material }
        return nil
    }

    /// Carries datagrams to and fro until there are none.
    func run() {
        while !toServer.isEmpty || !toClient.isEmpty {
            for datagram in impaired(&toServer, withJunk: true) { deliverToServer(renumbered(datagram)) }
            for datagram in impaired(&toClient, withJunk: false) {
                var datagram = datagram
                let outcome = datagram.withUnsafeMutableBytes { client?.receive($0) ?? .nothing }
                if outcome != .nothing { atClient.append(outcome) }
                collect()
            }
        }
    }

    /// The same until both have their keys, with retransmissions when they are due.
    func runToTheEnd() {
        for _ in 0..<2000 {
            run()
            if isEstablished { return }
            usleep(5000)
            if server?.retransmission == 0 { _ = server?.retransmit() }
            if client?.retransmission == 0 { _ = client?.retransmit() }
            collect()
        }
    }

    func deliverToServer(_ bytes: [UInt8]) {
        var datagram = bytes
        let outcome = datagram.withUnsafeMutableBytes { server?.receive($0) ?? .nothing }
        if outcome != .nothing { atServer.append(outcome) }
        collect()
    }

    /// Plain records are not authenticated, so a number can be changed.
    private func renumbered(_ datagram: [UInt8]) -> [UInt8] {
        var datagram = datagram
        var offset = 0
        while offset + 13 <= datagram.count {
            if datagram[offset + 3] == 0, datagram[offset + 4] == 0 { datagram[offset + 10] += addedRecords }
            offset += 13 + Int(datagram[offset + 11]) * 256 + Int(datagram[offset + 12])
        }
        return datagram
    }

    func takeFromClient() -> [[UInt8]] {
        defer { toServer = [] }
        return toServer
    }

    func closeServer() {
        server?.releaseBuffers()
        server?.close()
        collect()
    }

    private func collect() {
        for index in 0..<serverExchange.count { toClient.append(Array(serverExchange[index])) }
        for index in 0..<clientExchange.count {
            let datagram = Array(clientExchange[index])
            if datagram.count > 13, datagram[0] == 22, datagram[13] == 1 { helloDatagrams += 1 }
            toServer.append(datagram)
        }
        for datagram in toClient + toServer { largest = max(largest, datagram.count) }
        serverExchange.removeAll()
        clientExchange.removeAll()
    }

    private func impaired(_ datagrams: inout [[UInt8]], withJunk: Bool) -> [[UInt8]] {
        defer { datagrams = [] }
        guard var generator = random else { return datagrams }
        defer { random = generator }
        var result = datagrams.filter { _ in Int.random(in: 0...9, using: &generator) > 0 }
        result += datagrams.filter { _ in Bool.random(using: &generator) }
        result.shuffle(using: &generator)
        return withJunk ? result.flatMap { [Self.junk(&generator), $0] } : result
    }

    /// What anyone could send in the client's name.
    private static func junk(_ generator: inout SeededRandom) -> [UInt8] {
        switch Int.random(in: 0...6, using: &generator) {
        case 0: generator.bytes(40)
        case 1: [21, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 9, 0, 2, 2, 40]
        case 2: [20, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 9, 0, 1, 2]
        case 3: [22, 0xFE, 0xFD, 0, 1, 0, 0, 0, 0, 0, 9, 0, 41] + generator.bytes(41)
        case 4: [23, 0xFE, 0xFD, 0, 1, 0, 0, 0, 0, 0, 9, 0, 5] + generator.bytes(5)
        case 5: [23, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 9, 0, 4, 1, 2, 3, 4]
        default: [22, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 9, 0, 12, 14, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0]
        }
    }
}

/// A hello as one datagram, cut into fragments of so many bytes, each in a record and a datagram of its own.
func fragments(of datagram: [UInt8], byteCount: Int) -> [[UInt8]] {
    let message = Array(datagram[25...])
    func length(_ count: Int) -> [UInt8] { [UInt8(count >> 16 & 255), UInt8(count >> 8 & 255), UInt8(count & 255)] }
    return stride(from: 0, to: message.count, by: byteCount).enumerated().map { number, start in
        let part = message[start..<min(start + byteCount, message.count)]
        let fragment = [1] + length(message.count) + [0, 0] + length(start) + length(part.count) + part
        return [
            22, 0xFE, 0xFF, 0, 0, 0, 0, 0, 0, 0, UInt8(number), UInt8(fragment.count >> 8), UInt8(fragment.count & 255),
        ]
            + fragment
    }
}
