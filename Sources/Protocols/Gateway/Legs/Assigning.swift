import BasicContainers
import RTP
import SDP
import Wire

// Which track each slot shows.

extension GatewayEngine {
    /// Assigns the slots of every leg of a call, and tells those whose slots changed.
    mutating func assign(_ call: String, at now: Instant, into outbox: inout some GatewayOutbox & ~Copyable) {
        let places = calls[call] ?? []
        for place in places {
            var hasChanged = false
            for kind in [MediaKind.audio, .video] {
                let wanted = places.filter { $0 != place }.flatMap { published(by: $0, kind) }
                hasChanged = assign(wanted, kind, to: place, at: now) || hasChanged
            }
            if hasChanged { tell(place, into: &outbox) }
        }
    }

    /// The tracks of a leg, screens before cameras: who shares one wants it seen.
    private func published(by place: Int, _ kind: MediaKind) -> [Int] {
        let all = legs[place].tracks.filter { tracks[$0].kind == kind }
        let screens = all.filter { tracks[$0].name.source == .screen }
        return screens + all.filter { !screens.contains($0) }
    }

    /// Shows as many of the wanted tracks as there are slots. A track that is shown stays where it is.
    private mutating func assign(_ wanted: [Int], _ kind: MediaKind, to place: Int, at now: Instant) -> Bool {
        let slots = legs[place].slots.indices.filter { legs[place].slots[$0].kind == kind }
        let shown = Set(wanted.prefix(slots.count))
        var placed: Set<Int> = []
        var free: [Int] = []
        var hasChanged = false
        for slot in slots {
            if let track = legs[place].slots[slot].track, shown.contains(track), placed.insert(track).inserted {
                continue
            }
            free.append(slot)
        }
        var waiting = wanted.prefix(slots.count).filter { !placed.contains($0) }[...]
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
        tracks[track].subscribers.append(place)
        choose(for: place, at: now)
    }

    /// The slot shows nothing.
    mutating func empty(_ place: SlotPlace) {
        legs[place.leg].slots[place.slot].track = nil
        legs[place.leg].slots[place.slot].encoding = nil
        legs[place.leg].slots[place.slot].rewriter.show(nil)
    }

    /// Chooses the encoding that a slot is to show. Which one it is decides itself with the first packets of a track.
    mutating func choose(for place: SlotPlace, at now: Instant) {
        guard let track = legs[place.leg].slots[place.slot].track,
            let index = tracks[track].bestEncoding(at: now) ?? (tracks[track].encodings.count == 1 ? 0 : nil),
            legs[place.leg].slots[place.slot].encoding != tracks[track].encodings[index].number
        else { return }
        let number = tracks[track].encodings[index].number
        legs[place.leg].slots[place.slot].encoding = number
        legs[place.leg].slots[place.slot].rewriter.show(number)
    }

    private mutating func tell(_ place: Int, into outbox: inout some GatewayOutbox & ~Copyable) {
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
