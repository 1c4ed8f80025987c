/// An error response's code and its reason phrase in the specifications.
package struct ErrorCode: Hashable, Sendable {
    /// 300 to 699.
    package let number: UInt16
    package let reason: StaticReason

    package init(_ number: UInt16, _ reason: StaticReason) {
        self.number = number
        self.reason = reason
    }

    /// A reason phrase known at compile time: nothing of a request is ever echoed in one.
    package struct StaticReason: Hashable, Sendable, ExpressibleByStringLiteral {
        package let text: String

        package init(stringLiteral text: StaticString) {
            self.text = text.description
        }
    }

    // RFC 8489 section 14.8.
    package static let tryAlternate = ErrorCode(300, "Try Alternate")
    package static let badRequest = ErrorCode(400, "Bad Request")
    package static let unauthenticated = ErrorCode(401, "Unauthenticated")
    package static let unknownAttribute = ErrorCode(420, "Unknown Attribute")
    package static let staleNonce = ErrorCode(438, "Stale Nonce")
    package static let serverError = ErrorCode(500, "Server Error")
    // RFC 6062 section 6.3.
    package static let connectionAlreadyExists = ErrorCode(446, "Connection Already Exists")
    package static let connectionTimeoutOrFailure = ErrorCode(447, "Connection Timeout or Failure")
    // RFC 8016 section 5.
    package static let mobilityForbidden = ErrorCode(405, "Mobility Forbidden")
    // RFC 8445 section 16.2.
    package static let roleConflict = ErrorCode(487, "Role Conflict")
    // RFC 8656 section 19.
    package static let forbidden = ErrorCode(403, "Forbidden")
    package static let allocationMismatch = ErrorCode(437, "Allocation Mismatch")
    package static let addressFamilyNotSupported = ErrorCode(440, "Address Family not Supported")
    package static let wrongCredentials = ErrorCode(441, "Wrong Credentials")
    package static let unsupportedTransport = ErrorCode(442, "Unsupported Transport Protocol")
    package static let peerAddressFamilyMismatch = ErrorCode(443, "Peer Address Family Mismatch")
    package static let allocationQuotaReached = ErrorCode(486, "Allocation Quota Reached")
    package static let insufficientCapacity = ErrorCode(508, "Insufficient Capacity")
}
