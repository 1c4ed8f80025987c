package import Model

/// How good a picture an endpoint wants in one of its leg's video slots.
package enum SlotQuality: String, Hashable, Sendable, CaseIterable {
    /// None at all: nobody sees it.
    case off
    case low
    case medium
    /// As good as there is; so it is until something else is asked for.
    case high
}

/// What an endpoint wants in one of its video slots.
package struct SlotWish: Hashable, Sendable {
    /// The section of the leg's descriptions.
    package var mid: String
    package var quality: SlotQuality

    package init(mid: String, quality: SlotQuality) {
        self.mid = mid
        self.quality = quality
    }
}

// Wishes are no part of the call: they belong to the leg, and go with it.
extension CallCommands {
    /// Checks wishes, by mid, as far as that can be done without the leg.
    package func check(_ wishes: [String: SlotQuality]) throws {
        guard wishes.count <= 64, wishes.keys.allSatisfy({ $0.utf8.count <= 256 }) else {
            throw Problem.invalid("slots", "Name at most 64 video slots by their mids.")
        }
    }

    /// Checks that wishes are for video slots of the leg, whose wishes are these. Of several that are not, the first by name
    /// is told.
    package func check(_ wishes: [String: SlotQuality], against slots: [SlotWish]) throws {
        let mids = slots.map(\.mid)
        guard let unknown = wishes.keys.filter({ !mids.contains($0) }).min() else { return }
        let known = mids.isEmpty ? "no video slots" : mids.joined(separator: ", ")
        throw Problem.invalid("slots.\(unknown)", "slots.\(unknown): no such video slot; the leg has \(known).")
    }
}
