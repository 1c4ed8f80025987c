package import STUN

/// Finds the leg of a connectivity check, by the ufrag in its USERNAME. A leg that restarts ICE has two entries until
/// its new generation carries media.
package struct UfragTable<Leg: Hashable & Sendable>: Sendable {
    private var legs: [LocalUfrag: Leg] = [:]

    package init() {}

    package var count: Int {
        legs.count
    }

    /// False, and nothing changed, when another leg has that ufrag: then generate new credentials.
    package mutating func add(_ ufrag: LocalUfrag, _ leg: Leg) -> Bool {
        guard legs[ufrag] == nil else { return false }
        legs[ufrag] = leg
        return true
    }

    package mutating func remove(_ ufrag: LocalUfrag) {
        legs[ufrag] = nil
    }

    package func leg(for message: borrowing Message) -> Leg? {
        guard let ufrag = LocalUfrag(of: message) else { return nil }
        return legs[ufrag]
    }
}
