/// The id of a request, which its response, its error and the log lines written for it have in common: 32 hexadecimal
/// digits in lower case.
///
/// It has the form of a trace id (W3C Trace Context, section 3.2.2.3). If the client sends a valid `traceparent`, its
/// trace id is the request's id, so that the client's traces name it too; a trace may have many requests. Otherwise the
/// id is random. Whatever the client sends, the text has only these 32 digits, so that it can stand in a header.
package struct RequestID: Hashable, Sendable {
    package let text: String

    /// The header of every response.
    package static let headerName = "Switchboard-Request"

    /// The id of the request that the current task handles, if it handles one. Tasks that it starts inherit it.
    @TaskLocal package static var current: RequestID?

    /// Reads an id that was stored. Nil if the text is none.
    package init?(_ text: String) {
        guard text.utf8.count == 32, text.utf8.allSatisfy(Self.isDigit) else { return nil }
        self.text = text
    }

    /// The trace id of a `traceparent` header (W3C Trace Context, section 3.2), such as
    /// `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`. Nil if the header is not valid.
    package init?(traceparent: String) {
        // version "-" trace-id "-" parent-id "-" trace-flags; later versions may add fields.
        let bytes = Array(traceparent.utf8.prefix(57))
        guard bytes.count >= 55, bytes[2] == Self.dash, bytes[35] == Self.dash, bytes[52] == Self.dash else {
            return nil
        }
        let (version, trace, parent, flags) = (bytes[0..<2], bytes[3..<35], bytes[36..<52], bytes[53..<55])
        guard [version, trace, parent, flags].allSatisfy({ $0.allSatisfy(Self.isDigit) }),
            Self.isSet(trace), Self.isSet(parent), version != [Self.f, Self.f]
        else { return nil }
        if version.allSatisfy({ $0 == Self.zero }) {
            guard bytes.count == 55 else { return nil }
        } else if bytes.count > 55 {
            guard bytes[55] == Self.dash else { return nil }
        }
        text = String(decoding: trace, as: UTF8.self)
    }

    /// Makes a random id.
    package static func make(using generator: inout some RandomNumberGenerator) -> Self {
        // A trace id of zeros is not valid.
        Self(high: UInt64.random(in: 1...UInt64.max, using: &generator), low: generator.next())
    }

    /// Makes an id with the system's random numbers.
    package static func make() -> Self {
        var generator = SystemRandomNumberGenerator()
        return make(using: &generator)
    }

    /// The id of a request with this `traceparent` header, or a new one if there is none or it is not valid.
    package static func make(traceparent: String?) -> Self {
        traceparent.flatMap { Self(traceparent: $0) } ?? make()
    }

    private init(high: UInt64, low: UInt64) {
        text = String(unsafeUninitializedCapacity: 32) { buffer in
            var position = 0
            for word in [high, low] {
                for shift in stride(from: 60, through: 0, by: -4) {
                    let digit = UInt8(truncatingIfNeeded: word >> UInt64(shift)) & 0xF
                    buffer[position] = digit < 10 ? Self.zero + digit : Self.a + digit - 10
                    position += 1
                }
            }
            return position
        }
    }

    private static let dash = UInt8(ascii: "-")
    private static let zero = UInt8(ascii: "0")
    private static let a = UInt8(ascii: "a")
    private static let f = UInt8(ascii: "f")

    /// Upper case is not valid.
    private static func isDigit(_ byte: UInt8) -> Bool {
        (zero...UInt8(ascii: "9")).contains(byte) || (a...f).contains(byte)
    }

    private static func isSet(_ digits: ArraySlice<UInt8>) -> Bool { digits.contains { $0 != zero } }
}
