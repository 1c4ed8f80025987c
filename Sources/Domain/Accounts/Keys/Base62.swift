/// Numbers in base 62, with the digits 0-9, A-Z, a-z: a double click selects all of such a text, and no shell or URL
/// needs it escaped.
enum Base62 {
    static let digits = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)

    /// The value of a digit; nil for any other byte.
    static func value(of byte: UInt8) -> UInt64? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(byte &- UInt8(ascii: "0"))
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt64(byte &- UInt8(ascii: "A")) &+ 10
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt64(byte &- UInt8(ascii: "a")) &+ 36
        default: nil
        }
    }

    /// A number as so many digits, with leading zeros; higher digits are dropped.
    static func encode(_ number: UInt64, count: Int) -> [UInt8] {
        var rest = number
        var encoded: [UInt8] = []
        for _ in 0..<max(0, count) {
            encoded.append(digits[Int(truncatingIfNeeded: rest % 62)])
            rest /= 62
        }
        return encoded.reversed()
    }

    /// So many random digits, each with log2(62) = 5.95 bits.
    static func random(count: Int, using generator: inout some RandomNumberGenerator) -> [UInt8] {
        (0..<max(0, count)).map { _ in digits[Int.random(in: 0..<62, using: &generator)] }
    }
}
