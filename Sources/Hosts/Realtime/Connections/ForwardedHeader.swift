package import Wire

/// The request header in which proxies report the client's address.
///
/// Each proxy appends the address of its own client, so the right-most hop is the nearest, and everything left of the
/// first untrusted hop may be forged. Hosts and schemes are never taken from it.
package enum ForwardedHeader: String, Hashable, Sendable {
    case none
    /// RFC 7239: `for=192.0.2.60;proto=https, for="[2001:db8::17]:4711"`.
    case forwarded
    /// `203.0.113.5, 2001:db8::17`.
    case xForwardedFor = "x-forwarded-for"

    /// Further hops are ignored: no chain of proxies is as long.
    static let maxChainLength = 32

    /// The hops of the header's lines, from left to right: the right-most `maxChainLength` of them. nil stands for a
    /// hop without an address, such as `unknown`, and for a line with invalid syntax: hops that were appended to such a
    /// line cannot be distinguished from forged ones.
    package func hops(in lines: [String]) -> [IPAddress?] {
        let hops: [IPAddress?] =
            switch self {
            case .none: []
            case .xForwardedFor:
                lines.flatMap { $0.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) }
                    .suffix(Self.maxChainLength).map { Self.address(of: Array($0)) }
            case .forwarded: lines.flatMap { ForwardedElements.hops(in: Array($0.utf8)) }
            }
        return hops.suffix(Self.maxChainLength)
    }

    /// The address of a node (RFC 7239 section 6): IPv6 may be in brackets, and a port may follow, which some proxies
    /// also add in `X-Forwarded-For`.
    static func address(of node: [UInt8]) -> IPAddress? {
        let text = String(decoding: node.trimmed, as: UTF8.self)
        if text.first == "[" {
            guard let end = text.firstIndex(of: "]") else { return nil }
            let port = text[text.index(after: end)...]
            guard port.isEmpty || port.first == ":" else { return nil }
            return IPAddress(String(text[text.index(after: text.startIndex)..<end]))?.unmapped
        }
        if let address = IPAddress(text) { return address.unmapped }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        return parts.count == 2 ? IPAddress(String(parts[0])) : nil
    }
}

/// The elements of a `Forwarded` header (RFC 7239 section 4):
///
///     Forwarded = 1#forwarded-element;  forwarded-element = [ pair ] *( ";" [ pair ] );  pair = token "=" value
private struct ForwardedElements {
    private let text: [UInt8]
    private var offset = 0

    /// A hop for each element; a single nil for a line with invalid syntax.
    static func hops(in line: [UInt8]) -> [IPAddress?] {
        var elements = ForwardedElements(text: line)
        var hops: [IPAddress?] = []
        while true {
            guard let node = elements.takeElement() else { return [nil] }
            hops.append(node.flatMap { ForwardedHeader.address(of: $0) })
            guard elements.take(",") else { break }
        }
        return elements.isAtEnd ? hops : [nil]
    }

    private init(text: [UInt8]) { self.text = text }

    private var isAtEnd: Bool { offset >= text.count }
    private var next: UInt8? { offset < text.count ? text[offset] : nil }

    /// The value of the element's `for`, an inner nil when it has none; nil when the syntax is invalid.
    private mutating func takeElement() -> [UInt8]?? {
        var node: [UInt8]?
        repeat {
            skipSpace()
            // Empty pairs and elements are allowed.
            guard let name = takeToken() else { continue }
            guard take("="), let value = take("\"") ? takeQuoted() : takeToken() else { return nil }
            skipSpace()
            if name.lowercasedASCII == Array("for".utf8) {
                guard node == nil else { return nil }
                node = value
            }
        } while take(";")
        return .some(node)
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard let next, next == UInt8(ascii: character) else { return false }
        offset += 1
        return true
    }

    private mutating func skipSpace() {
        while let next, next == 0x20 || next == 0x09 { offset += 1 }
    }

    /// A token (RFC 9110 section 5.6.2), including the colons and brackets that proxies leave unquoted.
    private mutating func takeToken() -> [UInt8]? {
        let start = offset
        while let next, Self.isTokenCharacter(next) { offset += 1 }
        return offset > start ? Array(text[start..<offset]) : nil
    }

    /// The rest of a quoted string (RFC 9110 section 5.6.4), after its first quote.
    private mutating func takeQuoted() -> [UInt8]? {
        var value: [UInt8] = []
        while let next {
            offset += 1
            switch next {
            case UInt8(ascii: "\""): return value
            case UInt8(ascii: "\\"):
                guard let escaped = self.next else { return nil }
                offset += 1
                value.append(escaped)
            default: value.append(next)
            }
        }
        return nil
    }

    private static func isTokenCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: otherTokenCharacters.contains(byte)
        }
    }

    private static let otherTokenCharacters = Set("!#$%&'*+-.^_`|~:[]".utf8)
}

extension [UInt8] {
    fileprivate var trimmed: ArraySlice<UInt8> {
        var slice = self[...]
        while let first = slice.first, first == 0x20 || first == 0x09 { slice.removeFirst() }
        while let last = slice.last, last == 0x20 || last == 0x09 { slice.removeLast() }
        return slice
    }

    fileprivate var lowercasedASCII: [UInt8] { map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 } }
}

extension IPAddress {
    /// The IPv4 address of an IPv4-mapped IPv6 address (RFC 4291 section 2.5.5.2), as dual-stack sockets report it.
    package var unmapped: IPAddress {
        family == .ipv6 && high == 0 && low >> 32 == 0xFFFF ? IPAddress(ipv4: UInt32(truncatingIfNeeded: low)) : self
    }
}
