/// The direction of a section, seen from the side that wrote the description (RFC 8866 section 6.7).
package enum Direction: String, Hashable, Sendable, CaseIterable {
    case sendReceive = "sendrecv"
    case sendOnly = "sendonly"
    case receiveOnly = "recvonly"
    case inactive

    package init(sends: Bool, receives: Bool) {
        self = sends ? (receives ? .sendReceive : .sendOnly) : (receives ? .receiveOnly : .inactive)
    }

    package var sends: Bool {
        self == .sendReceive || self == .sendOnly
    }

    package var receives: Bool {
        self == .sendReceive || self == .receiveOnly
    }

    /// The same, seen from the other side.
    package var reversed: Direction {
        Direction(sends: receives, receives: sends)
    }
}

/// Who begins the DTLS handshake (RFC 8842 section 5, RFC 4145).
package enum SetupRole: String, Hashable, Sendable, CaseIterable {
    case actpass
    case active
    case passive
    case holdconn
}
