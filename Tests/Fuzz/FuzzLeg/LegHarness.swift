import DatagramIO
import FuzzInput
import Gateway
import ICE
import MediaGateway
import SDP
import SecureMedia
import Synchronization
import Wire

/// One run: a worker, three participants, and what is known of both.
final class LegHarness {
    private static let participants = 3
    private static let addresses = 40

    private let setup: LegFuzzHarness
    private var worker: GatewayWorker
    private let clients: [FuzzClient]
    private let events = Events()
    private var now = Instant(nanoseconds: 1_000_000_000_000)
    private var lastNumber: UInt64 = 0
    private var handshakes = 0

    private final class Events: Sendable {
        let count = Atomic<Int>(0)
    }

    init?(_ setup: LegFuzzHarness) {
        self.setup = setup
        clients = (0..<Self.participants).map { _ in FuzzClient(setup) }
        let events = events
        let shared = GatewayShared(setup.contexts) { _ in events.count.add(1, ordering: .relaxed) }
        guard let mailbox = GatewayMailbox(),
            let made = GatewayWorker.make([setup.socket], [], shared, mailbox, at: now, seed: 1, handshakes: .unlimited)
        else { return nil }
        worker = made
        for index in clients.indices { _ = setup.take(index) }
    }

    func step(_ input: inout FuzzInput) {
        let kind = input.byte()
        let clientIndex = Int(kind >> 5) % clients.count
        let client = clients[clientIndex]
        let address = Int(input.byte())
        switch kind & 31 {
        case 0, 1: open(client, clientIndex, withKeys: kind & 1 == 0)
        case 2, 3: deliver(client.check(input.byte()), from: address)
        case 4: forge(changed(client.latestCheck, &input), from: address)
        case 5:
            // Sent again it is answered or not, and that is all.
            let packet = client.latestCheck
            unchanged { deliver(packet, from: address) }
        case 6: startHandshake(client)
        case 7, 8, 9: deliver(flight(client, &input), from: address)
        case 10: deliver(changed(client.underWay.last ?? [], &input), from: address)
        case 11, 12: pump()
        case 13: client.sayAgain()
        case 14, 15, 16:
            deliver(
                client.media(input.take(4) + [0, 0, 0, 0], payload: input.take(Int(input.byte() & 63))), from: address)
        case 17: deliver(client.raw(input.take(Int(input.byte())), isReport: false), from: address)
        case 18, 19: deliver(client.raw(input.take(Int(input.byte())), isReport: true), from: address)
        case 20, 21: forge(changed(client.latestMedia, &input), from: address)
        case 22: replay(client, from: address)
        case 23: noise(input.take(Int(input.byte())), from: address)
        case 24, 25: pass(milliseconds: UInt64(input.byte()) * (kind & 1 == 0 ? 200 : 5))
        case 26: restart(client)
        case 27: end(client, LegEnd.allCases[address % LegEnd.allCases.count])
        case 28: client.close()
        case 29: keepAlive()
        default: pass(milliseconds: 10)
        }
        verify()
    }

    /// Everything ends, and nothing is left.
    func finish() {
        for client in clients { end(client, .left) }
        pass(milliseconds: 1000)
        let left = worker.report
        guard left.legs == 0, left.connectedLegs == 0, left.flows == 0, left.ufrags == 0, left.calls == 0,
            left.tracks == 0, left.connections == 0
        else { fatalError("something is left: \(left)") }
    }

    private func verify() {
        let held = worker.report
        guard held.legs <= clients.count, held.connectedLegs <= held.legs, held.ufrags <= 2 * held.legs,
            held.flows <= LiteAgent.maximumFlows * held.legs, held.tracks <= 2 * held.connectedLegs,
            held.calls <= held.connectedLegs, held.legs >= held.connectedLegs
        else { fatalError("more than there may be: \(held)") }
    }

    // MARK: Legs

    private func open(_ client: FuzzClient, _ clientIndex: Int, withKeys: Bool) {
        guard worker.legs[client.number] == nil, lastNumber < 12 else { return }
        lastNumber += 1
        guard let credentials = credentials() else { return }
        let isPassive = !withKeys && lastNumber % 3 == 0
        client.begin(lastNumber, credentials, isPassive: isPassive)
        let negotiated = isPassive ? setup.negotiatedPassive : setup.negotiated
        let opening = LegOpening(
            number: lastNumber, key: LegKey(call: clientIndex < 2 ? "one" : "two", participant: "\(lastNumber)"),
            credentials: credentials, negotiated: withKeys ? setup.negotiatedForNobody : negotiated)
        guard worker.open(opening) != nil else { fatalError("a leg that cannot be made") }
        guard withKeys, let leg = worker.legs[lastNumber], let material = material() else { return }
        // As if a handshake had been: it takes a hundred times as long as everything else.
        deliver(client.check(1), from: clientIndex)
        client.establish(material)
        worker.connect(leg, material)
    }

