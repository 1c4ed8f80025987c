package import Model

/// A user as a server key names one: by the id that this server made, or as `ext:<id>` by the app's own id.
package enum UserReference: Hashable, Sendable {
    case id(UserID)
    case external(String)

    static let prefix = "ext:"
    /// The issuer of the app's own ids in `outside_identities`. No OpenID Connect issuer is called so: those are URLs.
    package static let issuer = "ext"
    package static let maxLength = 128

    /// Reads a user id, or `ext:` with 1 to 128 visible ASCII characters other than `/`, `?`, `#` and `%`. In a path,
    /// characters may be percent-encoded (RFC 3986 section 2.1).
    package init(_ text: String, field: String) throws {
        if let id = UserID(text) {
            self = .id(id)
            return
        }
        guard text.utf8.count <= 3 * (Self.maxLength + Self.prefix.utf8.count), let decoded = Self.decoded(text),
            decoded.utf8.starts(with: Self.prefix.utf8)
        else { throw Self.invalid(field) }
        let id = String(decoded.utf8.dropFirst(Self.prefix.utf8.count)) ?? ""
        guard (1...Self.maxLength).contains(id.utf8.count), id.utf8.allSatisfy(Self.isAllowed) else {
            throw Self.invalid(field)
        }
        self = .external(id)
    }

    private static func invalid(_ field: String) -> Problem {
        .invalid(
            field,
            "\(field) must be a user's UUID, or ext: and your own id of 1 to \(maxLength) visible ASCII characters "
                + "without /, ?, # and %.")
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: "%"): false
        default: (0x21...0x7E).contains(byte)
        }
    }

    private static func decoded(_ text: String) -> String? {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
        var decoded: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                decoded.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(hexadecimal), let low = rest.popFirst().flatMap(hexadecimal) else {
                return nil
            }
            decoded.append(high << 4 | low)
        }
        return String(validating: decoded, as: UTF8.self)
    }

    private static func hexadecimal(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte &- UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte &- UInt8(ascii: "A") &+ 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte &- UInt8(ascii: "a") &+ 10
        default: nil
        }
    }
}
