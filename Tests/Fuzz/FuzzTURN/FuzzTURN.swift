import FuzzInput
import OpenSSLCrypto
import STUN
import Synchronization
import TURN
import Wire

/// A sequence of datagrams, peers' packets and passing seconds, read from the input, against a TURN engine. Some messages
/// are taken as they are; for others the input only says what a client asks, and the harness signs it, so that the fuzzer
/// reaches what lies behind the authentication.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzTURN(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let harness = Harness() else { return 0 }
    var input = FuzzInput(UnsafeRawBufferPointer(start: start, count: count))
    var steps = 0
    while !input.isEmpty, steps < 200 {
        harness.step(&input)
        steps += 1
    }
    harness.finish()
    return 0
}

private final class Relays: LiveRelays {
    let open = Mutex<Set<TransportAddress>>([])
    func local(of address: TransportAddress) -> TransportAddress? {
        open.withLock { $0.contains(address) } ? address : nil
    }
}

private struct Recorder: ~Copyable, RelayOutbox {
    var requests: [RelayRequest] = []
    var closed: [RelayID] = []
    var ended = 0
    var handedOver = 0
    var kept: Set<Flow> = []
    var ticket: [UInt8]?
    var isTold = false
    var nonce: [UInt8]?
    var isSuccess = false

    mutating func send(_ bytes: RawSpan, on flow: Flow) {
        guard let message = try? Message(bytes) else { fatalError("an answer that is no message") }
        if let given = message.attribute(.nonce) { nonce = given.copyToArray() }
        if message.type.messageClass == .success { isSuccess = true }
        if message.type.messageClass == .indication { isTold = true }
        if let given = message.attribute(.mobilityTicket) { ticket = given.copyToArray() }
    }
    mutating func openRelay(_ request: RelayRequest) { requests.append(request) }
    mutating func closeRelay(_ relay: RelayID) { closed.append(relay) }
    mutating func connectPeer(_ connection: PeerConnectionID, from relay: RelayID, to peer: TransportAddress) {}
    mutating func bindPeer(_ connection: PeerConnectionID, to flow: Flow) {}
    mutating func closePeer(_ connection: PeerConnectionID) {}
    mutating func endAllocation(_ allocation: AllocationID, user: String) { ended += 1 }
    mutating func handOver(_ message: RawSpan, on flow: Flow, to worker: UInt8) { handedOver += 1 }
    mutating func keep(_ flow: Flow, at worker: UInt8) { kept.insert(flow) }
    mutating func forget(_ flow: Flow, at worker: UInt8) { kept.remove(flow) }
}

private final class Harness {
    private static let server = IPAddress(ipv4: 0x0A00_0001)
    private var engine: TURNEngine
    private let relays = Relays()
    private let authentication: OpenSSLAuthentication
    private var now = Instant(nanoseconds: 1_000_000_000)
    private var bound: [RelayID: TransportAddress] = [:]
    private var live = 0
    private var nextPort: UInt16 = 50_000
    private var nonces: [[UInt8]] = Array(repeating: [], count: 4)
    private let key: [UInt8]
    /// The last ticket that was given out, good or not.
    private var ticket: [UInt8] = []
    /// Every address that a signed request was granted. Never less than what the engine may send to.
    private var granted: Set<IPAddress> = []

    init?() {
        guard let authentication = OpenSSLAuthentication(), let other = OpenSSLAuthentication(),
            let discovery = NATDiscovery(Self.server, IPAddress(ipv4: 0x0A00_0002), port: 3478, otherPort: 3479)
        else { return nil }
        self.authentication = authentication
        let seed = Array("key".utf8)
        let name = Array("u".utf8)
        key =
            PasswordAlgorithm.md5.key(
                username: name.span.bytes, realm: "r", password: Array("p".utf8), authentication)?.copyToArray() ?? []
        engine = TURNEngine(
            credentials: Credentials(realm: "r", users: ["u": "p"], secrets: ["secret of the fuzzer"]),
            policy: PeerPolicy(allowed: [], own: [Self.server], externals: [], deniedOwnPorts: [80], live: relays),
            nonces: NonceMint(key: Digest(seed.span.bytes)), limiter: AnswerLimiter(perSecond: 0, burst: 0, seed: 1),
            authentication: other)
        engine.credentials.tokenKeys = ["k": [UInt8](repeating: 7, count: 32)]
        engine.decryption = OpenSSLDecryption()
        engine.tickets = TicketMint(key: Digest(seed.span.bytes), worker: 0)
        engine.discoveries = [discovery]
        engine.alternates = [TransportAddress(IPAddress(ipv4: 0x0505_0505), port: 3478)]
        engine.limits = AllocationLimits(bytesPerSecond: 3000, packetsPerSecond: 20, newPeersPerSecond: 1)
    }

    func step(_ input: inout FuzzInput) {
        let client = Int(input.byte() & 3)
        let flow = Flow(
            .udp, local: TransportAddress(Self.server, port: 3478),
            remote: TransportAddress(IPAddress(ipv4: 0x0101_0101), port: UInt16(1000 + client)))
        switch input.byte() & 7 {
        case 0:
            receive(input.take(Int(input.byte())), on: flow, client, isSigned: false)
        case 1, 5:
            receive(signed(client, &input), on: flow, client, isSigned: true)
        case 2:
            fromPeer(&input)
        case 4:
            errorFromPeer(&input)
        case 6:
            if input.byte() & 1 == 0 {
                engine.keepStranger(flow, of: 1)
            } else {
                engine.forgetStranger(flow, of: 1)
            }
        case 7:
            receive(signed(client, &input), on: flow, client, isSigned: true, isHandedOver: true)
        default:
            now = now.adding(seconds: UInt32(input.byte()) * 8)
            var recorder = Recorder()
            engine.advance(to: now, into: &recorder)
            settle(&recorder)
        }
    }

