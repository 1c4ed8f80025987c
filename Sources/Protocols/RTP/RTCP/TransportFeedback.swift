import Wire

/// Which packets of a leg arrived, and when (draft-holmer-rmcat-transport-wide-cc-extensions-01 section 3.1).
///
///     |      base sequence number     |      packet status count      |
///     |                 reference time                | fb pkt. count |
///     |          packet chunk         |         packet chunk          |
///     |         .....                 |  recv delta   |  recv delta   |
///
///     run of one status:       |0| S |      run length, 13 bits      |
///     14 statuses of a bit:    |1|0|        arrived or not         |
///     7 statuses of two bits:  |1|1|  0 lost, 1 delta of a byte, 2 signed delta of two  |
///
/// Deltas are in units of 250 µs, the reference time in 64 ms. Everything is checked in `init`.
package struct TransportFeedback: ~Escapable {
    package static let tickNanoseconds: UInt64 = 250_000

    /// At most this many statuses are visited, the latest: forty bytes can report 65,535 lost packets, and no sender
    /// remembers older ones.
    package static let visitLimit = 2048

    package let baseSequence: UInt16
    package let statusCount: Int
    /// In units of 64 ms, of the receiver's own clock; 24 bits with a sign.
    package let referenceTime: Int32
    /// The feedback packet count, by which lost feedback is detected.
    package let number: UInt8
    private let body: RawSpan
    private let deltasOffset: Int

    /// Nil when the packet is of another kind or malformed.
    @_lifetime(copy packet)
    package init?(_ packet: borrowing RTCPPacket) {
        let body = packet.body
        guard packet.kind == .transportFeedback, let base = body.integer(at: 8, as: UInt16.self),
            let count = body.integer(at: 10, as: UInt16.self), let time = body.integer(at: 12, as: UInt32.self)
        else { return nil }
        var chunksEnd = Self.chunksOffset
        var deltaByteCount = 0
        var covered = 0
        while covered < Int(count) {
            guard let bits = body.integer(at: chunksEnd, as: UInt16.self) else { return nil }
            let chunk = StatusChunk(bits)
            let statuses = min(chunk.count, Int(count) &- covered)
            if let symbol = chunk.runSymbol {
                guard symbol < 3, statuses > 0 else { return nil }
                deltaByteCount &+= statuses &* Int(symbol)
            } else {
                for index in 0..<statuses {
                    let symbol = chunk.symbol(at: index)
                    guard symbol < 3 else { return nil }
                    deltaByteCount &+= Int(symbol)
                }
            }
            covered &+= statuses
            chunksEnd &+= 2
        }
        guard chunksEnd &+ deltaByteCount <= body.byteCount else { return nil }
        baseSequence = base
        statusCount = Int(count)
        referenceTime = Int32(truncatingIfNeeded: time) >> 8
        number = UInt8(truncatingIfNeeded: time)
        deltasOffset = chunksEnd
        self.body = body
    }

    private static let chunksOffset = 16

    package var visitedCount: Int { min(statusCount, Self.visitLimit) }

    /// Calls `visit` with the latest `visitedCount` sequence numbers in order, and the arrival time of each in ticks of
    /// the receiver's clock; nil when it has not arrived.
    package func visit(_ visit: (UInt16, Int64?) -> Void) {
        let skipped = statusCount &- visitedCount
        var offset = Self.chunksOffset
        var deltaOffset = deltasOffset
        var ticks = Int64(referenceTime) &* 256
        var covered = 0
        while covered < statusCount, let bits = body.integer(at: offset, as: UInt16.self) {
            let chunk = StatusChunk(bits)
            let statuses = min(chunk.count, statusCount &- covered)
            // A run of lost packets has no deltas: skipping it costs nothing.
            let first = chunk.runSymbol == 0 ? min(statuses, max(0, skipped &- covered)) : 0
            covered &+= first
            for index in first..<statuses {
                let sequence = baseSequence &+ UInt16(truncatingIfNeeded: covered)
                var arrival: Int64?
                switch chunk.symbol(at: index) {
                case 1:
                    ticks &+= Int64(body.byte(at: deltaOffset) ?? 0)
                    deltaOffset &+= 1
                    arrival = ticks
                case 2:
                    ticks &+= Int64(Int16(bitPattern: body.integer(at: deltaOffset, as: UInt16.self) ?? 0))
                    deltaOffset &+= 2
                    arrival = ticks
                default: break
                }
                if covered >= skipped { visit(sequence, arrival) }
                covered &+= 1
            }
            offset &+= 2
        }
    }
}

/// One of the three forms of a packet chunk.
struct StatusChunk {
    private let bits: UInt16

    init(_ bits: UInt16) {
        self.bits = bits
    }

    var runSymbol: UInt8? { bits & 0x8000 == 0 ? UInt8(truncatingIfNeeded: bits >> 13) : nil }

    var count: Int {
        if bits & 0x8000 == 0 { return Int(bits & 0x1FFF) }
        return bits & 0x4000 == 0 ? 14 : 7
    }

    /// 0 to 3, for an index below `count`.
    func symbol(at index: Int) -> UInt8 {
        if let runSymbol { return runSymbol }
        // Swift's shifts of integers by Int go both ways and never trap.
        return bits & 0x4000 == 0
            ? UInt8(truncatingIfNeeded: bits >> (13 &- index) & 1)
            : UInt8(truncatingIfNeeded: bits >> ((6 &- index) &* 2) & 3)
    }
}
