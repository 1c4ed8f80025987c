import BasicContainers
import SDP

/// The video quality that a participant prefers in one of its slots: a small view needs no high layer, a hidden one
/// none.
package enum PreferredQuality: String, Hashable, Sendable, CaseIterable {
    case off
    case low
    case medium
    case high

    /// The index of the highest layer allowed, given the bitrates (0 for one that is not sent); negative for none.
    /// `low` is the lowest layer that is sent.
    func limit(_ bitrates: [UInt64]) -> Int {
        let lowest = bitrates.firstIndex { $0 > 0 } ?? 0
        return switch self {
        case .off: -1
        case .low: lowest
        case .medium: max(lowest, (bitrates.count &- 1) / 2)
        case .high: .max
        }
    }
}

// Stores the preferences of participants; the layer of a slot is selected together with the bandwidth.
extension GatewayEngine {
    /// Sets a participant's preferences for some of its video slots, by mid; the others keep theirs. Mids of no video
    /// slot are ignored: the caller reports them to its client. False when the leg is gone.
    @discardableResult
    package mutating func setPreferences(_ preferences: [String: PreferredQuality], on id: LegID) -> Bool {
        guard let legIndex = index(of: id) else { return false }
        for index in legs[legIndex].slots.indices where legs[legIndex].slots[index].kind == .video {
            if let preferredQuality = preferences[legs[legIndex].slots[index].mid] {
                legs[legIndex].slots[index].preferredQuality = preferredQuality
            }
        }
        chooseLayersSoon(of: legIndex)
        return true
    }

    /// The preference for each of a leg's video slots, by mid; nil when the leg is gone.
    package func preferences(of id: LegID) -> [String: PreferredQuality]? {
        guard let legIndex = index(of: id) else { return nil }
        let pairs = legs[legIndex].slots.filter { $0.kind == .video }.map { ($0.mid, $0.preferredQuality) }
        return Dictionary(pairs, uniquingKeysWith: { first, _ in first })
    }
}
