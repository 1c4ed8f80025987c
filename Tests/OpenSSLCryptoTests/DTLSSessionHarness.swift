import DTLS
import Foundation
import OpenSSLCrypto
import TestSupport
import Testing
import Wire

extension HelloCounters {
    init(challenges: UInt64, verified: UInt64) {
        self.init()
        self.challenges = challenges
        self.verified = verified
    }
}

/// A client and a server of DTLS with a wire of arrays between them; with a seed, a bad wire.
final class DTLSSessionHarness {
    private(set) var verifier: HelloVerifier
    private(set) var receivedByServer: [[UInt8]] = []
    private(set) var receivedByClient: [[UInt8]] = []
    private(set) var serverEnd: DTLSSession.Reading?
    private(set) var clientEnd: DTLSSession.Reading?
    /// Datagrams of the client that held a part of a hello with a cookie.
    private(set) var hellosOfClient = 0
    private(set) var largestOfServer = 0

    private let serverContext: DTLSContext
    private let atServer = DTLSExchange()
    private let atClient = DTLSExchange()
    private var server: DTLSSession?
    private var client: DTLSSession?
    private var toServer: [[UInt8]] = []
    private var toClient: [[UInt8]] = []
    private var random: SeededRandom?
    private let filter = RecordFilter()
    private let buffer = UnsafeMutableRawBufferPointer.allocate(
        byteCount: DTLSSession.maximumPlaintextByteCount, alignment: 16)
    private let flow = Flow(
        .dtls, local: TransportAddress(IPAddress(ipv4: 0x0A00_0001), port: 5349),
        remote: TransportAddress(IPAddress(ipv4: 0x0101_0101), port: 1000))
    private let now = Instant(nanoseconds: 1_000_000_000_000)

    init(
        algorithm: String = "ec:P-256", mtu: Int = 1200, seed: UInt64? = nil, trusting: String? = nil,
        trustsItself: Bool = false,
        name: String = "localhost"
    ) throws {
        let files = try TestCertificate.make(algorithm: algorithm)
        let certificate = try ServerCertificate(chainFile: files.certificate, keyFile: files.key)
        serverContext = try #require(DTLSContext.server(certificate))
        let context = try #require(DTLSContext.client(authorities: trustsItself ? files.certificate : trusting))
        let key = Array("key".utf8)
        verifier = HelloVerifier(
            cookies: CookieGenerator(key: Digest(key.span.bytes)), authentication: try #require(OpenSSLAuthentication())
        )
        random = seed.map { SeededRandom(seed: $0) }
        client = DTLSSession.connecting(name, context, atClient, mtu: mtu)
        collectFromClient()
    }

    deinit {
        buffer.deallocate()
    }

    var isEstablished: Bool {
        server?.phase == .established && client?.phase == .established
    }

    enum Content {
        case serverHello
    }

    /// Carries datagrams to and fro until there are none.
    func run(dropping isDropped: (Set<Content>) -> Bool = { _ in false }) {
        while !toServer.isEmpty || !toClient.isEmpty {
            for datagram in impaired(&toServer) { receiveAtServer(datagram) }
            for datagram in impaired(&toClient) {
                largestOfServer = max(largestOfServer, datagram.count < 9000 ? datagram.count : 0)
                if isDropped(contents(datagram)) { continue }
                receiveAtClient(datagram)
            }
        }
    }

    private func contents(_ datagram: [UInt8]) -> Set<Content> {
        datagram.count > 13 && datagram[0] == 22 && datagram[13] == 2 ? [.serverHello] : []
    }

    /// What a bad wire makes of some datagrams; the first of a hello stays first, since nothing is kept without it.
    private func impaired(_ datagrams: inout [[UInt8]]) -> [[UInt8]] {
        defer { datagrams = [] }
        guard var generator = random else { return datagrams }
        var result = datagrams + datagrams.filter { _ in Bool.random(using: &generator) }
        let isOfEpochZero = result.allSatisfy { $0.count > 4 && $0[3] == 0 && $0[4] == 0 && $0[0] == 22 }
        if isOfEpochZero, let first = result.first, first.count > 13, first[13] == 1 {
            result = [first] + result.dropFirst().shuffled(using: &generator)
        } else if result.allSatisfy({ $0.first == 23 }) {
            result.shuffle(using: &generator)
        }
        random = generator
        return result.flatMap { [junk(), $0, junk()] }
    }

    private func junk() -> [UInt8] {
        guard var generator = random else { return [] }
        defer { random = generator }
        switch Int.random(in: 0...6, using: &generator) {
        case 0: return generator.bytes(40)
        case 1: return [21, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 9, 0, 2, 2, 40]
        case 2: return [20, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 9, 0, 1, 2]
        case 3: return [22, 0xFE, 0xFD, 0, 1, 0, 0, 0, 0, 0, 9, 0, 40] + generator.bytes(40)
        case 4: return [23, 0xFE, 0xFD, 0, 1, 0, 0, 0, 0, 0, 9, 0, 60] + generator.bytes(60)
        case 5: return [23, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 9, 0, 4, 1, 2, 3, 4]
        default: return [22, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 9, 0, 12, 14, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0]
        }
    }

