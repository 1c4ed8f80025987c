import BasicContainers
import RTP
import SDP
import Wire

// Which track each slot shows.
//
// A leg with enough slots is shown everything that it can decode. Where there are fewer, audio goes to the loudest, and
// video to screens first, then to the cameras of those who spoke last. A track that is shown stays where it is.

extension GatewayEngine {
    /// Assigns the slots of every leg of a call, and tells those whose slots changed.
    mutating func assign(_ call: Int, at now: Instant, into outbox: inout some GatewayOutbox & ~Copyable) {
        guard call < calls.count else { return }
        for place in calls[call].places {
            assign(.audio, to: place, at: now)
            assign(.video, to: place, at: now)
            tell(place, at: now, into: &outbox)
        }
    }

    /// Looks at who speaks, and gives slots to whom they belong now.
    mutating func rank(_ call: Int, at now: Instant, into outbox: inout some GatewayOutbox & ~Copyable) {
        calls[call].nextRanking = now.adding(nanoseconds: Call.rankingNanoseconds)
        _ = calls[call].ranking.advance(to: now)
        if calls[call].needsAssignment {
            calls[call].needsAssignment = false
            assign(call, at: now, into: &outbox)
        }
        for place in calls[call].places {
            if legs[place].lacksAudioSlots { assign(.audio, to: place, at: now) }
            // A picture that comes and goes is worse than a late one, and the client must know whose it is.
            if legs[place].lacksVideoSlots, legs[place].nextVideoChange <= now { assign(.video, to: place, at: now) }
            tell(place, at: now, into: &outbox)
        }
    }

    /// Shows as many tracks of a kind as there are slots.
    private mutating func assign(_ kind: MediaKind, to place: Int, at now: Instant) {
        let slots = legs[place].slots.indices.filter { legs[place].slots[$0].kind == kind }
        var wanted: [Int] = []
        for other in calls[legs[place].call].places where other != place {
            wanted += legs[other].tracks.filter { tracks[$0].kind == kind && canShow($0, to: place) }
        }
        let lacksSlots = wanted.count > slots.count
        switch kind {
        case .audio:
            legs[place].lacksAudioSlots = lacksSlots
            if lacksSlots { wanted = loudest(of: wanted, slots, place, at: now) }
        case .video:
            legs[place].lacksVideoSlots = lacksSlots
            wanted = inOrder(wanted, slots, place, at: now)
        }
        if put(Array(wanted.prefix(slots.count)), in: slots, of: place, at: now) {
            legs[place].isUntold = true
            if kind == .video { legs[place].nextVideoChange = now.adding(nanoseconds: Leg.videoChangeNanoseconds) }
        }
    }

    /// Whether the leg has a codec in which the track comes.
    private func canShow(_ track: Int, to place: Int) -> Bool {
        if let codec = tracks[track].codec { return legs[place].payloads.canDecode(codec) }
        return tracks[track].codecs.contains { legs[place].payloads.canDecode($0) }
    }

    private mutating func loudest(of wanted: [Int], _ slots: [Int], _ place: Int, at now: Instant) -> [Int] {
        let shown = slots.compactMap { legs[place].slots[$0].track.map { UInt32(truncatingIfNeeded: $0) } }
        return legs[place].loudest.select(
            slots.count, of: wanted.map { UInt32(truncatingIfNeeded: $0) }, chosen: shown,
            by: calls[legs[place].call].ranking, at: now
        ).map { Int($0) }
    }

    /// Those that are being sent before others, screens before cameras (who shares one wants it seen), and cameras by
    /// when their participants spoke last. Those who never spoke stay where they are.
    private func inOrder(_ wanted: [Int], _ slots: [Int], _ place: Int, at now: Instant) -> [Int] {
        struct Rank {
            let track: Int
            let order: (Int, Int, Int, Int, Int)
        }
        var speakers: [Int] = []
        for voice in calls[legs[place].call].ranking.speakers where Int(voice) < tracks.count {
            let leg = tracks[Int(voice)].leg
            if !speakers.contains(leg) { speakers.append(leg) }
        }
        let shown = slots.compactMap { legs[place].slots[$0].track }
        let ranks = wanted.enumerated().map { index, track in
            Rank(
                track: track,
                order: (
                    tracks[track].isSent(at: now) ? 0 : 1, tracks[track].name.source == .screen ? 0 : 1,
                    speakers.firstIndex(of: tracks[track].leg) ?? .max, shown.contains(track) ? 0 : 1, index
                ))
        }
        return ranks.sorted { $0.order < $1.order }.map(\.track)
    }

