import BasicContainers
package import RTP
package import SDP
package import Wire

/// A selective forwarding unit without sockets, clock or ciphers: it forwards the packets of one leg to the legs of the
/// same call that have a slot for them.
///
/// A participant's leg publishes tracks and has slots; each slot is one stream to that participant, with its own
/// constant SSRC, and shows one track at a time. Packets are sent with the numbers of the slot and the payload types
/// and header extensions of the receiving leg; of the media only the start of key frames is parsed. The engine assigns
/// the slots by itself, from the tracks in the call and the number of slots.
///
/// One engine belongs to one worker. All legs of a call are in the same engine.
package struct GatewayEngine: ~Copyable {
    /// By index; an index without a leg or track is in the free list.
    var legs = UniqueArray<Leg>()
    var tracks = UniqueArray<Track>()
    var calls: [ForwardedCall] = []
    var callIndices: [String: Int] = [:]
    var freeLegs: [Int] = []
    var freeTracks: [Int] = []
    var freeCalls: [Int] = []
    /// Encodings by number.
    var encodings: [UInt32: StreamIndex] = [:]
    var nextEncoding: UInt32 = 1
    var random: SeededRandom
    /// The wall clock when the monotonic one was 0.
    package var wallClockAtZero = NTPTime(bits: 0)
    /// The limits of each published track.
    package var limits = TrackLimits()
    package var counters = GatewayCounters()
    var writer = RTCPWriter()
    var lost: [UInt16] = []
    /// In the order in which they ended.
    var endedSources: [EndedSource] = []
    /// Legs with waiting packets, and when the first of those may be sent.
    var pacedLegs: [Int] = []
    var release = Instant.distantFuture
    /// The names of tapped calls, whether anybody is in them or not.
    var tappedCalls: Set<String> = []
    /// Ended sources, which the outbox has not been notified of yet.
    var endedTaps: [UInt32] = []
    /// For a packet from a history: the ring may be written while its packet is read.
    var scratch: [UInt8] = []

    package init(random: SeededRandom) {
        self.random = random
    }

    package var legCount: Int { legs.count &- freeLegs.count }
    package var trackCount: Int { tracks.count &- freeTracks.count }
    package var callCount: Int { callIndices.count }

    func wallClock(at now: Instant) -> NTPTime {
        wallClockAtZero.adding(nanoseconds: now.nanoseconds)
    }

    /// The index of a leg that still exists.
    func index(of id: LegID) -> Int? {
        let legIndex = Int(id.index)
        guard legIndex < legs.count, legs[legIndex].isOpen, legs[legIndex].id == id else { return nil }
        return legIndex
    }

    // MARK: Joining and leaving

    /// A participant joins with what its first offer and the answer negotiated.
    ///
    /// - Parameter sources: the sources of the tracks, by mid; by default microphone for audio and camera for video.
    package mutating func join(
        _ call: String, as participant: String, _ negotiated: NegotiatedLeg, sources: [String: TrackSource] = [:],
        at now: Instant, into outbox: inout some GatewayOutbox & ~Copyable
    ) -> LegID {
        let legIndex = freeLegs.popLast() ?? legs.count
        let generation = legIndex < legs.count ? legs[legIndex].id.generation &+ 1 : 0
        let id = LegID(index: UInt32(truncatingIfNeeded: legIndex), generation: generation)
        let callIndex = callIndex(of: call, at: now)
        let leg = Leg(
            id, call: callIndex, participant: participant, ssrc: UInt32(truncatingIfNeeded: random.next()), negotiated,
            at: now)
        if legIndex < legs.count { legs[legIndex] = leg } else { legs.append(leg) }
        calls[callIndex].legs.append(legIndex)
        adopt(negotiated, sources, legIndex, at: now)
        assign(callIndex, at: now, into: &outbox)
        notifySlots(legIndex, isForced: true, at: now, into: &outbox)
        return id
    }

    private mutating func callIndex(of name: String, at now: Instant) -> Int {
        if let callIndex = callIndices[name] { return callIndex }
        let callIndex = freeCalls.popLast() ?? calls.count
        var call = ForwardedCall(name, at: now)
        call.isTapped = tappedCalls.contains(name)
        if callIndex < calls.count { calls[callIndex] = call } else { calls.append(call) }
        callIndices[name] = callIndex
        return callIndex
    }

    /// A later offer of the same leg was answered. False when the leg has gone.
    @discardableResult
    package mutating func renegotiate(
        _ id: LegID, _ negotiated: NegotiatedLeg, sources: [String: TrackSource] = [:], at now: Instant,
        into outbox: inout some GatewayOutbox & ~Copyable
    ) -> Bool {
        guard let legIndex = index(of: id) else { return false }
        // Waiting packets refer to slots by index.
        legs[legIndex].bandwidth?.waiting.removeAll()
        legs[legIndex].adopt(negotiated)
        adopt(negotiated, sources, legIndex, at: now)
        notifyEndedTaps(into: &outbox)
        assign(legs[legIndex].call, at: now, into: &outbox)
        notifySlots(legIndex, isForced: true, at: now, into: &outbox)
        return true
    }

    /// The participant's PeerConnection has ended.
    package mutating func leave(_ id: LegID, at now: Instant, into outbox: inout some GatewayOutbox & ~Copyable) {
        guard let legIndex = index(of: id) else { return }
        let call = legs[legIndex].call
        for track in legs[legIndex].tracks { remove(track: track, at: now) }
        notifyEndedTaps(into: &outbox)
        for index in 0..<legs[legIndex].slots.count { show(nil, in: SlotIndex(leg: legIndex, slot: index), at: now) }
        legs[legIndex].close()
        freeLegs.append(legIndex)
        calls[call].legs.removeAll { $0 == legIndex }
        if calls[call].legs.isEmpty {
            callIndices[calls[call].name] = nil
            freeCalls.append(call)
        } else {
            assign(call, at: now, into: &outbox)
        }
    }

    /// Sets the leg's tracks and slots to those of its sections. Existing ones are kept.
    private mutating func adopt(
        _ negotiated: NegotiatedLeg, _ sources: [String: TrackSource], _ legIndex: Int, at now: Instant
    ) {
        let published = negotiated.sections.filter { $0.rejection == nil && $0.direction.receives }
        for track in legs[legIndex].tracks where !published.contains(where: { continues(track, in: $0) }) {
            remove(track: track, at: now)
        }
        for section in published { publish(section, sources[section.mid], legIndex, at: now) }
        adoptSlots(negotiated.sections.filter { $0.rejection == nil }, legIndex, at: now)
    }

    /// Whether a section is still that of the track. A section that announces another source has another track.
    private func continues(_ track: Int, in section: NegotiatedSection) -> Bool {
        guard section.mid == tracks[track].name.mid else { return false }
        guard section.rids.isEmpty, let announced = section.sources.first, tracks[track].encodings.count == 1,
            let known = tracks[track].encodings[0].ssrc
        else { return true }
        return announced.ssrc == known
    }

    private mutating func publish(
        _ section: NegotiatedSection, _ source: TrackSource?, _ legIndex: Int, at now: Instant
    ) {
        guard let kind = section.kind else { return }
        if let known = legs[legIndex].tracks.first(where: { tracks[$0].name.mid == section.mid }) {
            tracks[known].codecs = section.codecs.map(\.codec)
            tracks[known].isStereo = section.isStereo
            return
        }
        let name = TrackName(
            participant: legs[legIndex].participant, mid: section.mid,
            source: source ?? (kind == .audio ? .microphone : .camera))
        var track = Track(leg: legIndex, name: name, kind: kind, codecs: section.codecs.map(\.codec))
        track.isStereo = section.isStereo
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
        let trackIndex = freeTracks.popLast() ?? tracks.count
        if trackIndex < tracks.count { tracks[trackIndex] = track } else { tracks.append(track) }
        legs[legIndex].tracks.append(trackIndex)
        order(trackIndex, at: now)
        for index in 0..<rids.count {
            let stream = StreamIndex(track: trackIndex, encoding: index, isRepair: false)
            encodings[tracks[trackIndex].encodings[index].number] = stream
            if let ssrc = tracks[trackIndex].encodings[index].ssrc { register(ssrc, stream, legIndex) }
            if let repair = tracks[trackIndex].encodings[index].repairSSRC {
                register(repair, StreamIndex(track: trackIndex, encoding: index, isRepair: true), legIndex)
            }
        }
    }

    /// Registers the stream of an SSRC. False when the leg has too many.
    @discardableResult
    mutating func register(_ ssrc: UInt32, _ stream: StreamIndex, _ legIndex: Int) -> Bool {
        guard legs[legIndex].streams.count < Leg.maximumStreams else { return false }
        legs[legIndex].streams[ssrc] = stream
        return true
    }

    private mutating func remove(track index: Int, at now: Instant) {
        let leg = tracks[index].leg
        for subscriber in tracks[index].subscribers { empty(subscriber) }
        endTaps(ofTrack: index)
        for encoding in 0..<tracks[index].encodings.count { encodings[tracks[index].encodings[encoding].number] = nil }
        for (ssrc, _) in legs[leg].streams.filter({ $0.value.track == index }) {
            legs[leg].streams[ssrc] = nil
            end(ssrc, ofLeg: leg, isPublished: true, at: now)
        }
        legs[leg].tracks.removeAll { $0 == index }
        calls[legs[leg].call].ranking.remove(UInt32(truncatingIfNeeded: index))
        tracks[index].close()
        freeTracks.append(index)
    }

    /// A section in which nothing is sent keeps its slot, parked, unless it is rejected.
    private mutating func adoptSlots(_ all: [NegotiatedSection], _ legIndex: Int, at now: Instant) {
        let sections = all.filter { $0.direction.sends }
        let old = legs[legIndex].slots
        let known = old + legs[legIndex].parkedSlots
        for index in old.indices {
            // They are added again below, perhaps with other indices.
            if let track = old[index].state.track { tracks[track].subscribers.removeAll { $0.leg == legIndex } }
        }
        var slots: [Slot] = []
        for section in sections {
            guard let kind = section.kind, let identity = section.slot else { continue }
            let clockRate = section.codecs.first?.clockRate ?? (kind == .audio ? 48_000 : 90_000)
            let slot =
                known.first { $0.mid == section.mid && $0.identity == identity }
                ?? Slot(mid: section.mid, kind: kind, identity: identity, clockRate: clockRate, random: &random)
            if let track = slot.state.track {
                tracks[track].subscribers.append(SlotIndex(leg: legIndex, slot: slots.count))
            }
            slots.append(slot)
        }
        legs[legIndex].slots = slots
        let left = known.filter { slot in !slots.contains { $0.identity == slot.identity } }
        legs[legIndex].parkedSlots = left.filter { slot in all.contains { $0.mid == slot.mid } }.map(\.parked)
        legs[legIndex].adoptBandwidth()
        for slot in old where !slots.contains(where: { $0.identity == slot.identity }) {
            end(slot.identity.ssrc, ofLeg: legIndex, isPublished: false, at: now)
            end(slot.identity.retransmissionSSRC, ofLeg: legIndex, isPublished: false, at: now)
        }
    }
}
