package import Model

// Legs of the media gateway. The gateway is outside the store: the caller requests a leg between `callForLeg`, which
// checks that the endpoint may have one, and `legAnswered`, which checks it again.
//
// The assignment of a leg's slots is sent to its endpoint's mailbox, always as a whole, so that older entries are
// obsolete and are trimmed, however often speakers change.
extension CallCommands {
    /// The maximum number of entries in a mailbox of a call in the gateway. A client that resumes from an earlier
    /// position gets a snapshot of the newest ones.
    static let mailboxLength: Int64 = 16

    /// Checks that the principal's endpoint may have a leg in the call, and returns the call. Writes nothing.
    package func callForLeg(
        _ id: CallID, by principal: Principal, at now: Timestamp, in store: some CallStore
    ) throws -> Call {
        let call = try open(id, as: principal.user, in: store)
        _ = try joinedEndpoint(of: principal, in: call, at: now)
        guard call.gatewayEpoch != nil else {
            throw Problem(.conflict, "The media of this call goes directly from peer to peer: send signals instead.")
        }
        guard rules.gatewayEpoch != nil else {
            throw Problem(.conflict, "This server runs without the gateway role: create the call in direct mode.")
        }
        return call
    }

    /// Checks the sizes of an offer for a leg, without parsing it.
    package func check(_ offer: SessionDescriptionInit, sources: [String: LegTrack.Source]) throws {
        try check(offer, field: "offer.sdp")
        guard sources.count <= 64, sources.keys.allSatisfy({ $0.utf8.count <= 256 }) else {
            throw Problem.invalid("sources", "Name the sources of at most 64 sections by their mids.")
        }
    }

    /// The gateway has answered: posts the slots to the endpoint's mailbox. Throws like `callForLeg` if the endpoint
    /// has left in the meantime; the caller then ends the leg.
    package func legAnswered(
        _ id: CallID, showing slots: [LegSlot], also others: [EndpointID: UserID] = [:], by principal: Principal,
        at now: Timestamp, in store: some CallStore
    ) throws -> LegOutcome {
        let call = try callForLeg(id, by: principal, at: now, in: store)
        guard let endpoint = principal.endpoint, let epoch = call.gatewayEpoch else { throw Problem.notFound("leg") }
        let json = Self.json(of: slots, in: call, also: others)
        try post(.slots, json: Self.slotsEntry(json), to: endpoint, in: call, store)
        return LegOutcome(epoch: epoch, slotsJSON: json)
    }

    /// The leg is connected, which counts as the endpoint's own report that media flows.
    package func legConnected(
        call id: CallID, endpoint: EndpointID, at now: Timestamp, in store: some CallStore
    ) throws -> CallOutcome? {
        guard let before = try callWithLeg(of: endpoint, id, in: store),
            let participant = before.participants.first(where: { $0.endpoint == endpoint })
        else { return nil }
        var after = before
        after.connect(participant.user)
        return after == before ? nil : try commit(after, replacing: before, at: now, in: store)
    }

    /// The assignment of a leg's slots has changed; `others` are the endpoints of WHIP and WHEP legs, which are not in
    /// the document. False if the endpoint is no longer in the call.
    @discardableResult
    package func legSlotsChanged(
        _ slots: [LegSlot], also others: [EndpointID: UserID] = [:], call id: CallID, endpoint: EndpointID,
        in store: some CallStore
    ) throws -> Bool {
        guard let call = try callWithLeg(of: endpoint, id, in: store) else { return false }
        let json = Self.json(of: slots, in: call, also: others)
        try post(.slots, json: Self.slotsEntry(json), to: endpoint, in: call, store)
        return true
    }

    /// A leg has failed: notifies its endpoint, which then makes a new one. False if it is no longer in the call.
    @discardableResult
    package func legEnded(
        because reason: LegEndReason, call id: CallID, endpoint: EndpointID, in store: some CallStore
    ) throws -> Bool {
        guard let call = try callWithLeg(of: endpoint, id, in: store) else { return false }
        var writer = JSONWriter(capacity: 64)
        writer.object { writer in
            writer.member("kind", "legEnded")
            writer.member("reason", reason.rawValue)
        }
        try post(.legEnded, json: writer.text, to: endpoint, in: call, store)
        return true
    }

    /// Somebody in the call cannot decode what the endpoint publishes: asks the endpoint to renegotiate its leg. False
    /// if it is no longer in the call.
    @discardableResult
    package func legNeedsRenegotiation(call id: CallID, endpoint: EndpointID, in store: some CallStore) throws -> Bool {
        guard let call = try callWithLeg(of: endpoint, id, in: store) else { return false }
        try post(.renegotiate, json: "{\"kind\":\"renegotiate\"}", to: endpoint, in: call, store)
        return true
    }

    private func callWithLeg(of endpoint: EndpointID, _ id: CallID, in store: some CallStore) throws -> Call? {
        guard let call = try store.call(id), call.isLive, call.gatewayEpoch != nil,
            call.participants.contains(where: { $0.endpoint == endpoint })
        else { return nil }
        return call
    }

    private func post(
        _ type: SignalChangeType, json: String, to endpoint: EndpointID, in call: Call, _ store: some CallStore
    ) throws {
        guard let sequence = try store.append([.signals(call.id, endpoint, type, data: json)]).first else { return }
        try store.trimMailbox(of: endpoint, in: call.id, longerThan: Self.mailboxLength, before: sequence)
    }
}

/// What the endpoint that got a leg receives in addition to the SDP answer.
package struct LegOutcome: Hashable, Sendable {
    package var epoch: Int64
    /// The JSON list of its slots.
    package var slotsJSON: String
}

// The JSON of slots.
extension CallCommands {
    private static func slotsEntry(_ slots: String) -> String {
        var writer = JSONWriter(capacity: 32 + slots.utf8.count)
        writer.object { writer in
            writer.member("kind", "slots")
            writer.name("slots")
            writer.write(json: slots)
        }
        return writer.text
    }

    /// The JSON of the slots, in which each track names its user. The track of an endpoint that has just left is
    /// omitted.
    private static func json(of slots: [LegSlot], in call: Call, also others: [EndpointID: UserID]) -> String {
        var users = others
        for participant in call.participants {
            if let endpoint = participant.endpoint { users[endpoint] = participant.user }
        }
        var writer = JSONWriter(capacity: 32 + slots.count * 192)
        writer.array(slots) { writer, slot in
            writer.object { writer in
                writer.member("mid", slot.mid)
                writer.member("kind", slot.kind.rawValue)
                guard let track = slot.track, let user = users[track.endpoint] else { return }
                writer.name("track")
                writer.object { writer in
                    writer.member("user", user)
                    writer.member("endpoint", track.endpoint)
                    writer.member("mid", track.mid)
                    writer.member("source", track.source.rawValue)
                }
            }
        }
        return writer.text
    }
}