    /// True when a slot shows something else than before.
    private mutating func put(_ wanted: [Int], in slots: [Int], of place: Int, at now: Instant) -> Bool {
        var placed: Set<Int> = []
        var free: [Int] = []
        var hasChanged = false
        for slot in slots {
            if let track = legs[place].slots[slot].track, wanted.contains(track), placed.insert(track).inserted {
                continue
            }
            free.append(slot)
        }
        var waiting = wanted.filter { !placed.contains($0) }[...]
        for slot in free {
            let track = waiting.popFirst()
            guard legs[place].slots[slot].track != track else { continue }
            show(track, in: SlotPlace(leg: place, slot: slot), at: now)
            hasChanged = true
        }
        return hasChanged
    }

    mutating func show(_ track: Int?, in place: SlotPlace, at now: Instant) {
        if let old = legs[place.leg].slots[place.slot].track {
            tracks[old].subscribers.removeAll { $0 == place }
        }
        guard let track else {
            empty(place)
            return
        }
        legs[place.leg].slots[place.slot].track = track
        legs[place.leg].slots[place.slot].layer = nil
        legs[place.leg].slots[place.slot].isOff = false
        forgetLayer(of: place)
        tracks[track].subscribers.append(place)
        choose(for: place, at: now)
    }

    /// The slot shows nothing.
    mutating func empty(_ place: SlotPlace) {
        legs[place.leg].slots[place.slot].track = nil
        legs[place.leg].slots[place.slot].encoding = nil
        legs[place.leg].slots[place.slot].rewriter.show(nil)
        legs[place.leg].isUntold = true
    }

    mutating func forgetLayer(of place: SlotPlace) {
        guard let bandwidth = legs[place.leg].bandwidth else { return }
        // Places among the slots for video.
        let index = legs[place.leg].slots[..<place.slot].count(where: { $0.kind == .video })
        bandwidth.selection.forget(index)
        bandwidth.nextSelection = Instant(nanoseconds: 0)
    }

    /// Lets a slot show the encoding that follows from its layer and from what is being sent. Until layers were chosen it
    /// is the lowest one.
    mutating func choose(for place: SlotPlace, at now: Instant) {
        guard let track = legs[place.leg].slots[place.slot].track else { return }
        guard !legs[place.leg].slots[place.slot].isOff else {
            if legs[place.leg].slots[place.slot].encoding != nil {
                legs[place.leg].slots[place.slot].encoding = nil
                legs[place.leg].slots[place.slot].rewriter.show(nil)
            }
            return
        }
        guard let index = tracks[track].encoding(upTo: legs[place.leg].slots[place.slot].layer ?? 0, at: now),
            legs[place.leg].slots[place.slot].encoding != tracks[track].encodings[index].number
        else { return }
        let number = tracks[track].encodings[index].number
        legs[place.leg].slots[place.slot].encoding = number
        legs[place.leg].slots[place.slot].rewriter.show(number)
    }

    /// Says what a leg's slots show, if that changed and was not said a moment ago.
    mutating func tell(
        _ place: Int, isAsked: Bool = false, at now: Instant, into outbox: inout some GatewayOutbox & ~Copyable
    ) {
        guard legs[place].isUntold || isAsked, legs[place].tellings.take(at: now) || isAsked else { return }
        legs[place].isUntold = false
        outbox.show(shown(by: place), on: legs[place].id)
    }

    private func shown(by place: Int) -> [ShownSlot] {
        legs[place].slots.map { slot in
            ShownSlot(mid: slot.mid, kind: slot.kind, track: slot.track.map { tracks[$0].name })
        }
    }

    /// What a leg's slots show now; nil when it has gone.
    package func slots(of id: LegID) -> [ShownSlot]? {
        place(of: id).map { shown(by: $0) }
    }
}
