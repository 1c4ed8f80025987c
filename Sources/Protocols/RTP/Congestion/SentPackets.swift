import Wire

/// The packets sent under each transport-wide sequence number, until feedback about them arrives.
struct SentPackets: Sendable {
    enum Status: UInt8 {
        case unknown
        case inFlight
        case lost
        case received
    }

    /// Each leg with video keeps 2,048 of these.
    private struct Packet {
        /// Microseconds, modulo 2^32: 71 minutes.
        var sent: UInt32 = 0
        var byteCount: UInt16 = 0
        var sequence: UInt16 = 0
        var status = Status.unknown
        var probe: UInt8 = 0
    }

    /// A packet whose status changed.
    struct Settled {
        let sent: Instant
        let byteCount: Int
        /// 0 if it belongs to no probe.
        let probe: UInt8
        /// It was reported as lost before.
        let wasLost: Bool
    }

    private static let capacity = 2048
    private var packets = [Packet](repeating: Packet(), count: Self.capacity)

    private func index(_ sequence: UInt16) -> Int { Int(sequence) & (Self.capacity &- 1) }

    mutating func add(_ sequence: UInt16, byteCount: Int, probe: UInt8, at now: Instant) {
        packets[index(sequence)] = Packet(
            sent: Self.microseconds(now), byteCount: UInt16(clamping: byteCount), sequence: sequence, status: .inFlight,
            probe: probe)
    }

    /// Updates the packet's status and returns the packet; nil when the status did not change.
    mutating func settle(_ sequence: UInt16, isReceived: Bool, at now: Instant) -> Settled? {
        let index = index(sequence)
        let packet = packets[index]
        guard packet.sequence == sequence, packet.status == .inFlight || packet.status == .lost && isReceived else {
            return nil
        }
        packets[index].status = isReceived ? .received : .lost
        let age = UInt64(Self.microseconds(now) &- packet.sent) &* 1_000
        return Settled(
            sent: Instant(nanoseconds: now.nanoseconds > age ? now.nanoseconds &- age : 0),
            byteCount: Int(packet.byteCount), probe: packet.probe, wasLost: packet.status == .lost)
    }

    private static func microseconds(_ now: Instant) -> UInt32 {
        UInt32(truncatingIfNeeded: now.nanoseconds / 1_000)
    }
}
