import BasicContainers
package import RTP
package import SDP
package import Wire

/// A selective forwarding unit without a socket, a clock or a cipher: packets of one leg go in, and go out to the legs of
/// the same call that have a slot for them.
///
/// A participant's leg publishes tracks and has slots; each slot is one stream to that participant, under an SSRC of its
/// own that never changes, and shows one track at a time. Packets go out with the numbers of the slot, the payload types
/// and header extensions of the receiving leg; nothing of the media is looked at beyond where a key frame begins. What
/// slots show follows from who is in the call and how many slots there are: the engine assigns them by itself.
///
/// One engine belongs to one worker. All legs of a call are in the same one.
package struct GatewayEngine: ~Copyable {
    /// By place; a place without a leg or track is in the list of free ones.
    var legs = UniqueArray<Leg>()
    var tracks = UniqueArray<Track>()
    var calls: [Call] = []
    var callPlaces: [String: Int] = [:]
    var freeLegs: [Int] = []
    var freeTracks: [Int] = []
    var freeCalls: [Int] = []
    /// Where encodings are, by their numbers.
    var encodings: [UInt32: StreamPlace] = [:]
    var nextEncoding: UInt32 = 1
    var random: SeededRandom
    /// The wall clock when the monotonic one was 0.
    package var wallClockAtZero = NTPTime(bits: 0)
    /// Of each published track.
    package var limits = TrackLimits()
    package var tally = GatewayTally()
    var writer = RTCPWriter()
    var lost: [UInt16] = []
    /// In the order in which they ended.
    var endedSources: [EndedSource] = []
    /// Legs with packets that wait, and when the first of those may leave.
    var pacedLegs: [Int] = []
    var release = Instant.distantFuture
    /// Calls that are listened to, by name, whether anybody is in them or not.
    var tappedCalls: Set<String> = []
    /// Sources of which the outbox is to be told that they have ended.
    var endedTaps: [UInt32] = []
    /// For a packet out of a history: the ring may be written while its packet is read.
    var scratch: [UInt8] = []

    package init(random: SeededRandom) {
        self.random = random
    }

    package var legCount: Int { legs.count &- freeLegs.count }
    package var trackCount: Int { tracks.count &- freeTracks.count }
    package var callCount: Int { callPlaces.count }

    func wallClock(at now: Instant) -> NTPTime {
        wallClockAtZero.adding(nanoseconds: now.nanoseconds)
    }

    /// The place of a leg that is still there.
    func place(of id: LegID) -> Int? {
        let place = Int(id.place)
        guard place < legs.count, legs[place].isOpen, legs[place].id == id else { return nil }
        return place
    }

    // MARK: Coming and going

    /// A participant joins with what its first offer and the answer agreed on.
    ///
    /// - Parameter sources: what the tracks are of, by mid; otherwise audio is a microphone and video a camera.
    package mutating func join(
        _ call: String, as participant: String, _ negotiated: NegotiatedLeg, sources: [String: TrackSource] = [:],
        at now: Instant, into outbox: inout some GatewayOutbox & ~Copyable
    ) -> LegID {
        let place = freeLegs.popLast() ?? legs.count
        let generation = place < legs.count ? legs[place].id.generation &+ 1 : 0
        let id = LegID(place: UInt32(truncatingIfNeeded: place), generation: generation)
        let callPlace = callPlace(of: call, at: now)
        let leg = Leg(
            id, call: callPlace, participant: participant, ssrc: UInt32(truncatingIfNeeded: random.next()), negotiated,
            at: now)
        if place < legs.count { legs[place] = leg } else { legs.append(leg) }
        calls[callPlace].places.append(place)
        adopt(negotiated, sources, place, at: now)
        assign(callPlace, at: now, into: &outbox)
        tell(place, isAsked: true, at: now, into: &outbox)
        return id
    }

    private mutating func callPlace(of name: String, at now: Instant) -> Int {
        if let place = callPlaces[name] { return place }
        let place = freeCalls.popLast() ?? calls.count
        var call = Call(name, at: now)
        call.isTapped = tappedCalls.contains(name)
        if place < calls.count { calls[place] = call } else { calls.append(call) }
        callPlaces[name] = place
        return place
    }

    /// A later offer of the same leg was answered. False when the leg has gone.
    @discardableResult
    package mutating func renegotiate(
        _ id: LegID, _ negotiated: NegotiatedLeg, sources: [String: TrackSource] = [:], at now: Instant,
        into outbox: inout some GatewayOutbox & ~Copyable
    ) -> Bool {
        guard let place = place(of: id) else { return false }
        // What waits names its slots by their places.
        legs[place].bandwidth?.waiting.removeAll()
        legs[place].adopt(negotiated)
        adopt(negotiated, sources, place, at: now)
        tellEndedTaps(into: &outbox)
        assign(legs[place].call, at: now, into: &outbox)
        tell(place, isAsked: true, at: now, into: &outbox)
        return true
    }

    /// The participant's PeerConnection has ended.
    package mutating func leave(_ id: LegID, at now: Instant, into outbox: inout some GatewayOutbox & ~Copyable) {
        guard let place = place(of: id) else { return }
        let call = legs[place].call
        for track in legs[place].tracks { remove(track: track, at: now) }
        tellEndedTaps(into: &outbox)
        for index in 0..<legs[place].slots.count { show(nil, in: SlotPlace(leg: place, slot: index), at: now) }
        legs[place].close()
        freeLegs.append(place)
        calls[call].places.removeAll { $0 == place }
        if calls[call].places.isEmpty {
            callPlaces[calls[call].name] = nil
            freeCalls.append(call)
        } else {
            assign(call, at: now, into: &outbox)
        }
    }

    /// Makes the leg's tracks and slots those of its sections. What was there keeps its place.
    private mutating func adopt(
        _ negotiated: NegotiatedLeg, _ sources: [String: TrackSource], _ place: Int, at now: Instant
    ) {
        let published = negotiated.sections.filter { $0.rejection == nil && $0.direction.receives }
        for track in legs[place].tracks where !published.contains(where: { goesOn(track, in: $0) }) {
            remove(track: track, at: now)
        }
        for section in published { publish(section, sources[section.mid], place, at: now) }
        adoptSlots(negotiated.sections.filter { $0.rejection == nil }, place, at: now)
    }

    /// Whether a section is still that of the track. Where it announces another source than before, another track came.
    private func goesOn(_ track: Int, in section: NegotiatedSection) -> Bool {
        guard section.mid == tracks[track].name.mid else { return false }
        guard section.rids.isEmpty, let announced = section.sources.first, tracks[track].encodings.count == 1,
            let known = tracks[track].encodings[0].ssrc
        else { return true }
        return announced.ssrc == known
    }

    private mutating func publish(
        _ section: NegotiatedSection, _ source: TrackSource?, _ place: Int, at now: Instant
    ) {
        guard let kind = section.kind else { return }
        if let known = legs[place].tracks.first(where: { tracks[$0].name.mid == section.mid }) {
            tracks[known].codecs = section.codecs.map(\.codec)
            return
        }
        let name = TrackName(
            participant: legs[place].participant, mid: section.mid,
            source: source ?? (kind == .audio ? .microphone : .camera))
        var track = Track(leg: place, name: name, kind: kind, codecs: section.codecs.map(\.codec))
        let clockRate = section.codecs.first?.clockRate ?? (kind == .audio ? 48_000 : 90_000)
        let rids = section.rids.isEmpty ? [""] : section.rids
        for (index, rid) in rids.enumerated() {
            let announced = section.rids.isEmpty && index < section.sources.count ? section.sources[index] : nil
            track.encodings.append(
                Encoding(
                    number: nextEncoding, rid: rid, limits: section.encodingLimits[rid] ?? EncodingLimits(),
                    source: announced, kind: kind, clockRate: clockRate))
            nextEncoding &+= 1
        }
        track.order = LayerOrder(count: rids.count)
        let trackPlace = freeTracks.popLast() ?? tracks.count
        if trackPlace < tracks.count { tracks[trackPlace] = track } else { tracks.append(track) }
        legs[place].tracks.append(trackPlace)
        order(trackPlace, at: now)
        for index in 0..<rids.count {
            let stream = StreamPlace(track: trackPlace, encoding: index, isRepair: false)
            encodings[tracks[trackPlace].encodings[index].number] = stream
            if let ssrc = tracks[trackPlace].encodings[index].ssrc { note(ssrc, stream, place) }
            if let repair = tracks[trackPlace].encodings[index].repairSSRC {
                note(repair, StreamPlace(track: trackPlace, encoding: index, isRepair: true), place)
            }
        }
    }

    /// Remembers where packets of a source belong. False when the leg has as many as it may.
    @discardableResult
    mutating func note(_ ssrc: UInt32, _ stream: StreamPlace, _ place: Int) -> Bool {
        guard legs[place].streams.count < Leg.maximumStreams else { return false }
        legs[place].streams[ssrc] = stream
        return true
    }

    private mutating func remove(track place: Int, at now: Instant) {
        let leg = tracks[place].leg
        for subscriber in tracks[place].subscribers { empty(subscriber) }
        endTaps(ofTrack: place)
        for index in 0..<tracks[place].encodings.count { encodings[tracks[place].encodings[index].number] = nil }
        for (ssrc, _) in legs[leg].streams.filter({ $0.value.track == place }) {
            legs[leg].streams[ssrc] = nil
            end(ssrc, ofLeg: leg, isPublished: true, at: now)
        }
        legs[leg].tracks.removeAll { $0 == place }
        calls[legs[leg].call].ranking.remove(UInt32(truncatingIfNeeded: place))
        tracks[place].close()
        freeTracks.append(place)
    }

    /// A section that is not sent in keeps its slot, parked, for as long as it is not rejected.
    private mutating func adoptSlots(_ all: [NegotiatedSection], _ place: Int, at now: Instant) {
        let sections = all.filter { $0.direction.sends }
        let old = legs[place].slots
        let known = old + legs[place].parkedSlots
        for index in old.indices {
            // They are put back below, in other places perhaps.
            if let track = old[index].track { tracks[track].subscribers.removeAll { $0.leg == place } }
        }
        var slots: [Slot] = []
        for section in sections {
            guard let kind = section.kind, let identity = section.slot else { continue }
            let clockRate = section.codecs.first?.clockRate ?? (kind == .audio ? 48_000 : 90_000)
            let slot =
                known.first { $0.mid == section.mid && $0.identity == identity }
                ?? Slot(mid: section.mid, kind: kind, identity: identity, clockRate: clockRate, random: &random)
            if let track = slot.track {
                tracks[track].subscribers.append(SlotPlace(leg: place, slot: slots.count))
            }
            slots.append(slot)
        }
        legs[place].slots = slots
        let left = known.filter { slot in !slots.contains { $0.identity == slot.identity } }
        legs[place].parkedSlots = left.filter { slot in all.contains { $0.mid == slot.mid } }.map(\.parked)
        legs[place].adoptBandwidth()
        for slot in old where !slots.contains(where: { $0.identity == slot.identity }) {
            end(slot.identity.ssrc, ofLeg: place, isPublished: false, at: now)
            end(slot.identity.retransmissionSSRC, ofLeg: place, isPublished: false, at: now)
        }
    }
}