    private func credentials() -> LocalCredentials? {
        secrets &+= 1
        let bytes = [UInt8](repeating: secrets, count: LocalCredentials.randomByteCount)
        return LocalCredentials(random: bytes.span.bytes)
    }

    private var secrets: UInt8 = 0

    /// Keys that no other leg has.
    private func material() -> SRTPKeyingMaterial? {
        let profile = SRTPProfile.preferred[Int(lastNumber) % SRTPProfile.preferred.count]
        let count = SRTPKeyingMaterial.byteCount(for: profile)
        return SRTPKeyingMaterial(profile, exported: (0..<count).map { UInt8(truncatingIfNeeded: $0) &+ secrets })
    }

    private func restart(_ client: FuzzClient) {
        guard worker.legs[client.number] != nil, secrets < 60, let credentials = credentials() else { return }
        guard worker.renegotiate(client.number, setup.negotiated, [:], credentials) != nil else {
            fatalError("its own name")
        }
        client.credentials = credentials
    }

    private func end(_ client: FuzzClient, _ reason: LegEnd) {
        if let leg = worker.legs[client.number] { worker.end(leg, reason) }
    }

    private func startHandshake(_ client: FuzzClient) {
        guard handshakes < 3, !client.hasKeys else { return }
        handshakes += 1
        client.startHandshake()
    }

    /// One of the datagrams in flight, which may stay there to be duplicated.
    private func flight(_ client: FuzzClient, _ input: inout FuzzInput) -> [UInt8] {
        guard !client.underWay.isEmpty else { return [] }
        let choice = input.byte()
        let index = Int(choice & 15) % client.underWay.count
        return choice & 0x80 == 0 ? client.underWay.remove(at: index) : client.underWay[index]
    }

    /// The clients check from their own addresses, as they do every few seconds.
    private func keepAlive() {
        for (clientIndex, client) in clients.enumerated() where worker.legs[client.number] != nil {
            deliver(client.check(1), from: clientIndex)
        }
    }

    // MARK: Datagrams and time

    private func flow(_ address: Int) -> Flow {
        let index = address % Self.addresses
        let remote =
            index < setup.clients.count
            ? setup.clients[index].address
            : TransportAddress(IPAddress(ipv4: 0x7F00_0002), port: UInt16(truncatingIfNeeded: 9 + index))
        return Flow(.udp, local: setup.socket.address, remote: remote)
    }

    private func deliver(_ datagram: [UInt8], from address: Int) {
        var datagram = datagram
        datagram.withUnsafeMutableBytes { worker.receive($0, on: flow(address)) }
    }

    private func pass(milliseconds: UInt64) {
        now = now.adding(nanoseconds: milliseconds * 1_000_000)
        let now = now
        worker.turn(waiting: 0) { now }
    }

    private func pump() {
        pass(milliseconds: 0)
        for (index, client) in clients.enumerated() {
            for datagram in setup.take(index) { client.receive(datagram) }
        }
    }

    // MARK: What is not authentic

    private func forge(_ packet: [UInt8], from address: Int) {
        guard !packet.isEmpty else { return }
        // As DTLS it would be judged by the handshake.
        if let first = packet.first, (20...63).contains(first) { return deliver(packet, from: address) }
        unchanged { deliver(packet, from: address) }
    }

    /// A packet of media that was delivered before, or is delivered now, changes nothing the second time.
    private func replay(_ client: FuzzClient, from address: Int) {
        let packet = client.latestMedia
        guard !packet.isEmpty else { return }
        deliver(packet, from: address)
        unchanged { deliver(packet, from: address) }
    }

    private func noise(_ bytes: [UInt8], from address: Int) {
        if let first = bytes.first, (20...63).contains(first) { return deliver(bytes, from: address) }
        unchanged { deliver(bytes, from: address) }
    }

    private func unchanged(_ body: () -> Void) {
        let (before, eventCount) = (state(), events.count.load(ordering: .relaxed))
        body()
        guard state() == before, events.count.load(ordering: .relaxed) == eventCount else {
            fatalError("what nobody signed changed something: \(before) \(state())")
        }
    }

    /// What the worker holds and did, but for counts of datagrams.
    private func state() -> GatewayStats {
        var stats = worker.report
        stats.dropped = GatewayStats.Dropped()
        stats.packetsReceived = 0
        stats.bytesReceived = 0
        stats.checksAnswered = 0
        stats.packetsLost = 0
        return stats
    }

    private func changed(_ packet: [UInt8], _ input: inout FuzzInput) -> [UInt8] {
        var packet = packet
        guard !packet.isEmpty else { return [] }
        let choice = input.byte()
        switch choice & 3 {
        case 0, 1: packet[(Int(input.byte()) | Int(choice & 4) << 6) % packet.count] ^= max(1, input.byte())
        case 2: packet.removeLast(1 + Int(input.byte()) % packet.count)
        default: packet += input.take(1 + Int(input.byte() & 63)) + [choice]
        }
        return packet
    }
}
