import Model

/// The video quality that an endpoint requests for one of its leg's video slots.
package enum SlotQuality: String, Hashable, Sendable, CaseIterable {
    /// No video: the slot is not visible.
    case off
    case low
    case medium
    /// The best available; the default.
    case high
}

/// An endpoint's quality preference for one of its video slots.
package struct SlotPreference: Hashable, Sendable {
    /// The mid of the slot's section.
    package var mid: String
    package var quality: SlotQuality

    package init(mid: String, quality: SlotQuality) {
        self.mid = mid
        self.quality = quality
    }
}

// Preferences are not part of the call document: they belong to the leg and end with it.
extension CallCommands {
    /// Checks the sizes of preferences, without the leg.
    package func check(_ preferences: [String: SlotQuality]) throws {
        guard preferences.count <= 64, preferences.keys.allSatisfy({ $0.utf8.count <= 256 }) else {
            throw Problem.invalid("slots", "Name at most 64 video slots by their mids.")
        }
    }

    /// Checks that all preferences are for video slots of the leg; `slots` are the leg's current preferences. The error
    /// names the first unknown mid in alphabetical order.
    package func check(_ preferences: [String: SlotQuality], against slots: [SlotPreference]) throws {
        let mids = slots.map(\.mid)
        guard let unknown = preferences.keys.filter({ !mids.contains($0) }).min() else { return }
        let known = mids.isEmpty ? "no video slots" : mids.joined(separator: ", ")
        throw Problem.invalid("slots.\(unknown)", "slots.\(unknown): no such video slot; the leg has \(known).")
    }
}
