import BasicContainers
import RTP
import SDP
import Wire

// Selects the encoding of its track that each slot shows, from the leg's bandwidth and its client's preferences.

extension GatewayEngine {
    /// Selects the layers of a leg, and probes for more bandwidth when there is more to show.
    mutating func chooseLayers(
        of legIndex: Int, at now: Instant, into outbox: inout some GatewayOutbox & ~Copyable
    ) {
        guard let bandwidth = legs[legIndex].bandwidth, bandwidth.nextSelection <= now else { return }
        bandwidth.nextSelection = now.adding(nanoseconds: LegBandwidth.selectionNanoseconds)
        let slots = legs[legIndex].slots.indices.filter { legs[legIndex].slots[$0].kind == .video }
        let order = byImportance(slots, legIndex)
        var demands = slots.map { demand(of: legs[legIndex].slots[$0], at: now) }
        let audioRate = bandwidth.audioRate.bitsPerSecond(at: now)
        pause(&demands, order, audioRate, bandwidth, at: now)
        let available = bandwidth.estimate.bitrate
        let layers = bandwidth.selection.select(
            demands, order: order, available: available > audioRate ? available &- audioRate : 0, at: now)
        var chosen = audioRate
        var requested = audioRate
        var shown = audioRate
        for (index, slot) in slots.enumerated() where index < layers.count {
            if demands[index].limit < 0 {
                legs[legIndex].slots[slot].pause()
            } else {
                legs[legIndex].slots[slot].select(layer: layers[index])
            }
            choose(for: SlotIndex(leg: legIndex, slot: slot), at: now)
            shown &+= cost(of: legs[legIndex].slots[slot], demands[index])
            chosen &+= layers[index].map { demands[index].bitrates[$0] } ?? 0
            requested &+= demands[index].maxBitrate
        }
        if shown / 2 > bandwidth.estimate.bitrate { dropLeaving(slots, legIndex, bandwidth) }
        // With headroom, since a step up needs it.
        bandwidth.estimate.requestedBitrate = requested / 4 &* 5
        // The bitrate of a new camera is unknown before its first frame, which must not wait.
        let pace = max(bandwidth.estimate.requestedBitrate, LegBandwidth.minPacingRate)
        bandwidth.pacer.set(
            bitrate: max(min(bandwidth.estimate.bitrate, pace), chosen),
            isCongested: bandwidth.limitsBursts(at: now))
        let probe = bandwidth.estimate.advance(to: now)
        if let probe {
            bandwidth.pacer.begin(probe, at: now)
            counters.probes &+= 1
        }
        // The release time of waiting packets was computed for another pacing rate.
        if probe != nil || !bandwidth.waiting.isEmpty {
            releaseWaiting(of: legIndex, bandwidth, at: now, into: &outbox)
        }
    }

    /// Bits per second of what the slot shows at the moment.
    private func cost(of slot: Slot, _ demand: LayerSelection.Demand) -> UInt64 {
        guard let source = slot.rewriter.source, let stream = encodings[source], stream.track == slot.state.track else {
            return 0
        }
        let layer = tracks[stream.track].order.layer(of: stream.encoding)
        return demand.bitrates.indices.contains(layer) ? demand.bitrates[layer] : 0
    }

    /// Drops what waits of the layers that are being left, though their successors have not begun: it would delay those
    /// for longer than they need to begin.
    private mutating func dropLeaving(_ slots: [Int], _ legIndex: Int, _ bandwidth: LegBandwidth) {
        for slot in slots where legs[legIndex].slots[slot].rewriter.isLeaving {
            dropWaiting(slot, of: legIndex, bandwidth)
        }
    }

    /// Has the leg's layers selected with the next tick.
    mutating func chooseLayersSoon(of legIndex: Int) {
        legs[legIndex].bandwidth?.nextSelection = Instant(nanoseconds: 0)
    }

    /// The indices in `slots`: screens first, then those whose participants spoke last.
    private func byImportance(_ slots: [Int], _ legIndex: Int) -> [Int] {
        let speakers = calls[legs[legIndex].call].ranking.speakers
        let ranks = slots.indices.map { index -> (Int, Int, Int) in
            guard let track = legs[legIndex].slots[slots[index]].state.track else { return (2, 0, index) }
            let leg = tracks[track].leg
            let spoke = speakers.firstIndex { Int($0) < tracks.count && tracks[Int($0)].leg == leg }
            return (tracks[track].name.source == .screen ? 0 : 1, spoke ?? .max, index)
        }
        return ranks.sorted { $0 < $1 }.map(\.2)
    }

    private func demand(of slot: Slot, at now: Instant) -> LayerSelection.Demand {
        guard let track = slot.state.track else { return LayerSelection.Demand(bitrates: []) }
        let bitrates = tracks[track].order.encodings.map { index in
            tracks[track].encodings[index].isActive(at: now)
                // Not 0, which would mean that it is not sent.
                ? max(tracks[track].encodings[index].bitrate.bitsPerSecond(at: now), 1) : 0
        }
        return LayerSelection.Demand(bitrates: bitrates, limit: slot.preferredQuality.limit(bitrates))
    }

    /// Pauses the least important videos of a leg whose link does not carry even the lowest layers.
    private func pause(
        _ demands: inout [LayerSelection.Demand], _ order: [Int], _ audioRate: UInt64, _ bandwidth: LegBandwidth,
        at now: Instant
    ) {
        let shown = order.filter { demands[$0].limit >= 0 && demands[$0].minBitrate > 0 }
        let carried = shown.dropLast(bandwidth.paused.count)
        let needed = carried.reduce(audioRate) { $0 &+ demands[$1].minBitrate }
        bandwidth.paused.advance(
            isStrained: !carried.isEmpty && bandwidth.isStrained(needing: needed), videoCount: shown.count, to: now)
        for index in shown.suffix(bandwidth.paused.count) { demands[index].limit = -1 }
    }
}
