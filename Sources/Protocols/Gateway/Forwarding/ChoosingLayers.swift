import BasicContainers
import RTP
import SDP
import Wire

// Which encoding of its track each slot shows: what the leg can receive, and what its client wants to see.

extension GatewayEngine {
    /// Chooses the layers of a leg, and tries whether it can receive more when there is more to show.
    mutating func chooseLayers(
        of place: Int, at now: Instant, into outbox: inout some GatewayOutbox & ~Copyable
    ) {
        guard let bandwidth = legs[place].bandwidth, bandwidth.nextSelection <= now else { return }
        bandwidth.nextSelection = now.adding(nanoseconds: LegBandwidth.selectionNanoseconds)
        let slots = legs[place].slots.indices.filter { legs[place].slots[$0].kind == .video }
        let order = byImportance(slots, place)
        var demands = slots.map { demand(of: legs[place].slots[$0], at: now) }
        let sound = bandwidth.sound.bitsPerSecond(at: now)
        pause(&demands, order, sound, bandwidth, at: now)
        let available = bandwidth.estimate.bitrate
        let layers = bandwidth.selection.select(
            demands, order: order, available: available > sound ? available &- sound : 0, at: now)
        var chosen = sound
        var wanted = sound
        var shown = sound
        for (index, slot) in slots.enumerated() where index < layers.count {
            legs[place].slots[slot].layer = layers[index]
            legs[place].slots[slot].isOff = demands[index].limit < 0
            choose(for: SlotPlace(leg: place, slot: slot), at: now)
            shown &+= cost(of: legs[place].slots[slot], demands[index])
            chosen &+= layers[index].map { demands[index].bitrates[$0] } ?? 0
            wanted &+= demands[index].most
        }
        if shown / 2 > bandwidth.estimate.bitrate { leaveAtOnce(slots, place, bandwidth) }
        // Room to spare is wanted too, else the last step would never be comfortable.
        bandwidth.estimate.wanted = wanted / 4 &* 5
        // Of a camera that is turned on nothing is known before its first picture, which is not to wait.
        let pace = max(bandwidth.estimate.wanted, LegBandwidth.leastPace)
        bandwidth.pacer.set(
            bitrate: max(min(bandwidth.estimate.bitrate, pace), chosen),
            isCongested: bandwidth.isGentle(at: now))
        let probe = bandwidth.estimate.advance(to: now)
        if let probe {
            bandwidth.pacer.begin(probe, at: now)
            tally.probes &+= 1
        }
        // What waits was told when by another pace.
        if probe != nil || !bandwidth.waiting.isEmpty { releaseWaiting(of: place, bandwidth, at: now, into: &outbox) }
    }

    /// Bits per second of what the slot shows at the moment.
    private func cost(of slot: Slot, _ demand: LayerSelection.Demand) -> UInt64 {
        guard let source = slot.rewriter.source, let stream = encodings[source], stream.track == slot.track else {
            return 0
        }
        let layer = tracks[stream.track].order.layer(of: stream.encoding)
        return demand.bitrates.indices.contains(layer) ? demand.bitrates[layer] : 0
    }

    /// Nothing more of the layers that are left is sent, though their successors have not begun: it would be in their
    /// way for longer than they need to come.
    private mutating func leaveAtOnce(_ slots: [Int], _ place: Int, _ bandwidth: LegBandwidth) {
        for slot in slots where legs[place].slots[slot].rewriter.isLeaving { giveUp(slot, of: place, bandwidth) }
    }

    /// Something changed that lets the leg's layers be chosen with the next tick.
    mutating func chooseLayersSoon(of place: Int) {
        legs[place].bandwidth?.nextSelection = Instant(nanoseconds: 0)
    }

    /// The places in `slots`: screens first, then those whose participants spoke last.
    private func byImportance(_ slots: [Int], _ place: Int) -> [Int] {
        let speakers = calls[legs[place].call].ranking.speakers
        let ranks = slots.indices.map { index -> (Int, Int, Int) in
            guard let track = legs[place].slots[slots[index]].track else { return (2, 0, index) }
            let leg = tracks[track].leg
            let spoke = speakers.firstIndex { Int($0) < tracks.count && tracks[Int($0)].leg == leg }
            return (tracks[track].name.source == .screen ? 0 : 1, spoke ?? .max, index)
        }
        return ranks.sorted { $0 < $1 }.map(\.2)
    }

    private func demand(of slot: Slot, at now: Instant) -> LayerSelection.Demand {
        guard let track = slot.track else { return LayerSelection.Demand(bitrates: []) }
        let bitrates = tracks[track].order.encodings.map { index in
            tracks[track].encodings[index].isHeard(at: now)
                // Of what is sent something is known, and be it that it is there.
                ? max(tracks[track].encodings[index].bitrate.bitsPerSecond(at: now), 1) : 0
        }
        return LayerSelection.Demand(bitrates: bitrates, limit: slot.wanted.limit(bitrates))
    }

    /// Gives up the least important pictures of a leg whose link does not even carry the lowest layers.
    private func pause(
        _ demands: inout [LayerSelection.Demand], _ order: [Int], _ sound: UInt64, _ bandwidth: LegBandwidth,
        at now: Instant
    ) {
        let shown = order.filter { demands[$0].limit >= 0 && demands[$0].least > 0 }
        let carried = shown.dropLast(bandwidth.paused.count)
        let needed = carried.reduce(sound) { $0 &+ demands[$1].least }
        bandwidth.paused.advance(
            isStrained: !carried.isEmpty && bandwidth.isStrained(needing: needed), most: shown.count, to: now)
        for index in shown.suffix(bandwidth.paused.count) { demands[index].limit = -1 }
    }
}
