package import Wire

/// The receiver's side of transport-wide feedback: records when each packet of a publisher's leg arrived, and writes
/// that into RTCP when the host calls `write`, every 50 to 100 ms.
///
/// The log is a ring over the last 1,024 sequence numbers. A packet that arrives after it was reported as lost is
/// reported with the next feedback, which then begins further back: the sender uses the later report.
package struct ArrivalLog: Sendable {
    private static let capacity: Int64 = 1024
    private static let missing = Int64.min

    private var ticks = [Int64](repeating: Self.missing, count: Int(Self.capacity))
    private var unwrapper = SequenceUnwrapper()
    /// The unreported range, without `end`.
    private var begin: Int64 = 0
    private var end: Int64 = 0
    private var isEmpty = true
    private var number: UInt8 = 0
    private var symbols: [UInt8] = []
    private var deltas: [UInt8] = []

    package init() {}

    /// True when there are packets to report.
    package var hasUnreported: Bool { begin < end }

    package mutating func record(_ sequence: UInt16, at now: Instant) {
        let sequence = unwrapper.unwrap(sequence)
        if isEmpty {
            isEmpty = false
            begin = sequence
            end = sequence
        }
        guard sequence > end &- Self.capacity else { return }
        if sequence >= end {
            let first = max(end, sequence &- Self.capacity &+ 1)
            for skipped in first...sequence { set(Self.missing, at: skipped) }
            end = sequence &+ 1
            begin = max(begin, end &- Self.capacity)
        }
        // A duplicate keeps its first arrival.
        guard arrival(of: sequence) == nil else { return }
        set(Int64(truncatingIfNeeded: now.nanoseconds / TransportFeedback.tickNanoseconds), at: sequence)
        begin = min(begin, sequence)
    }

    /// Appends one feedback packet with as much as fits; false when nothing was written. Repeat while `hasUnreported`.
    package mutating func write(
        into writer: inout RTCPWriter, from sender: UInt32, of source: UInt32
    ) -> Bool {
        // Losses before the first arrival have no reference time of their own: they are reported with that arrival.
        var first = begin
        while first < end, arrival(of: first) == nil { first &+= 1 }
        guard first < end, let reference = arrival(of: first).map({ $0 >> 8 }) else {
            begin = end
            return false
        }
        let next = collect(since: reference, space: writer.limit - writer.bytes.count - 24)
        let start = writer.bytes.count
        guard next > begin, writer.begin(205, 15, byteCount: 16) else { return false }
        writer.append(bigEndian: sender)
        writer.append(bigEndian: source)
        writer.append(bigEndian: UInt16(truncatingIfNeeded: begin))
        writer.append(bigEndian: UInt16(truncatingIfNeeded: next &- begin))
        writer.append(bigEndian: UInt32(truncatingIfNeeded: reference) << 8 | UInt32(number))
        writeChunks(into: &writer)
        for delta in deltas { writer.append(bigEndian: delta) }
        writer.setLength(ofPacketAt: start)
        number &+= 1
        begin = next
        return true
    }

    /// Fills `symbols` and `deltas` from `begin` on, as long as they fit; returns the sequence number after the last.
    private mutating func collect(since reference: Int64, space: Int) -> Int64 {
        symbols.removeAll(keepingCapacity: true)
        deltas.removeAll(keepingCapacity: true)
        var last = reference << 8
        var sequence = begin
        // In the worst case a chunk holds seven statuses.
        while sequence < end, deltas.count &+ 2 &+ (symbols.count / 7 &+ 1) &* 2 <= space {
            if let arrival = arrival(of: sequence) {
                guard let delta = Int16(exactly: arrival &- last) else { break }
                last = arrival
                if (0...255).contains(delta) {
                    symbols.append(1)
                    deltas.append(UInt8(truncatingIfNeeded: delta))
                } else {
                    symbols.append(2)
                    deltas.append(bigEndian: delta)
                }
            } else {
                symbols.append(0)
            }
            sequence &+= 1
        }
        return sequence
    }

    private func writeChunks(into writer: inout RTCPWriter) {
        var rest = symbols[...]
        while let symbol = rest.first {
            let run = rest.prefix { $0 == symbol }.count
            let fitsBits = rest.prefix(14).allSatisfy { $0 < 2 }
            if run == rest.count || run >= (fitsBits ? 14 : 7) {
                let length = min(run, 0x1FFF)
                writer.append(bigEndian: UInt16(symbol) << 13 | UInt16(truncatingIfNeeded: length))
                rest = rest.dropFirst(length)
            } else if fitsBits {
                writer.append(bigEndian: 0x8000 | packed(rest.prefix(14), count: 14, width: 1))
                rest = rest.dropFirst(14)
            } else {
                writer.append(bigEndian: 0xC000 | packed(rest.prefix(7), count: 7, width: 2))
                rest = rest.dropFirst(7)
            }
        }
    }

    /// The symbols side by side from the most significant bit on, padded with 0.
    private func packed(_ symbols: ArraySlice<UInt8>, count: Int, width: Int) -> UInt16 {
        var bits: UInt16 = 0
        for symbol in symbols { bits = bits << width | UInt16(symbol) }
        return bits << ((count &- symbols.count) &* width)
    }

    private func arrival(of sequence: Int64) -> Int64? {
        let value = ticks[Int(truncatingIfNeeded: sequence & (Self.capacity &- 1))]
        return value == Self.missing ? nil : value
    }

    private mutating func set(_ value: Int64, at sequence: Int64) {
        ticks[Int(truncatingIfNeeded: sequence & (Self.capacity &- 1))] = value
    }
}
