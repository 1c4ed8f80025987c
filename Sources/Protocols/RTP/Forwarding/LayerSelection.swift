package import Wire

/// Selects the simulcast layer of each video slot of a leg, so that all of them fit into its bandwidth.
///
/// Every slot has its lowest layer, whatever the estimate: an estimate is a guess, and no video is worse than poor
/// video. Then the slots are raised one step after another, in order of priority. Stepping down is immediate. Stepping
/// up waits until there has been headroom for a while, and longer if the last step up had to be reverted: a layer that
/// comes and goes is worse than a lower one that stays.
package struct LayerSelection: Sendable {
    /// The layers that a slot can show now.
    package struct Demand: Hashable, Sendable {
        /// Bits per second of each layer (`rid`), the lowest first; 0 for one that is not sent.
        package var bitrates: [UInt64]
        /// The index of the highest layer that the receiver requested; negative for none.
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

        /// The bitrate of the lowest layer; 0 when there is nothing to show.
        package var minBitrate: UInt64 { next(above: nil).map { bitrate(of: $0) } ?? 0 }
        /// The bitrate of the highest requested layer.
        package var maxBitrate: UInt64 { bitrates.indices.map { bitrate(of: $0) }.max() ?? 0 }
    }

    private struct Choice {
        var layer: Int?
        var headroomSince: Instant?
        var raisedAt: Instant?
        var wait = LayerSelection.minWait
        /// The available bandwidth when it was raised.
        var raisedWith: UInt64 = 0
        /// The same for the last step up that was reverted.
        var failedWith: UInt64 = 0
    }

    private static let minWait: UInt64 = 1_000_000_000
    private static let maxWait: UInt64 = 30_000_000_000
    /// A layer that was kept for this long is stable.
    private static let stablePeriod: UInt64 = 10_000_000_000

    private var choices: [Choice] = []

    package init() {}

    /// The slot shows another track: forget its history.
    package mutating func reset(_ index: Int) {
        if choices.indices.contains(index) { choices[index] = Choice() }
    }

    /// The index of the layer that each slot shows; nil where there is nothing to show.
    ///
    /// - Parameters:
    ///   - demands: of the slots, each at the same index in every call.
    ///   - order: the indices of the slots, the most important first.
    ///   - available: bits per second for all slots.
    package mutating func select(
        _ demands: [Demand], order: [Int], available: UInt64, at now: Instant
    ) -> [Int?] {
        if choices.count > demands.count { choices.removeLast(choices.count - demands.count) }
        while choices.count < demands.count { choices.append(Choice()) }
        let affordable = Self.distribute(demands, order, available)
        // A step up must leave a tenth of the estimate free.
        let comfortable = Self.distribute(demands, order, available / 10 &* 9)
        for index in choices.indices {
            // With half as much again as at the failed step up, try again soon.
            if available / 3 > choices[index].failedWith / 2 { choices[index].wait = Self.minWait }
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
        // A slot whose layer is no longer sent changes at once, down or up.
        let isGone = current.map { demand.bitrate(of: $0) == 0 } ?? true
        guard (affordable ?? -1) >= (current ?? -1), !isGone else {
            if !isGone, let raised = choices[index].raisedAt, now.nanoseconds(since: raised) < Self.stablePeriod {
                choices[index].wait = min(choices[index].wait &* 2, Self.maxWait)
                choices[index].failedWith = choices[index].raisedWith
            }
            choices[index].layer = affordable
            choices[index].headroomSince = nil
            choices[index].raisedAt = nil
            return
        }
        if let raised = choices[index].raisedAt, now.nanoseconds(since: raised) >= Self.stablePeriod {
            choices[index].wait = Self.minWait
        }
        guard let comfortable = comfortable.map({ min($0, affordable ?? $0) }), comfortable > current ?? -1 else {
            choices[index].headroomSince = nil
            return
        }
        let since = choices[index].headroomSince ?? now
        choices[index].headroomSince = since
        guard now.nanoseconds(since: since) >= choices[index].wait else { return }
        choices[index].layer = comfortable
        choices[index].headroomSince = nil
        choices[index].raisedAt = now
    }

    /// The highest layers that fit into `available`, beyond the lowest ones, without history.
    static func distribute(_ demands: [Demand], _ order: [Int], _ available: UInt64) -> [Int?] {
        var layers = demands.map { $0.next(above: nil) }
        var rest = available
        for demand in demands { rest = rest > demand.minBitrate ? rest &- demand.minBitrate : 0 }
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
