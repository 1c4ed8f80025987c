package import Model

// Legs with the media gateway. The gateway itself is outside of the store: a leg is asked for between `callForLeg`, which
// says whether the endpoint may have one, and `legAnswered`, which finds that it still may.
//
// What a leg's slots show goes to its endpoint's mailbox, always all of it, so that the newest entry is the whole truth:
// those before it are not kept, however often speakers change.
extension CallCommands {
    /// How many entries a mailbox of a call in the gateway keeps at most. Who resumes from further back starts over with
    /// the newest ones.
    static let mailboxLength: Int64 = 16

    /// The call in whose gateway the principal's endpoint may have a leg. Writes nothing.
    package func callForLeg(
        _ id: CallID, by principal: Principal, at now: Timestamp, in store: some CallStore
    ) throws -> Call {
        let call = try open(id, as: principal.user, in: store)
        _ = try joinedEndpoint(of: principal, in: call, at: now)
        guard call.gatewayEpoch != nil else {
            throw Problem(.conflict, "The media of this call goes directly from peer to peer: send signals instead.")
        }
        guard rules.gatewayEpoch != nil else {
            throw Problem(.conflict, "This server runs without the gateway role: make the call in direct mode instead.")
        }
        return call
    }

    /// Checks an offer for a leg as far as that can be done without reading it.
    package func check(_ offer: SessionDescription, sources: [String: LegTrack.Source]) throws {
        try check(offer, field: "offer.sdp")
        guard sources.count <= 64, sources.keys.allSatisfy({ $0.utf8.count <= 256 }) else {
            throw Problem.invalid("sources", "Name the sources of at most 64 sections by their mids.")
        }
    }

    /// The gateway has answered: tells the endpoint what its slots show. Throws what `callForLeg` would where the endpoint
    /// has left in the meantime; its leg is then to end.
    package func legAnswered(
        _ id: CallID, showing slots: [LegSlot], also others: [EndpointID: UserID] = [:], by principal: Principal,
        at now: Timestamp, in store: some CallStore
    ) throws -> LegOutcome {
        let call = try callForLeg(id, by: principal, at: now, in: store)
        guard let endpoint = principal.endpoint, let epoch = call.gatewayEpoch else { throw Problem.notFound("leg") }
        let json = Self.json(of: slots, in: call, also: others)
        try post("slots", json: Self.slotsEntry(json), to: endpoint, in: call, store)
        return LegOutcome(epoch: epoch, slotsJSON: json)
    }

    /// Media can flow on the endpoint's leg, which proves as much as its own report would.
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

    /// What a leg's slots show has changed; `others` are legs beside those of the endpoints in the document. False when its endpoint is not in the call any more.
    @discardableResult
    package func legShows(
        _ slots: [LegSlot], also others: [EndpointID: UserID] = [:], call id: CallID, endpoint: EndpointID,
        in store: some CallStore
    ) throws -> Bool {
        guard let call = try callWithLeg(of: endpoint, id, in: store) else { return false }
        let json = Self.json(of: slots, in: call, also: others)
        try post("slots", json: Self.slotsEntry(json), to: endpoint, in: call, store)
        return true
    }

    /// A leg has failed: its endpoint is told so that it makes another one. False when it is not in the call any more.
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
        try post("legEnded", json: writer.text, to: endpoint, in: call, store)
        return true
    }

    /// What the endpoint publishes somebody in the call cannot play: it is told to offer again, on the leg that it has.
    /// False when it is not in the call any more.
    @discardableResult
    package func legIsOutdated(call id: CallID, endpoint: EndpointID, in store: some CallStore) throws -> Bool {
        guard let call = try callWithLeg(of: endpoint, id, in: store) else { return false }
        try post("renegotiate", json: "{\"kind\":\"renegotiate\"}", to: endpoint, in: call, store)
        return true
    }

    private func callWithLeg(of endpoint: EndpointID, _ id: CallID, in store: some CallStore) throws -> Call? {
        guard let call = try store.call(id), call.isLive, call.gatewayEpoch != nil,
            call.participants.contains(where: { $0.endpoint == endpoint })
        else { return nil }
        return call
    }

    private func post(
        _ type: String, json: String, to endpoint: EndpointID, in call: Call, _ store: some CallStore
    ) throws {
        let mailbox = StreamName.signals(call.id, endpoint)
        guard let sequence = try store.append([StreamEntry(stream: mailbox, type: type, data: json)]).first else {
            return
        }
        try store.trimMailbox(of: endpoint, in: call.id, longerThan: Self.mailboxLength, before: sequence)
    }
}

/// What is answered to the endpoint that got a leg, beside the answer itself.
package struct LegOutcome: Hashable, Sendable {
    package var epoch: Int64
    /// The JSON list of its slots.
    package var slotsJSON: String
}

// The JSON of slots.
extension CallCommands {
    private static func slotsEntry(_ slots: String) -> String { "{\"kind\":\"slots\",\"slots\":\(slots)}" }

    /// A track is told together with its user. One of an endpoint that has just left is not told any more.
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
