import BasicContainers
import SDP

/// How good a picture a participant wants in one of its slots: what is shown small needs no best layer, what nobody
/// looks at none.
package enum WantedQuality: String, Hashable, Sendable, CaseIterable {
    case off
    case low
    case medium
    case high

    /// The best layer of those with these bitrates, 0 for one that is not sent, as an index; below 0 there is none. Whoever
    /// wants little gets the least that there is.
    func limit(_ bitrates: [UInt64]) -> Int {
        let least = bitrates.firstIndex { $0 > 0 } ?? 0
        return switch self {
        case .off: -1
        case .low: least
        case .medium: max(least, (bitrates.count &- 1) / 2)
        case .high: .max
        }
    }
}

// What participants want. It is only kept here; which layer a slot shows is chosen where the path's room is known too.
extension GatewayEngine {
    /// A participant says what it wants in some of its video slots, by their mids; the others stay as they are. Mids of no
    /// video slot mean nothing: whoever calls has told its client. False when the leg has gone.
    @discardableResult
    package mutating func want(_ wishes: [String: WantedQuality], on id: LegID) -> Bool {
        guard let place = place(of: id) else { return false }
        for index in legs[place].slots.indices where legs[place].slots[index].kind == .video {
            if let wanted = wishes[legs[place].slots[index].mid] { legs[place].slots[index].wanted = wanted }
        }
        chooseLayersSoon(of: place)
        return true
    }

    /// What is wanted in each of a leg's video slots, by mid; nil when it has gone.
    package func wishes(of id: LegID) -> [String: WantedQuality]? {
        guard let place = place(of: id) else { return nil }
        let pairs = legs[place].slots.filter { $0.kind == .video }.map { ($0.mid, $0.wanted) }
        return Dictionary(pairs, uniquingKeysWith: { first, _ in first })
    }
}
