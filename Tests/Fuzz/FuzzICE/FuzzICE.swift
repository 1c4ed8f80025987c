import FuzzInput
import ICE
import OpenSSLCrypto
import STUN
import Wire

/// Legs under connectivity checks that the input describes: valid ones, as their client could send them; the same
/// changed, cut, lengthened or sent again; bytes as they are; restarts, connections that close, and time. Checked on
/// the way: only what a client signed is answered, once and to where it came from; what is not authentic changes
/// nothing; a leg has no more flows and generations than it may, and the directory knows those and no others.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzICE(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = UnsafeRawBufferPointer(start: start, count: count)
    checkFraming(bytes)
    guard let harness = ICEHarness() else { return 0 }
    var input = FuzzInput(bytes)
    var steps = 0
    while !input.isEmpty, steps < 300 {
        harness.step(&input)
        steps += 1
    }
    return 0
}

/// Made once: OpenSSL takes longer to look its functions up than a run takes. libFuzzer has one thread.
nonisolated(unsafe) private let openSSL = OpenSSLAuthentication()

/// Whatever a stream has, its packets lie one behind the other and in it, and are written as they were read.
private func checkFraming(_ bytes: UnsafeRawBufferPointer) {
    var rest = bytes
    while case .packet(let range) = PacketFraming.next(rest.bytes) {
        guard range.lowerBound == 2, range.upperBound <= rest.count else { fatalError("a packet beyond the stream") }
        withUnsafeTemporaryAllocation(byteCount: 2, alignment: 2) { header in
            var target = header.mutableBytes
            guard PacketFraming.writeHeader(payload: range.count, into: &target),
                header.elementsEqual(rest.prefix(2))
            else { fatalError("a header that is written otherwise") }
        }
        rest = UnsafeRawBufferPointer(rebasing: rest[range.upperBound...])
    }
    guard case .incomplete(let byteCount) = PacketFraming.next(rest.bytes), byteCount > rest.count else {
        fatalError("it waits for what is there")
    }
}

private struct Sent: Outbox {
    var messages: [(bytes: [UInt8], flow: Flow)] = []

    mutating func send(_ message: RawSpan, on flow: Flow) {
        messages.append((message.copyToArray(), flow))
    }
}

private final class ICEHarness {
    private struct Leg {
        var agent: LiteAgent
        var credentials: [LocalCredentials]
        var names: [String]
    }

    private let authentication: OpenSSLAuthentication
    private var legs: [Leg] = []
    private var table = UfragTable<Int>()
    private var now = Instant(nanoseconds: 1_000_000_000_000)
    private var writer = MessageWriter()
    private var made: Set<[UInt8]> = []
    private var latest: [UInt8] = []
    private var restarts: UInt8 = 0

    init?() {
        guard let openSSL else { return nil }
        authentication = openSSL
        for _ in 0..<2 {
            guard let credentials = freshCredentials() else { return nil }
            let agent = LiteAgent(credentials, remoteUfrag: "peer", at: now)
            _ = table.add(credentials.ufrag, legs.count)
            legs.append(Leg(agent: agent, credentials: [credentials], names: ["peer"]))
        }
    }

    private func freshCredentials() -> LocalCredentials? {
        restarts &+= 1
        let bytes = [UInt8](repeating: restarts, count: LocalCredentials.randomByteCount)
        return LocalCredentials(random: bytes.span.bytes)
    }

    func step(_ input: inout FuzzInput) {
        let kind = input.byte()
        let legIndex = Int(kind >> 7)
        let flow = flow(input.byte())
        switch kind & 7 {
        case 0, 1: receive(check(legIndex, &input), on: flow)
        case 2: receive(changed(latest, &input), on: flow)
        case 3: receive(latest, on: flow)
        case 4: receive(input.take(Int(input.byte())), on: flow)
        case 5: restart(legIndex)
        case 6: legs[legIndex].agent.forget(flow)
        default: pass(seconds: UInt32(input.byte() & 31))
        }
        for leg in legs { verify(leg) }
        guard table.count == legs.reduce(0, { $0 + $1.agent.ufrags.count }) else { fatalError("a name too many") }
    }

    private func verify(_ leg: Leg) {
        let flows = leg.agent.validFlows
        guard flows.count <= LiteAgent.maximumFlows, Set(flows).count == flows.count else { fatalError("flows") }
        guard leg.agent.ufrags.count <= 2 else { fatalError("generations") }
        if let selected = leg.agent.selected, !flows.contains(selected) { fatalError("media to nowhere") }
    }

