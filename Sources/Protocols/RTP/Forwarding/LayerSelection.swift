package import Wire

/// Which simulcast layer each video slot of a leg shows, so that all together fit what the leg can receive.
///
/// Every slot has its lowest layer, whatever the estimate says: an estimate is a guess, and a picture that is gone is the
/// worst of all pictures. Then the slots are raised one step after another, in the order of priority. Going down is done
/// at once. Going up waits until there has been room to spare for a while, which grows when a step up had to be taken
/// back: a layer that comes and goes is worse than a lower one that stays.
package struct LayerSelection: Sendable {
    /// What a slot may show now.
    package struct Demand: Hashable, Sendable {
        /// Bits per second of each layer (`rid`), the lowest first; 0 for one that is not sent.
        package var bitrates: [UInt64]
        /// The highest layer that the receiver wants, as an index. Below 0 it wants none.
        package var limit: Int

        package init(bitrates: [UInt64], limit: Int = .max) {
            self.bitrates = bitrates
            self.limit = limit
        }

        func bitrate(of layer: Int) -> UInt64 {
            bitrates.indices.contains(layer) && layer <= limit ? bitrates[layer] : 0
        }

        /// The next layer above one that is sent.
        func next(above layer: Int?) -> Int? {
            bitrates.indices.first { $0 > layer ?? -1 && bitrate(of: $0) > 0 }
        }

        /// What the lowest layer costs; 0 when there is nothing to show.
        package var least: UInt64 { next(above: nil).map { bitrate(of: $0) } ?? 0 }
        /// What the best of them costs that the receiver wants.
        package var most: UInt64 { bitrates.indices.map { bitrate(of: $0) }.max() ?? 0 }
    }

    private struct Choice {
        var layer: Int?
        var roomSince: Instant?
        var raisedAt: Instant?
        var wait = LayerSelection.shortestWait
        /// What was available when it was raised.
        var raisedWith: UInt64 = 0
        /// The same of the last step up that was taken back.
        var triedWith: UInt64 = 0
    }

    private static let shortestWait: UInt64 = 1_000_000_000
    private static let longestWait: UInt64 = 30_000_000_000
    /// A layer that was kept for so long is not taken for one that comes and goes.
    private static let settled: UInt64 = 10_000_000_000

    private var choices: [Choice] = []

    package init() {}

    /// The slot shows another track: its layers are to be chosen as if for the first time.
    package mutating func forget(_ index: Int) {
        if choices.indices.contains(index) { choices[index] = Choice() }
    }

    /// What each slot shows, as an index of its layers; nil where there is nothing to show.
    ///
    /// - Parameters:
    ///   - demands: of the slots, each in the same place from call to call.
    ///   - order: the places, the most important first.
    ///   - available: bits per second for all of them.
    package mutating func select(
        _ demands: [Demand], order: [Int], available: UInt64, at now: Instant
    ) -> [Int?] {
        if choices.count > demands.count { choices.removeLast(choices.count - demands.count) }
        while choices.count < demands.count { choices.append(Choice()) }
        let affordable = Self.distribute(demands, order, available)
        // A step up must leave a tenth of the estimate free.
        let comfortable = Self.distribute(demands, order, available / 10 &* 9)
        for index in choices.indices {
            // More than half as much again as what a step up was tried with in vain is another link.
            if available / 3 > choices[index].triedWith / 2 { choices[index].wait = Self.shortestWait }
            let last = choices[index].layer
            choose(index, affordable[index], comfortable[index], demands[index], at: now)
            if choices[index].layer ?? -1 > last ?? -1 { choices[index].raisedWith = available }
        }
        return choices.map(\.layer)
    }

    private mutating func choose(
        _ index: Int, _ affordable: Int?, _ comfortable: Int?, _ demand: Demand, at now: Instant
    ) {
        let current = choices[index].layer
        // A layer that is no longer sent leaves at once to what there is, lower or higher.
        let isGone = current.map { demand.bitrate(of: $0) == 0 } ?? true
        guard (affordable ?? -1) >= (current ?? -1), !isGone else {
            if !isGone, let raised = choices[index].raisedAt, now.nanoseconds(since: raised) < Self.settled {
                choices[index].wait = min(choices[index].wait &* 2, Self.longestWait)
                choices[index].triedWith = choices[index].raisedWith
            }
            choices[index].layer = affordable
            choices[index].roomSince = nil
            choices[index].raisedAt = nil
            return
        }
        if let raised = choices[index].raisedAt, now.nanoseconds(since: raised) >= Self.settled {
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

    /// The best that `available` pays for beyond the lowest layers, without looking at the past.
    static func distribute(_ demands: [Demand], _ order: [Int], _ available: UInt64) -> [Int?] {
        var layers = demands.map { $0.next(above: nil) }
        var rest = available
        for demand in demands { rest = rest > demand.least ? rest &- demand.least : 0 }
        var isRaised = true
        while isRaised {
            isRaised = false
            for index in order where demands.indices.contains(index) {
                guard let current = layers[index], let next = demands[index].next(above: current) else { continue }
                let cost = demands[index].bitrate(of: next)
                let saved = demands[index].bitrate(of: current)
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
