// The text form of addresses: dotted quads, and RFC 4291 section 2.2 for IPv6, printed as in RFC 5952.

extension IPAddress: LosslessStringConvertible {
    package init?(_ text: String) {
        let parsed = text.utf8.contains(UInt8(ascii: ":")) ? IPAddress.parseIPv6(text) : IPAddress.parseIPv4(text[...])
        guard let parsed else { return nil }
        self = parsed
    }

    package var description: String {
        switch family {
        case .ipv4: "\(low >> 24 & 0xFF).\(low >> 16 & 0xFF).\(low >> 8 & 0xFF).\(low & 0xFF)"
        case .ipv6: describeIPv6()
        }
    }

    private static func parseIPv4(_ text: Substring) -> IPAddress? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var value: UInt32 = 0
        for part in parts {
            // Some parsers read a leading zero as octal, so it is rejected.
            guard (1...3).contains(part.utf8.count), part.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                part.utf8.count == 1 || part.first != "0", let byte = UInt8(part)
            else { return nil }
            value = value << 8 | UInt32(byte)
        }
        return IPAddress(ipv4: value)
    }

    private static func parseIPv6(_ text: String) -> IPAddress? {
        let halves = text.split(separator: "::", maxSplits: 2, omittingEmptySubsequences: false)
        guard halves.count <= 2, let head = groups(of: halves[0], mayEndInIPv4: halves.count == 1) else { return nil }
        if halves.count == 1 {
            return head.count == 8 ? IPAddress(groups: head) : nil
        }
        guard let tail = groups(of: halves[1], mayEndInIPv4: true), head.count + tail.count < 8 else { return nil }
        return IPAddress(groups: head + Array(repeating: 0, count: 8 - head.count - tail.count) + tail)
    }

    /// The 16-bit groups of one side of `::`; the address may end in a dotted quad.
    private static func groups(of text: Substring, mayEndInIPv4: Bool) -> [UInt16]? {
        guard !text.isEmpty else { return [] }
        var groups: [UInt16] = []
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            if part.utf8.contains(UInt8(ascii: ".")), mayEndInIPv4, index == parts.count - 1 {
                guard let quad = parseIPv4(part) else { return nil }
                groups += [UInt16(truncatingIfNeeded: quad.ipv4 >> 16), UInt16(truncatingIfNeeded: quad.ipv4)]
            } else {
                guard (1...4).contains(part.utf8.count), part.first != "+", let group = UInt16(part, radix: 16) else {
                    return nil
                }
                groups.append(group)
            }
        }
        return groups.count <= 8 ? groups : nil
    }

    private init(groups: [UInt16]) {
        self.init(
            ipv6High: groups.prefix(4).reduce(0) { $0 << 16 | UInt64($1) },
            low: groups.dropFirst(4).reduce(0) { $0 << 16 | UInt64($1) })
    }

    private func describeIPv6() -> String {
        if high == 0, low >> 32 == 0xFFFF {
            return "::ffff:\(IPAddress(ipv4: UInt32(truncatingIfNeeded: low)))"
        }
        let groups = (0..<8).map { index in
            UInt16(truncatingIfNeeded: (index < 4 ? high : low) >> UInt64(48 - 16 * (index & 3)))
        }
        // RFC 5952 section 4.2: `::` stands for the longest run of two or more zero groups, the first of equals.
        var longest = 0..<0
        var index = 0
        while index < 8 {
            var end = index
            while end < 8, groups[end] == 0 { end += 1 }
            if end - index > max(1, longest.count) { longest = index..<end }
            index = max(end, index + 1)
        }
        let hexadecimal = groups.map { String($0, radix: 16) }
        guard !longest.isEmpty else { return hexadecimal.joined(separator: ":") }
        return hexadecimal[..<longest.lowerBound].joined(separator: ":") + "::"
            + hexadecimal[longest.upperBound...].joined(separator: ":")
    }
}

extension TransportAddress: LosslessStringConvertible {
    /// `192.0.2.1:3478`, or `[2001:db8::1]:3478`.
    package init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":") else { return nil }
        let digits = text[text.index(after: colon)...]
        var host = text[..<colon]
        let isBracketed = host.first == "[" && host.last == "]" && host.count > 2
        if isBracketed { host = host.dropFirst().dropLast() }
        guard (1...5).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let port = UInt16(digits), port > 0, let address = IPAddress(String(host)),
            isBracketed == (address.family == .ipv6)
        else { return nil }
        self.init(address, port: port)
    }

    package var description: String {
        address.family == .ipv4 ? "\(address):\(port)" : "[\(address)]:\(port)"
    }
}