    private func flow(_ choice: UInt8) -> Flow {
        Flow(
            choice & 1 == 0 ? .udp : .tcp, local: TransportAddress(IPAddress(ipv4: 0x7F00_0001), port: 3480),
            remote: TransportAddress(IPAddress(ipv4: 0xC000_0201), port: UInt16(choice >> 1)))
    }

    /// A check of one of the leg's generations; each part of it may be as it should not be.
    private func check(_ legIndex: Int, _ input: inout FuzzInput) -> [UInt8] {
        let leg = legs[legIndex]
        let (choice, more) = (input.byte(), input.byte())
        let index = Int(more & 3) % leg.credentials.count
        let credentials = leg.credentials[index]
        writer.begin(MessageType(.request, .binding), TransactionID(1, UInt64(input.byte())))
        writer.append(.username, text: "\(credentials.ufrag.text):\(leg.names[index])")
        writer.append(more & 16 == 0 ? .iceControlling : .iceControlled, integer: UInt64.max)
        if more & 32 == 0 { writer.append(.priority, integer: UInt32(1)) }
        if choice & 1 != 0 { writer.append(.useCandidate, bytes: []) }
        if choice & 2 != 0 { writer.append(.nomination, integer: UInt32(input.byte())) }
        if choice & 4 != 0 { writer.append(AttributeType(rawValue: UInt16(input.byte())), bytes: input.take(8)) }
        let algorithm: IntegrityAlgorithm = choice & 8 == 0 ? .sha1 : .sha256
        _ = writer.appendIntegrity(algorithm, key: credentials.password.span.bytes, authentication)
        writer.appendFingerprint()
        latest = writer.bytes
        made.insert(latest)
        return latest
    }

    private func changed(_ packet: [UInt8], _ input: inout FuzzInput) -> [UInt8] {
        var packet = packet
        let choice = input.byte()
        guard !packet.isEmpty else { return [] }
        switch choice & 3 {
        case 0: packet[Int(input.byte()) % packet.count] ^= input.byte() | 1
        case 1: packet.removeLast(min(packet.count, Int(input.byte())))
        case 2: packet += input.take(Int(input.byte() & 31))
        default:
            // The length says that there is more, and an attribute stands behind the integrity.
            packet += [0, 0x25, 0, 0]
            packet[3] &+= 4
        }
        return packet
    }

    private func receive(_ bytes: [UInt8], on flow: Flow) {
        guard let message = try? Message(bytes.span.bytes), let legIndex = table.leg(for: message) else {
            // A client's own check can have a name that is over.
            return
        }
        let before = legs[legIndex].agent
        var sent = Sent()
        let outcome = legs[legIndex].agent.receive(message, on: flow, at: now, authentication, &writer, into: &sent)
        if case .dropped = outcome {
            let after = legs[legIndex].agent
            guard sent.messages.isEmpty, after.validFlows == before.validFlows, after.selected == before.selected,
                after.deadline == before.deadline
            else { fatalError("what was dropped changed something") }
            return
        }
        guard made.contains(bytes) else { fatalError("a response to an unsigned check") }
        guard sent.messages.count == 1, let response = sent.messages.first, response.flow == flow,
            (try? Message(response.bytes.span.bytes)) != nil
        else { fatalError("not exactly one response to the source") }
        guard case .answered(let changes) = outcome else { return }
        if let ended = changes.ended { table.remove(ended) }
        if let removed = changes.removed, legs[legIndex].agent.isValid(removed) {
            fatalError("removed, and still there")
        }
        if let added = changes.added, before.isValid(added) { fatalError("added twice") }
    }

    private func restart(_ legIndex: Int) {
        guard restarts < 60, let credentials = freshCredentials() else { return }
        let name = "peer\(restarts)"
        guard table.add(credentials.ufrag, legIndex) else { fatalError("its own name") }
        if let ended = legs[legIndex].agent.restart(credentials, remoteUfrag: name) { table.remove(ended) }
        legs[legIndex].credentials.insert(credentials, at: 0)
        legs[legIndex].names.insert(name, at: 0)
    }

    private func pass(seconds: UInt32) {
        now = now.adding(seconds: seconds)
        for legIndex in legs.indices {
            var removed: [Flow] = []
            let loss = legs[legIndex].agent.advance(to: now, removed: &removed)
            guard Set(removed).count == removed.count, !removed.contains(where: { legs[legIndex].agent.isValid($0) })
            else {
                fatalError("removed, and still there")
            }
            if loss != nil, !legs[legIndex].agent.validFlows.isEmpty { fatalError("lost with a flow left") }
        }
    }
}
