import BasicContainers
import RTP
package import SDP
package import Wire

// Which encoding of its track each slot of video shows.

extension GatewayEngine {
    /// What a receiver would like to see in a slot. False when there is no such slot.
    @discardableResult
    package mutating func setWish(of id: LegID, mid: String, _ wish: SlotWish, at now: Instant) -> Bool {
        guard let place = place(of: id),
            let slot = legs[place].slots.firstIndex(where: { $0.mid == mid && $0.kind == .video })
        else { return false }
        legs[place].slots[slot].wish = wish
        legs[place].sending.nextLayers = now
        return true
    }

    /// Follows the estimate, chooses layers, and lets go what waits.
    mutating func keepPace(_ place: Int, at now: Instant, into outbox: inout some GatewayOutbox & ~Copyable) {
        guard legs[place].hasVideoSlots else { return }
        if legs[place].sending.nextEstimate <= now {
            legs[place].sending.nextEstimate = now.adding(nanoseconds: LegSending.estimateNanoseconds)
            if let probe = legs[place].sending.estimate.advance(to: now) {
                legs[place].sending.pacer.begin(probe, at: now)
            }
            legs[place].sending.pacer.set(bitrate: legs[place].sending.estimate.bitrate)
        }
        if legs[place].sending.nextLayers <= now { selectLayers(place, at: now, into: &outbox) }
        pump(place, at: now, into: &outbox)
    }

    private mutating func selectLayers(
        _ place: Int, at now: Instant, into outbox: inout some GatewayOutbox & ~Copyable
    ) {
        legs[place].sending.nextLayers = now.adding(nanoseconds: LegSending.layerNanoseconds)
        var audio: UInt64 = 0
        var demands: [LayerSelection.Demand] = []
        for slot in legs[place].slots.indices {
            demands.append(demand(of: slot, place, at: now))
            if legs[place].slots[slot].kind == .audio, let track = legs[place].slots[slot].track {
                audio &+= tracks[track].bitrate(0, at: now)
            }
        }
        let highest = demands.reduce(0) { sum, demand in
            sum
                &+ (demand.bitrates.indices.last { $0 <= demand.limit && demand.bitrates[$0] > 0 }
                    .map { demand.bitrates[$0] } ?? 0)
        }
        // A step up wants a tenth to spare, and what is measured varies: bursts aim at more than the sum.
        legs[place].sending.estimate.wanted = highest == 0 ? 0 : (highest &+ audio) / 10 &* 13
        let available = available(for: demands, audio, place, at: now)
        let layers = legs[place].sending.layers.select(demands, available: available, at: now)
        for slot in legs[place].slots.indices where legs[place].slots[slot].kind == .video {
            guard let track = legs[place].slots[slot].track else { continue }
            // Of what is not being sent the first packet is to be shown at once.
            guard legs[place].slots[slot].wish.isPaused || demands[slot].bitrates.contains(where: { $0 > 0 }) else {
                continue
            }
            apply(layers[slot].flatMap { tracks[track].encoding(ofLayer: $0) }, SlotPlace(leg: place, slot: slot))
            guard legs[place].slots[slot].rewriter.awaitsEntry, let number = legs[place].slots[slot].encoding,
                let stream = encodings[number]
            else { continue }
            askForKeyFrame(of: stream, at: now, into: &outbox)
        }
    }

    /// Bits per second for video. As long as nothing is known of the leg, or a shortage has only begun, the lowest layers
    /// are sent all the same.
    private mutating func available(
        for demands: [LayerSelection.Demand], _ audio: UInt64, _ place: Int, at now: Instant
    ) -> UInt64 {
        let bitrate = legs[place].sending.estimate.bitrate
        let available = bitrate > audio ? bitrate &- audio : 0
        let least = demands.reduce(0) { sum, demand in sum &+ (demand.bitrates.first { $0 > 0 } ?? 0) }
        guard available < least else {
            legs[place].sending.shortSince = nil
            return available
        }
        guard legs[place].sending.estimate.isKnown else { return least }
        let since = legs[place].sending.shortSince ?? now
        legs[place].sending.shortSince = since
        return now.nanoseconds(since: since) < LegSending.shortageNanoseconds ? least : available
    }

    /// Empty for a slot of audio, or one that shows nothing.
    private func demand(of slot: Int, _ place: Int, at now: Instant) -> LayerSelection.Demand {
        guard legs[place].slots[slot].kind == .video, let track = legs[place].slots[slot].track,
            !legs[place].slots[slot].wish.isPaused
        else { return LayerSelection.Demand(bitrates: []) }
        let count = tracks[track].encodings.count
        let bitrates = (0..<count).map { layer in
            tracks[track].encoding(ofLayer: layer).map { tracks[track].bitrate($0, at: now) } ?? 0
        }
        var priority = 1_000
        if tracks[track].name.source == .screen {
            priority = 0
        } else if let rank = calls[legs[place].call].ranking.speakers.firstIndex(where: { voice in
            Int(voice) < tracks.count && tracks[Int(voice)].leg == tracks[track].leg
        }) {
            priority = 1 &+ rank
        }
        return LayerSelection.Demand(
            bitrates: bitrates, limit: tracks[track].highestLayer(for: legs[place].slots[slot].wish),
            priority: priority)
    }

    private mutating func apply(_ encoding: Int?, _ place: SlotPlace) {
        guard let track = legs[place.leg].slots[place.slot].track else { return }
        let number = encoding.map { tracks[track].encodings[$0].number }
        legs[place.leg].slots[place.slot].isPaused = number == nil
        guard legs[place.leg].slots[place.slot].encoding != number else { return }
        legs[place.leg].slots[place.slot].encoding = number
        legs[place.leg].slots[place.slot].rewriter.show(number)
    }
}

extension Track {
    /// The encoding of a layer, counted from the lowest: by the lines that their key frames were seen to have, else in
    /// the order in which the client named them.
    func encoding(ofLayer layer: Int) -> Int? {
        guard layer >= 0, layer < encodings.count else { return nil }
        for index in 0..<encodings.count where rank(of: index) == layer { return index }
        return layer
    }

    private func rank(of index: Int) -> Int {
        var rank = 0
        for other in 0..<encodings.count where other != index {
            guard let own = encodings[index].height, let its = encodings[other].height, own != its else {
                rank &+= other < index ? 1 : 0
                continue
            }
            rank &+= its < own ? 1 : 0
        }
        return rank
    }

    /// What an encoding costs; 0 for one that is not being sent. Siblings that go on show that one has stopped.
    func bitrate(_ index: Int, at now: Instant) -> UInt64 {
        guard index < encodings.count, encodings[index].isHeard(at: now) else { return 0 }
        for other in 0..<encodings.count where encodings[other].isHeard(since: encodings[index], by: 700_000_000) {
            return 0
        }
        return max(encodings[index].meter.bitsPerSecond(at: now), 5_000)
    }

    /// The highest layer that a receiver wishes for. Where heights are not known each layer is taken for half of the next.
    func highestLayer(for wish: SlotWish) -> Int {
        var limit = Int.max
        if let rid = wish.rid {
            for layer in 0..<encodings.count {
                if let index = encoding(ofLayer: layer), encodings[index].rid == rid { limit = layer }
            }
        }
        guard let height = wish.maximumHeight else { return limit }
        var highest = 0
        for layer in 0..<encodings.count {
            guard let index = encoding(ofLayer: layer) else { continue }
            let lines = encodings[index].height ?? 720 >> (encodings.count &- 1 &- layer)
            if lines <= height { highest = layer }
        }
        return min(limit, highest)
    }
}
