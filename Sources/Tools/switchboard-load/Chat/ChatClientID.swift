/// A UUID as a number.
struct UUIDBits: Hashable, Sendable {
    var high: UInt64
    var low: UInt64

    init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Reads the hexadecimal digits of its text form; nil if there are not 32 of them.
    init?(_ text: some Sequence<UInt8>) {
        var (high, low, count): (UInt64, UInt64, Int) = (0, 0, 0)
        for byte in text where byte != UInt8(ascii: "-") {
            guard count < 32, let digit = Self.digit(byte) else { return nil }
            if count < 16 { high = high << 4 | digit } else { low = low << 4 | digit }
            count += 1
        }
        guard count == 32 else { return nil }
        self.init(high: high, low: low)
    }

    init?(_ text: String) { self.init(text.utf8) }

    static func digit(_ byte: UInt8) -> UInt64? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt64(byte - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt64(byte - UInt8(ascii: "A") + 10)
        default: nil
        }
    }

    var text: String {
        var text = ""
        text.reserveCapacity(36)
        for index in 0..<32 {
            if index == 8 || index == 12 || index == 16 || index == 20 { text.append("-") }
            let part = index < 16 ? high : low
            let digit = UInt8(truncatingIfNeeded: part >> (60 - UInt64(index % 16) * 4) & 0xF)
            text.unicodeScalars.append(
                Unicode.Scalar(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10))
        }
        return text
    }
}

/// The client id of a message of a run. It carries when the message was due, so that whoever receives the message in this
/// process knows how long that took, without looking it up.
struct ChatClientID: Hashable, Sendable {
    /// Differs between runs.
    var run: UInt32
    /// The event loop of the sender.
    var worker: UInt8
    /// Counts the messages of the event loop.
    var serial: UInt32
    /// On the monotonic clock, in microseconds: 48 bits.
    var due: UInt64

    private static let runBits: UInt32 = 0xFFF_FFFF

    init(run: UInt32, worker: UInt8, serial: UInt32, due: UInt64) {
        self.run = run & Self.runBits
        self.worker = worker
        self.serial = serial
        self.due = due & 0xFFFF_FFFF_FFFF
    }

    /// Nil if it is not of the form that a run makes.
    init?(_ bits: UUIDBits) {
        guard bits.high >> 12 & 0xF == 4, bits.low >> 60 == 8 else { return nil }
        serial = UInt32(truncatingIfNeeded: bits.high >> 32)
        run = UInt32(truncatingIfNeeded: bits.high >> 16 & 0xFFFF) << 12 | UInt32(truncatingIfNeeded: bits.high & 0xFFF)
        worker = UInt8(truncatingIfNeeded: bits.low >> 48)
        due = bits.low & 0xFFFF_FFFF_FFFF
    }

    /// A UUID of version 4 (RFC 9562 section 5.4).
    var bits: UUIDBits {
        let high = UInt64(serial) << 32 | UInt64(run >> 12) << 16 | 0x4000 | UInt64(run & 0xFFF)
        return UUIDBits(high: high, low: 0x8000 << 48 | UInt64(worker) << 48 | due)
    }

    /// Unique within the run; never 0.
    var key: MessageKey { MessageKey(UInt64(worker) << 32 | UInt64(serial)) }
}

/// A message of the run, whatever its number: which event loop sent it, and its serial number there.
struct MessageKey: Hashable, Sendable, CustomStringConvertible {
    let bits: UInt64

    init(_ bits: UInt64) { self.bits = bits }

    var description: String { "\(bits >> 32).\(bits & 0xFFFF_FFFF)" }
}