    func finish() {
        var recorder = Recorder()
        engine.endAll(into: &recorder)
        settle(&recorder)
        if live != 0 || !bound.isEmpty || engine.allocationCount != 0 { fatalError("something was not given back") }
    }

    private func signed(_ client: Int, _ input: inout FuzzInput) -> [UInt8] {
        let methods: [STUN.Method] = [.allocate, .refresh, .createPermission, .channelBind]
        var writer = MessageWriter()
        writer.begin(MessageType(.request, methods[Int(input.byte() & 3)]), TransactionID(1, UInt64(input.byte())))
        if input.byte() & 1 == 0 { writer.append(.requestedTransport, integer: UInt32(17) << 24) }
        let kinds: [AttributeType] = [
            .xorPeerAddress, .channelNumber, .lifetime, .evenPort, .reservationToken, .requestedAddressFamily,
            .additionalAddressFamily, .dontFragment, .mobilityTicket, .accessToken, .userHash, .padding,
        ]
        for _ in 0..<(input.byte() & 3) {
            let kind = kinds[Int(input.byte()) % kinds.count]
            let size = input.byte()
            let isTicket = kind == .mobilityTicket && size & 0x20 != 0
            writer.append(kind, bytes: isTicket ? ticket : input.take(Int(size & 31)))
        }
        writer.append(.username, text: "u")
        writer.append(.realm, text: "r")
        writer.append(.nonce, bytes: nonces[client])
        let key = key
        _ = writer.appendIntegrity(.sha1, key: key.span.bytes, authentication)
        return writer.bytes
    }

    private func receive(
        _ bytes: [UInt8], on flow: Flow, _ client: Int, isSigned: Bool, isHandedOver: Bool = false
    ) {
        var recorder = Recorder()
        let forward =
            isHandedOver
            ? engine.receiveHandedOver(bytes.span.bytes, on: flow, from: 1, at: now, into: &recorder)
            : engine.receive(bytes.span.bytes, on: flow, at: now, into: &recorder)
        if let given = recorder.ticket { ticket = given }
        if isSigned, recorder.isSuccess { grant(bytes) }
        if isHandedOver, recorder.kept.contains(flow), !engine.hasAllocation(on: flow) {
            fatalError("a guest without an allocation")
        }
        if let nonce = recorder.nonce { nonces[client] = nonce }
        if !isSigned, !recorder.requests.isEmpty || !recorder.closed.isEmpty { fatalError("not authenticated") }
        if let forward {
            if !granted.contains(forward.destination.address) { fatalError("to a peer without permission") }
            if bound[forward.relay] == nil { fatalError("through a relay that is not open") }
            if forward.payload.upperBound > bytes.count { fatalError("more than the client sent") }
            let isOwn = forward.destination.address == Self.server
            if isOwn, relays.local(of: forward.destination) == nil { fatalError("to an own port that is no relay") }
            if SpecialRanges.contains(forward.destination.address), !isOwn { fatalError("to a special address") }
        }
        settle(&recorder)
    }

    private func grant(_ bytes: [UInt8]) {
        guard let message = try? Message(bytes.span.bytes) else { return }
        let transaction = message.transaction
        var peers: [TransportAddress] = []
        message.visitAttributes { type, value in
            if type == .xorPeerAddress, let peer = TransportAddress(xorValue: value, transaction: transaction) {
                peers.append(peer)
            }
        }
        for peer in peers { granted.insert(peer.address) }
    }

    private func errorFromPeer(_ input: inout FuzzInput) {
        guard let relay = bound.keys.first else { return }
        let peer = TransportAddress(IPAddress(ipv4: UInt32(input.byte()) << 24 | 0x0101_0101), port: 9)
        let error = PeerError(type: input.byte(), code: input.byte(), mtu: UInt32(input.byte()) << 8)
        var recorder = Recorder()
        engine.receiveError(error, on: relay, from: peer, at: now, into: &recorder)
        if recorder.isTold, !granted.contains(peer.address) { fatalError("an error of a peer without permission") }
    }

    private func fromPeer(_ input: inout FuzzInput) {
        guard let relay = bound.keys.first else { return }
        let peer = TransportAddress(
            IPAddress(ipv4: UInt32(input.byte()) << 24 | 0x0101_0101), port: UInt16(input.byte()))
        if engine.receiveFromPeer(on: relay, from: peer, byteCount: 100, at: now) != nil,
            !granted.contains(peer.address)
        {
            fatalError("from a peer without permission")
        }
    }

    private func settle(_ recorder: inout Recorder) {
        for id in recorder.closed {
            guard let address = bound.removeValue(forKey: id) else { fatalError("closed twice") }
            relays.open.withLock { _ = $0.remove(address) }
        }
        live -= recorder.ended
        let requests = recorder.requests
        recorder.requests = []
        for request in requests {
            nextPort &+= 1
            guard nextPort & 7 != 0 else {
                engine.relayRefused(request.allocation, .allocationQuotaReached, into: &recorder)
                continue
            }
            live += 1
            let local = TransportAddress(Self.server, port: nextPort)
            bound[RelayID(request.allocation, .ipv4)] = local
            relays.open.withLock { _ = $0.insert(local) }
            engine.relayOpened(
                request.allocation, RelayOpening(relay: .init(local: local, told: local)), at: now, into: &recorder)
        }
        if live != engine.allocationCount { fatalError("allocations and charges differ") }
    }
}
