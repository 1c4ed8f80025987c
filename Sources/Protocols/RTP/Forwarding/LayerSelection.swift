package import Wire

/// Which simulcast layer each video slot of a leg shows, so that all together fit what the leg can receive.
///
/// Every slot gets its lowest layer first, in order of priority, then one step up after another. Going down is done at
/// once. Going up waits until there has been room to spare for a while, which grows when a step up had to be taken back:
/// a layer that comes and goes is worse than a lower one that stays.
package struct LayerSelection: Sendable {
    /// What a slot may show now.
    package struct Demand: Hashable, Sendable {
        /// Bits per second of each layer (`rid`), the lowest first; 0 for one that is not sent.
        package var bitrates: [UInt64]
        /// The highest layer that the receiver wants, as an index.
        package var limit: Int

        package init(bitrates: [UInt64], limit: Int = .max) {
            self.bitrates = bitrates
            self.limit = limit
        }
    }

    private struct Choice {
        var layer: Int?
        var roomSince: Instant?
        var raisedAt: Instant?
        var wait = LayerSelection.shortestWait
    }

    private static let shortestWait: UInt64 = 1_000_000_000
    private static let longestWait: UInt64 = 30_000_000_000

    private var choices: [Choice] = []

    package init() {}

    /// What each slot shows, as an index of its layers; nil for a slot that is paused. `demands` are in order of priority
    /// and keep their places from call to call.
    package mutating func select(_ demands: [Demand], available: UInt64, at now: Instant) -> [Int?] {
        if choices.count > demands.count { choices.removeLast(choices.count - demands.count) }
        while choices.count < demands.count { choices.append(Choice()) }
        let affordable = Self.distribute(demands, available)
        // A step up must leave a tenth of the estimate free.
        let comfortable = Self.distribute(demands, available / 10 &* 9)
        for index in choices.indices {
            choose(index, affordable[index], comfortable[index], demands[index], at: now)
        }
        return choices.map(\.layer)
    }

    private mutating func choose(
        _ index: Int, _ affordable: Int?, _ comfortable: Int?, _ demand: Demand, at now: Instant
    ) {
        let current = choices[index].layer
        // A layer that is no longer sent leaves at once to what there is, lower or higher.
        let isGone = current.map { Self.bitrate($0, demand) == 0 } ?? true
        guard (affordable ?? -1) >= (current ?? -1), !isGone else {
            if let raised = choices[index].raisedAt, now.nanoseconds(since: raised) < 10_000_000_000 {
                choices[index].wait = min(choices[index].wait &* 2, Self.longestWait)
            }
            choices[index].layer = affordable
            choices[index].roomSince = nil
            choices[index].raisedAt = nil
            return
        }
        if let raised = choices[index].raisedAt, now.nanoseconds(since: raised) >= 10_000_000_000 {
            choices[index].wait = Self.shortestWait
        }
        guard let comfortable = comfortable.map({ min($0, affordable ?? $0) }), comfortable > current ?? -1 else {
            choices[index].roomSince = nil
            return
        }
        let since = choices[index].roomSince ?? now
        choices[index].roomSince = since
        guard now.nanoseconds(since: since) >= choices[index].wait else { return }
        choices[index].layer = comfortable
        choices[index].roomSince = nil
        choices[index].raisedAt = now
    }

    private static func bitrate(_ layer: Int, _ demand: Demand) -> UInt64 {
        demand.bitrates.indices.contains(layer) && layer <= demand.limit ? demand.bitrates[layer] : 0
    }

    /// The best that `available` pays for, without looking at the past.
    static func distribute(_ demands: [Demand], _ available: UInt64) -> [Int?] {
        var layers = [Int?](repeating: nil, count: demands.count)
        var rest = available
        var isRaised = true
        while isRaised {
            isRaised = false
            for index in demands.indices {
                let current = layers[index] ?? -1
                guard
                    let next = demands[index].bitrates.indices.first(where: {
                        $0 > current && bitrate($0, demands[index]) > 0
                    })
                else { continue }
                let cost = bitrate(next, demands[index])
                let saved = layers[index].map { bitrate($0, demands[index]) } ?? 0
                // A higher layer that costs less (it was measured in a still scene) gives its bits back.
                guard cost <= rest &+ saved else { continue }
                rest = rest &+ saved &- cost
                layers[index] = next
                isRaised = true
            }
        }
        return layers
    }
}
