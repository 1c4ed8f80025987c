package import Wire

/// The result of handling a datagram as a connectivity check.
package enum CheckOutcome: Hashable, Sendable {
    /// It was not authentic: no response was sent and no state changed.
    case dropped(Drop)
    /// The sender knows the password but the check is invalid; an error response was sent.
    case refused(Rejection)
    case answered(Changes)
    /// A repetition from the same flow: the response was sent again, and nothing else changed. It may be a replay.
    case repeated

    package enum Drop: UInt8, Hashable, Sendable, CaseIterable {
        /// A response, an indication or another method: a lite agent sends no requests, so it expects no response.
        case notACheck
        case noFingerprint
        case wrongUsername
        case wrongIntegrity
        /// A check that came before from another address.
        case replayed
        /// The cryptography failed to sign the response.
        case notSigned
        /// The leg has failed already.
        case ended
    }

    package enum Rejection: UInt8, Hashable, Sendable, CaseIterable {
        /// No PRIORITY.
        case badRequest
        case unknownAttribute
        /// Both are controlled.
        case roleConflict
    }

    /// The changes that the host has to apply.
    package struct Changes: Hashable, Sendable {
        /// The first valid check on this flow: from now on DTLS and SRTP from it belong to the leg.
        package var added: Flow?
        /// A flow that was removed from the leg as the stalest of too many.
        package var removed: Flow?
        /// Media is sent to this flow from now on.
        package var selected: Flow?
        /// A generation of credentials that has ended: remove its ufrag from the table.
        package var ended: LocalUfrag?

        package init() {}
    }
}

/// Why a leg has lost its client.
package enum LegLoss: Hashable, Sendable {
    /// No valid check was ever received.
    case neverChecked
    /// RFC 7675: no consent for 30 s.
    case consentExpired
}

/// The number of datagrams by outcome.
package struct CheckCounters: Hashable, Sendable {
    package var answered: UInt64 = 0
    private var drops = [UInt64](repeating: 0, count: CheckOutcome.Drop.allCases.count)
    private var rejections = [UInt64](repeating: 0, count: CheckOutcome.Rejection.allCases.count)

    package init() {}

    package func count(_ drop: CheckOutcome.Drop) -> UInt64 {
        drops[Int(drop.rawValue)]
    }

    package func count(_ rejection: CheckOutcome.Rejection) -> UInt64 {
        rejections[Int(rejection.rawValue)]
    }

    mutating func add(_ outcome: CheckOutcome) {
        switch outcome {
        case .dropped(let drop): drops[Int(drop.rawValue)] &+= 1
        case .refused(let rejection): rejections[Int(rejection.rawValue)] &+= 1
        case .answered, .repeated: answered &+= 1
        }
    }
}
