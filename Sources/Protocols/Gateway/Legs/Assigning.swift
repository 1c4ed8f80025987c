import BasicContainers
import RTP
import SDP
import Wire

// Assigns tracks to slots.
//
// A leg with enough slots gets every track that it can decode. With fewer slots, audio slots go to the loudest voices,
// and video slots to screens first, then to the cameras of those who spoke last. A track that is shown keeps its slot.

extension GatewayEngine {
    /// Assigns the slots of every leg of a call, and notifies the legs whose slots changed.
    mutating func assign(_ call: Int, at now: Instant, into outbox: inout some GatewayOutbox & ~Copyable) {
        guard call < calls.count else { return }
        for legIndex in calls[call].legs {
            assign(.audio, to: legIndex, at: now)
            assign(.video, to: legIndex, at: now)
            notifySlots(legIndex, at: now, into: &outbox)
        }
    }

    /// Updates the speaker ranking, and reassigns slots accordingly.
    mutating func rank(_ call: Int, at now: Instant, into outbox: inout some GatewayOutbox & ~Copyable) {
        calls[call].nextRanking = now.adding(nanoseconds: ForwardedCall.rankingNanoseconds)
        _ = calls[call].ranking.advance(to: now)
        if calls[call].needsAssignment {
            calls[call].needsAssignment = false
            assign(call, at: now, into: &outbox)
        }
        for legIndex in calls[call].legs {
            if legs[legIndex].lacksAudioSlots { assign(.audio, to: legIndex, at: now) }
            // A video that comes and goes is worse than a late one, and the client has to be notified of each change.
            if legs[legIndex].lacksVideoSlots, legs[legIndex].nextVideoChange <= now {
                assign(.video, to: legIndex, at: now)
            }
            notifySlots(legIndex, at: now, into: &outbox)
        }
    }

    /// Assigns as many tracks of a kind as there are slots.
    private mutating func assign(_ kind: MediaKind, to legIndex: Int, at now: Instant) {
        let slots = legs[legIndex].slots.indices.filter { legs[legIndex].slots[$0].kind == kind }
        var candidates: [Int] = []
        for other in calls[legs[legIndex].call].legs where other != legIndex {
            candidates += legs[other].tracks.filter { tracks[$0].kind == kind && canShow($0, to: legIndex) }
        }
        let lacksSlots = candidates.count > slots.count
        switch kind {
        case .audio:
            legs[legIndex].lacksAudioSlots = lacksSlots
            if lacksSlots { candidates = loudest(of: candidates, slots, legIndex, at: now) }
        case .video:
            legs[legIndex].lacksVideoSlots = lacksSlots
            candidates = inOrder(candidates, slots, legIndex, at: now)
        }
        if put(Array(candidates.prefix(slots.count)), in: slots, of: legIndex, at: now) {
            legs[legIndex].needsSlotUpdate = true
            if kind == .video { legs[legIndex].nextVideoChange = now.adding(nanoseconds: Leg.videoChangeNanoseconds) }
        }
    }

    /// Whether the leg can decode the track.
    private func canShow(_ track: Int, to legIndex: Int) -> Bool {
        if let codec = tracks[track].codec { return legs[legIndex].payloads.canDecode(codec) }
        return tracks[track].codecs.contains { legs[legIndex].payloads.canDecode($0) }
    }

    private mutating func loudest(of candidates: [Int], _ slots: [Int], _ legIndex: Int, at now: Instant) -> [Int] {
        let shown = slots.compactMap { legs[legIndex].slots[$0].state.track.map { UInt32(truncatingIfNeeded: $0) } }
        return legs[legIndex].loudest.select(
            slots.count, of: candidates.map { UInt32(truncatingIfNeeded: $0) }, chosen: shown,
            by: calls[legs[legIndex].call].ranking, at: now
        ).map { Int($0) }
    }

