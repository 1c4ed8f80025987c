import Gateway
import RTP
import SDP
import Testing
import Wire

/// A call in the gateway in a simulated environment: clients whose packets are made by hand, and a clock
/// that the test moves.
struct GatewayHarness: ~Copyable {
    var engine = GatewayEngine(random: SeededRandom(seed: 7))
    var outbox = SentToLegs()
    var now = Instant(nanoseconds: 5_000_000_000)

    /// A participant joins with tracks to send and slots to fill.
    mutating func join(_ name: String, _ client: Client, call: String = "call") throws -> LegID {
        let negotiated = try client.negotiate()
        return engine.join(call, as: name, negotiated, sources: client.sources, at: now, into: &outbox)
    }

    mutating func leave(_ leg: LegID) {
        engine.leave(leg, at: now, into: &outbox)
    }

    /// A later offer of the leg was answered.
    mutating func renegotiate(_ leg: LegID, _ client: Client) throws {
        let isKnown = engine.renegotiate(leg, try client.negotiate(), at: now, into: &outbox)
        try #require(isKnown)
    }

    @discardableResult
    mutating func setPreferences(_ preferences: [String: PreferredQuality], on leg: LegID) -> Bool {
        engine.setPreferences(preferences, on: leg)
    }

    func preferences(of leg: LegID) -> [String: PreferredQuality]? { engine.preferences(of: leg) }

    mutating func send(_ packet: [UInt8], from leg: LegID) {
        var bytes = packet
        var span = bytes.mutableSpan
        var target = span.mutableBytes
        engine.receiveRTP(&target, from: leg, at: now, into: &outbox)
    }

    mutating func report(_ datagram: [UInt8], from leg: LegID) {
        engine.receiveRTCP(datagram.span.bytes, from: leg, at: now, into: &outbox)
    }

    mutating func advance(milliseconds: UInt64) {
        for _ in 0..<max(1, milliseconds / 10) {
            now = now.adding(nanoseconds: min(milliseconds, 10) * 1_000_000)
            engine.advance(to: now, into: &outbox)
        }
    }
}

/// An event of the tap.
enum Tapped: Hashable {
    case began(TappedSource)
    case packet(TappedPacket, [UInt8])
    case ended(UInt32)
}

/// What the engine sent, by leg.
struct SentToLegs: GatewayOutbox {
    private(set) var packets: [LegID: [[UInt8]]] = [:]
    private(set) var reports: [LegID: [[UInt8]]] = [:]
    private(set) var shown: [LegID: [ShownSlot]] = [:]
    /// Nothing can be protected.
    var rejectsCommits = false
    private var tapped: [Tapped] = []
    private let buffer = PacketBuffer()
    private var target: LegID?

    mutating func reserve(for leg: LegID) -> UnsafeMutableRawBufferPointer? {
        target = leg
        return buffer.bytes
    }

    mutating func commit(_ byteCount: Int, isVideo: Bool) -> Bool {
        guard let target, !rejectsCommits else { return false }
        packets[target, default: []].append(Array(buffer.bytes.prefix(byteCount)))
        return true
    }

    mutating func sendReport(_ bytes: borrowing [UInt8], to leg: LegID) {
        reports[leg, default: []].append(copy bytes)
    }

    mutating func show(_ slots: [ShownSlot], on leg: LegID) { shown[leg] = slots }
    mutating func tapBegan(_ source: TappedSource) { tapped.append(.began(source)) }
    mutating func tap(_ payload: RawSpan, _ packet: TappedPacket) {
        tapped.append(.packet(packet, payload.copyToArray()))
    }
    mutating func tapEnded(_ source: UInt32) { tapped.append(.ended(source)) }

    /// The events of the tap since the last call.
    mutating func takeTapped() -> [Tapped] {
        defer { tapped = [] }
        return tapped
    }

    /// The packets to a leg since the last time.
    mutating func take(_ leg: LegID) -> [Packet] {
        defer { packets[leg] = nil }
        return (packets[leg] ?? []).compactMap { Packet($0) }
    }

    mutating func takeReports(_ leg: LegID) -> [[UInt8]] {
        defer { reports[leg] = nil }
        return reports[leg] ?? []
    }

    /// Who is shown in which section of a leg.
    func names(on leg: LegID) -> [String: String] {
        let pairs = (shown[leg] ?? []).compactMap { slot in
            slot.track.map { (slot.mid, "\($0.participant) \($0.source)") }
        }
        return Dictionary(uniqueKeysWithValues: pairs)
    }
}

/// A packet that was sent, as a test looks at it.
struct Packet: Hashable {
    let header: RTPHeader
    let payload: [UInt8]
    let bytes: [UInt8]

    init?(_ bytes: [UInt8]) {
        guard let packet = try? RTPPacket(bytes.span.bytes) else { return nil }
        header = packet.header
        payload = packet.payload.copyToArray()
        self.bytes = bytes
    }
}

/// Where a packet is written.
private final class PacketBuffer {
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 2048, alignment: 16)

    deinit { bytes.deallocate() }
}
