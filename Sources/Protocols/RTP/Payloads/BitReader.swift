import Wire

/// Reads codec headers bit by bit; nil past the end. It keeps only the first bytes: headers are short.
struct BitReader {
    private static let byteLimit = 256
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: RawSpan) {
        self.bytes = bytes.extracting(0..<min(bytes.byteCount, Self.byteLimit)).copyToArray()
    }

    /// The payload of a NAL unit, without emulation prevention bytes (ITU-T H.264 section 7.4.1).
    init(unit: RawSpan) {
        var bytes: [UInt8] = []
        var zeros = 0
        for offset in 0..<min(unit.byteCount, Self.byteLimit) {
            let byte = unit.byte(at: offset) ?? 0
            if zeros >= 2, byte == 3 {
                zeros = 0
                continue
            }
            zeros = byte == 0 ? zeros &+ 1 : 0
            bytes.append(byte)
        }
        self.bytes = bytes
    }

    /// At most 32 bits.
    mutating func bits(_ count: Int) -> UInt32? {
        guard count >= 0, count <= 32, position &+ count <= bytes.count &* 8 else { return nil }
        var value: UInt32 = 0
        for _ in 0..<count {
            value = value << 1 | UInt32(bytes[position >> 3] >> UInt8(7 &- (position & 7)) & 1)
            position &+= 1
        }
        return value
    }

    mutating func flag() -> Bool? { bits(1).map { $0 == 1 } }

    /// Nil when there are fewer bits left.
    mutating func skip(_ count: Int) -> Void? {
        guard count >= 0, position &+ count <= bytes.count &* 8 else { return nil }
        position &+= count
        return ()
    }

    /// ue(v) of ITU-T H.264 section 9.1.
    mutating func exponential() -> UInt32? {
        var zeros = 0
        while true {
            guard let bit = bits(1) else { return nil }
            if bit == 1 { break }
            zeros &+= 1
        }
        guard zeros < 32, let rest = bits(zeros) else { return nil }
        return (1 << UInt32(truncatingIfNeeded: zeros)) &- 1 &+ rest
    }

    /// se(v) of ITU-T H.264 section 9.1.1.
    mutating func signedExponential() -> Int32? {
        exponential().map { value in
            let half = Int32(truncatingIfNeeded: value / 2 &+ (value & 1))
            return value & 1 == 1 ? half : 0 &- half
        }
    }
}