    private func receiveAtServer(_ datagram: [UInt8]) {
        switch verifier.receive(datagram.span.bytes, on: flow, at: now) {
        case .nothing, .refused: break
        case .unverified(let hello):
            if let challenge = verifier.challenge(hello, of: datagram.span.bytes, at: now) {
                toClient.append(challenge)
            }
        case .verified(let hello):
            if server == nil { server = DTLSSession.accepting(hello, serverContext, atServer) }
            collectFromServer()
        }
        var offset = 0
        while let record = RecordHeader(datagram.span.bytes, at: offset) {
            offset = record.body.upperBound
            guard server != nil, filter.admits(record, of: datagram.span.bytes, in: server?.phase ?? .established)
            else {
                continue
            }
            var reading = datagram.withUnsafeBytes {
                server?.take(UnsafeRawBufferPointer(rebasing: $0[record.whole]), into: buffer) ?? .nothing
            }
            while case .data(let count) = reading {
                receivedByServer.append(Array(buffer.prefix(count)))
                reading = server?.read(into: buffer) ?? .nothing
            }
            if reading != .nothing { serverEnd = reading }
            collectFromServer()
        }
    }

    private func receiveAtClient(_ datagram: [UInt8]) {
        // Forged records go to the server only: the filter knows what clients send.
        guard random == nil || !isJunkForClient(datagram) else { return }
        var reading = datagram.withUnsafeBytes { client?.take($0, into: buffer) ?? .nothing }
        while case .data(let count) = reading {
            receivedByClient.append(Array(buffer.prefix(count)))
            reading = client?.read(into: buffer) ?? .nothing
        }
        if reading != .nothing { clientEnd = reading }
        collectFromClient()
    }

    private func isJunkForClient(_ datagram: [UInt8]) -> Bool {
        datagram.count < 13 || datagram[0] == 21 || datagram[10] == 9
    }

    private func collectFromServer() {
        for index in 0..<atServer.count { toClient.append(Array(atServer[index])) }
        atServer.removeAll()
    }

    private func collectFromClient() {
        for index in 0..<atClient.count {
            let datagram = Array(atClient[index])
            if datagram.count > 25, datagram[0] == 22, datagram[13] == 1, datagram[18] == 1 { hellosOfClient += 1 }
            toServer.append(datagram)
        }
        atClient.removeAll()
    }

    func sendFromClient(_ message: [UInt8]) -> Bool {
        defer { collectFromClient() }
        return message.withUnsafeBytes { client?.write($0) ?? false }
    }

    func respond(_ message: [UInt8]) -> Bool {
        defer { collectFromServer() }
        return message.withUnsafeBytes { server?.write($0) ?? false }
    }

    func closeClient() {
        client?.close()
        collectFromClient()
    }

    func closeServer() {
        server?.close()
        collectFromServer()
    }

    func releaseServerBuffers() {
        server?.releaseBuffers()
    }

    /// Waits until the server's retransmission is due, and triggers it.
    func waitAndRetransmit() -> Bool {
        while let left = server?.retransmission, left > 0 { usleep(useconds_t(left / 1000 + 1)) }
        defer { collectFromServer() }
        return server?.retransmission == 0 && server?.retransmit() == true && atServer.count > 0
    }

    /// Whether OpenSSL begins a session with a hello that has these bytes behind its cookie.
    func opens(hello rest: [UInt8]) -> Bool {
        func datagram(_ cookie: [UInt8], _ number: UInt8) -> [UInt8] {
            let message = [0xFE, 0xFD] + [UInt8](repeating: 7, count: 32) + [0, UInt8(cookie.count)] + cookie + rest
            let length: [UInt8] = [0, UInt8(message.count >> 8), UInt8(message.count & 255)]
            let handshake = [1] + length + [0, number, 0, 0, 0] + length + message
            return [
                22, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, number, UInt8(handshake.count >> 8), UInt8(handshake.count & 255),
            ]
                + handshake
        }
        let first = datagram([], 0)
        guard case .unverified(let hello) = verifier.receive(first.span.bytes, on: flow, at: now),
            let challenge = verifier.challenge(hello, of: first.span.bytes, at: now),
            case .verified(let verified) = verifier.receive(
                datagram(Array(challenge[28...]), 1).span.bytes, on: flow, at: now)
        else {
            Issue.record("not let in")
            return true
        }
        server = DTLSSession.accepting(verified, serverContext, atServer)
        return server != nil
    }
}
