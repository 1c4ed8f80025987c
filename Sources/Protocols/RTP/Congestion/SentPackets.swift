import Wire

/// What was sent under each transport-wide sequence number, until the receiver has said what became of it.
struct SentPackets: Sendable {
    enum Fate: UInt8 {
        case unknown
        case inFlight
        case lost
        case received
    }

    struct Packet {
        var sent: UInt64 = 0
        var byteCount: UInt16 = 0
        var sequence: UInt16 = 0
        var fate = Fate.unknown
        /// 0 for what belongs to no probe.
        var probe: UInt8 = 0
    }

    private static let capacity = 2048
    private var packets = [Packet](repeating: Packet(), count: Self.capacity)

    private func index(_ sequence: UInt16) -> Int { Int(sequence) & (Self.capacity &- 1) }

    mutating func add(_ sequence: UInt16, byteCount: Int, probe: UInt8, at now: Instant) {
        packets[index(sequence)] = Packet(
            sent: now.nanoseconds, byteCount: UInt16(clamping: byteCount), sequence: sequence, fate: .inFlight,
            probe: probe)
    }

    /// The packet, and marks its fate; nil when there is nothing new to say of it.
    mutating func settle(_ sequence: UInt16, isReceived: Bool) -> Packet? {
        let index = index(sequence)
        let packet = packets[index]
        guard packet.sequence == sequence, packet.fate == .inFlight || packet.fate == .lost && isReceived else {
            return nil
        }
        packets[index].fate = isReceived ? .received : .lost
        return packet
    }
}
