package import Wire

/// What became of a datagram that was given to an agent as a connectivity check.
package enum CheckOutcome: Hashable, Sendable {
    /// It proved nothing: nothing was answered and nothing remembered.
    case dropped(Drop)
    /// The sender knows the password but asks for something else than a check; it was told so.
    case refused(Refusal)
    case answered(Changes)
    /// One that came before from there: it was answered again, and that is all. Whoever overheard it can send it, too.
    case repeated

    package enum Drop: UInt8, Hashable, Sendable, CaseIterable {
        /// A response, an indication or another method: a lite agent asks nothing, so nothing answers it.
        case notACheck
        case noFingerprint
        case wrongUsername
        case wrongIntegrity
        /// A check that came before from another address: somebody sends it again.
        case replayed
        /// The library that signs failed.
        case notSigned
        /// The leg is lost already.
        case ended
    }

    package enum Refusal: UInt8, Hashable, Sendable, CaseIterable {
        /// No PRIORITY.
        case badRequest
        case unknownAttribute
        /// Both say that they are controlled.
        case roleConflict
    }

    /// What the host has to do now.
    package struct Changes: Hashable, Sendable {
        /// The first valid check on this flow: from now on DTLS and SRTP from it are the leg's.
        package var added: Flow?
        /// A flow that is the leg's no longer, because it was the stalest of too many.
        package var removed: Flow?
        /// Media goes there from now on.
        package var selected: Flow?
        /// A generation of credentials that is over: take it out of the directory.
        package var ended: LocalUfrag?

        package init() {}
    }
}

/// Why a leg has no way to its client any more.
package enum LegLoss: Hashable, Sendable {
    /// No valid check has ever come.
    case neverChecked
    /// RFC 7675: nobody has said for 30 s that they still want to receive.
    case consentExpired
}

/// How many datagrams had which outcome.
package struct CheckTally: Hashable, Sendable {
    package var answered: UInt64 = 0
    private var drops = [UInt64](repeating: 0, count: CheckOutcome.Drop.allCases.count)
    private var refusals = [UInt64](repeating: 0, count: CheckOutcome.Refusal.allCases.count)

    package init() {}

    package func count(_ drop: CheckOutcome.Drop) -> UInt64 {
        drops[Int(drop.rawValue)]
    }

    package func count(_ refusal: CheckOutcome.Refusal) -> UInt64 {
        refusals[Int(refusal.rawValue)]
    }

    mutating func add(_ outcome: CheckOutcome) {
        switch outcome {
        case .dropped(let drop): drops[Int(drop.rawValue)] &+= 1
        case .refused(let refusal): refusals[Int(refusal.rawValue)] &+= 1
        case .answered, .repeated: answered &+= 1
        }
    }
}
