package import Wire

// The attribute values that more than one protocol reads.

extension Message {
    /// An XOR-MAPPED-ADDRESS and its like, nil when it is absent or malformed (RFC 8489 section 14.2).
    package func xorAddress(_ type: AttributeType) -> TransportAddress? {
        guard let value = attribute(type) else { return nil }
        return TransportAddress(xorValue: value, transaction: transaction)
    }

    /// An address that is not combined with the cookie, such as MAPPED-ADDRESS; nil when it is absent or malformed.
    package func plainAddress(_ type: AttributeType) -> TransportAddress? {
        guard let value = attribute(type), let family = value.byte(at: 1).flatMap({ IPAddress.Family(rawValue: $0) }),
            let port = value.integer(at: 2, as: UInt16.self), let rest = value.part(4..<max(4, value.byteCount)),
            let address = IPAddress(bytes: rest), address.family == family
        else { return nil }
        return TransportAddress(address, port: port)
    }

    /// A 32-bit integer attribute, nil when it is absent or of another size.
    package func integer32(_ type: AttributeType) -> UInt32? {
        guard let value = attribute(type), value.byteCount == 4 else { return nil }
        return value.integer(at: 0, as: UInt32.self)
    }

    /// A text attribute, nil when it is absent or not UTF-8.
    package func text(_ type: AttributeType) -> String? {
        guard let value = attribute(type) else { return nil }
        return value.withUnsafeBytes { String(validating: $0, as: UTF8.self) }
    }

    /// ERROR-CODE's number, nil when absent or malformed (RFC 8489 section 14.8).
    package var errorNumber: UInt16? {
        guard let value = attribute(.errorCode), let hundreds = value.byte(at: 2), let units = value.byte(at: 3),
            (3...6).contains(hundreds & 7), units < 100
        else { return nil }
        return UInt16(hundreds & 7) &* 100 &+ UInt16(units)
    }

    /// The comprehension-required attributes that are not in `known`, in order, without repeats.
    package func unknownRequired(knowing known: Set<AttributeType>) -> [AttributeType] {
        var unknown: [AttributeType] = []
        visitAttributes { type, _ in
            // A request could have thousands; the response lists a bounded number of them.
            if type.isComprehensionRequired, !known.contains(type), unknown.count < 16, !unknown.contains(type) {
                unknown.append(type)
            }
        }
        return unknown
    }
}

extension TransportAddress {
    ///     |0 0 0 0 0 0 0 0|    Family     |         X-Port                |
    ///     |                X-Address (4 or 16 bytes)                      |
    package init?(xorValue value: RawSpan, transaction: TransactionID) {
        guard let family = value.byte(at: 1), let port = value.integer(at: 2, as: UInt16.self) else { return nil }
        switch IPAddress.Family(rawValue: family) {
        case .ipv4:
            guard value.byteCount == 8, let bits = value.integer(at: 4, as: UInt32.self) else { return nil }
            self.init(IPAddress(ipv4: bits ^ Message.magicCookie), port: port ^ 0x2112)
        case .ipv6:
            guard value.byteCount == 20, let high = value.integer(at: 4, as: UInt64.self),
                let low = value.integer(at: 12, as: UInt64.self)
            else { return nil }
            self.init(
                IPAddress(ipv6High: high ^ transaction.xorHigh, low: low ^ transaction.rest), port: port ^ 0x2112)
        case nil:
            return nil
        }
    }
}

extension TransactionID {
    /// What the first half of an IPv6 address is combined with: the cookie and the first 32 bits of the id.
    package var xorHigh: UInt64 {
        UInt64(Message.magicCookie) << 32 | UInt64(first)
    }
}
