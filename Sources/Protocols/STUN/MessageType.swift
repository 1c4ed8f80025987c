/// A message's class and method: the 14 bits after the two zero bits that every STUN message starts with.
///
///      0                 1
///      2  3  4 5 6 7 8 9 0 1 2 3 4 5
///     +--+--+-+-+-+-+-+-+-+-+-+-+-+-+
///     |M |M |M|M|M|C|M|M|M|C|M|M|M|M|
///     |11|10|9|8|7|1|6|5|4|0|3|2|1|0|      RFC 8489 section 5
///     +--+--+-+-+-+-+-+-+-+-+-+-+-+-+
package struct MessageType: Hashable, Sendable {
    package enum Class: UInt16, Hashable, Sendable {
        case request = 0x000
        case indication = 0x010
        case success = 0x100
        case failure = 0x110
    }

    package let method: Method
    package let messageClass: Class

    package init(_ messageClass: Class, _ method: Method) {
        self.messageClass = messageClass
        self.method = method
    }

    /// From the first 16 bits of a datagram; nil when they start with something other than two zero bits.
    package init?(bits: UInt16) {
        guard bits & 0xC000 == 0, let messageClass = Class(rawValue: bits & 0x110) else { return nil }
        self.messageClass = messageClass
        method = Method(rawValue: bits & 0x000F | (bits & 0x00E0) >> 1 | (bits & 0x3E00) >> 2)
    }

    package var bits: UInt16 {
        let method = method.rawValue
        return messageClass.rawValue | method & 0x00F | (method & 0x070) << 1 | (method & 0xF80) << 2
    }
}

/// A method, 12 bits. Unknown methods parse too: the server decides how to respond.
package struct Method: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) {
        self.rawValue = rawValue & 0xFFF
    }

    package static let binding = Method(rawValue: 0x001)
    // RFC 8656 section 17.
    package static let allocate = Method(rawValue: 0x003)
    package static let refresh = Method(rawValue: 0x004)
    package static let send = Method(rawValue: 0x006)
    package static let data = Method(rawValue: 0x007)
    package static let createPermission = Method(rawValue: 0x008)
    package static let channelBind = Method(rawValue: 0x009)
    // RFC 6062 section 6.1.
    package static let connect = Method(rawValue: 0x00A)
    package static let connectionBind = Method(rawValue: 0x00B)
    package static let connectionAttempt = Method(rawValue: 0x00C)
}

/// The 96 bits that match a response to its request.
package struct TransactionID: Hashable, Sendable {
    package let first: UInt32
    package let rest: UInt64

    package init(_ first: UInt32, _ rest: UInt64) {
        self.first = first
        self.rest = rest
    }
}