    /// Tracks that are being sent first, screens before cameras, and cameras by when their participants spoke last.
    /// Tracks of those who never spoke keep their order.
    private func inOrder(_ candidates: [Int], _ slots: [Int], _ legIndex: Int, at now: Instant) -> [Int] {
        struct Rank {
            let track: Int
            let order: (Int, Int, Int, Int, Int)
        }
        var speakers: [Int] = []
        for voice in calls[legs[legIndex].call].ranking.speakers where Int(voice) < tracks.count {
            let leg = tracks[Int(voice)].leg
            if !speakers.contains(leg) { speakers.append(leg) }
        }
        let shown = slots.compactMap { legs[legIndex].slots[$0].state.track }
        let ranks = candidates.enumerated().map { index, track in
            Rank(
                track: track,
                order: (
                    tracks[track].isSent(at: now) ? 0 : 1, tracks[track].name.source == .screen ? 0 : 1,
                    speakers.firstIndex(of: tracks[track].leg) ?? .max, shown.contains(track) ? 0 : 1, index
                ))
        }
        return ranks.sorted { $0.order < $1.order }.map(\.track)
    }

    /// Assigns the tracks to the slots; true when a slot changed.
    private mutating func put(_ candidates: [Int], in slots: [Int], of legIndex: Int, at now: Instant) -> Bool {
        var placed: Set<Int> = []
        var free: [Int] = []
        var hasChanged = false
        for slot in slots {
            if let track = legs[legIndex].slots[slot].state.track, candidates.contains(track),
                placed.insert(track).inserted
            {
                continue
            }
            free.append(slot)
        }
        var waiting = candidates.filter { !placed.contains($0) }[...]
        for slot in free {
            let track = waiting.popFirst()
            guard legs[legIndex].slots[slot].state.track != track else { continue }
            show(track, in: SlotIndex(leg: legIndex, slot: slot), at: now)
            hasChanged = true
        }
        return hasChanged
    }

    mutating func show(_ track: Int?, in slotIndex: SlotIndex, at now: Instant) {
        if let old = legs[slotIndex.leg].slots[slotIndex.slot].state.track {
            tracks[old].subscribers.removeAll { $0 == slotIndex }
        }
        guard let track else {
            empty(slotIndex)
            return
        }
        legs[slotIndex.leg].slots[slotIndex.slot].show(track)
        forgetLayer(of: slotIndex)
        tracks[track].subscribers.append(slotIndex)
        choose(for: slotIndex, at: now)
    }

    /// Clears the slot.
    mutating func empty(_ slotIndex: SlotIndex) {
        legs[slotIndex.leg].slots[slotIndex.slot].clear()
        legs[slotIndex.leg].needsSlotUpdate = true
    }

    mutating func forgetLayer(of slotIndex: SlotIndex) {
        guard let bandwidth = legs[slotIndex.leg].bandwidth else { return }
        // The index among the video slots.
        let index = legs[slotIndex.leg].slots[..<slotIndex.slot].count(where: { $0.kind == .video })
        bandwidth.selection.reset(index)
        bandwidth.nextSelection = Instant(nanoseconds: 0)
    }

    /// Has a slot show the encoding for its layer, from those that are being sent. Before layers were selected, it is
    /// the lowest one.
    mutating func choose(for slotIndex: SlotIndex, at now: Instant) {
        guard case .showing(let track, let layer) = legs[slotIndex.leg].slots[slotIndex.slot].state,
            let index = tracks[track].encoding(upTo: layer ?? 0, at: now)
        else { return }
        let number = tracks[track].encodings[index].number
        guard legs[slotIndex.leg].slots[slotIndex.slot].rewriter.target != number else { return }
        legs[slotIndex.leg].slots[slotIndex.slot].rewriter.show(number)
    }

    /// Reports a leg's slots to the outbox if they changed, but not too often.
    mutating func notifySlots(
        _ legIndex: Int, isForced: Bool = false, at now: Instant, into outbox: inout some GatewayOutbox & ~Copyable
    ) {
        guard legs[legIndex].needsSlotUpdate || isForced, legs[legIndex].slotUpdates.take(at: now) || isForced else {
            return
        }
        legs[legIndex].needsSlotUpdate = false
        outbox.show(shown(by: legIndex), on: legs[legIndex].id)
    }

    private func shown(by legIndex: Int) -> [ShownSlot] {
        legs[legIndex].slots.map { slot in
            ShownSlot(mid: slot.mid, kind: slot.kind, track: slot.state.track.map { tracks[$0].name })
        }
    }

    /// What a leg's slots show now; nil when the leg is gone.
    package func slots(of id: LegID) -> [ShownSlot]? {
        index(of: id).map { shown(by: $0) }
    }
}
