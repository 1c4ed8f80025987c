package import Model

// Live captions of calls in the gateway. As with recordings, all participants see that captions are on, may start them,
// and may stop them. Captions are ephemeral events of their own stream and reach only participants who were joined when
// the words were spoken: being listed in a call (ringing, declined, missed) is not enough.
extension CallCommands {
    /// Starts live captions. Returns a duplicate outcome if the call already has captions.
    package func caption(
        _ id: CallID, by principal: Principal, at now: Timestamp, in store: some CallStore
    ) throws -> CallOutcome {
        let before = try gatewayCall(id, by: principal, at: now, in: store)
        guard rules.hasTranscription else {
            throw Problem(.providerNotConfigured, "This server has no transcription provider.")
        }
        guard before.captions == nil else { return .duplicate(before, at: now) }
        var after = before
        after.captions = Call.OngoingCaptions(by: principal.user, since: now)
        return try commit(after, replacing: before, at: now, in: store)
    }

    /// Stops the captions, if there are any.
    package func stopCaptions(
        _ id: CallID, by principal: Principal, at now: Timestamp, in store: some CallStore
    ) throws -> CallOutcome {
        try change(id, by: principal, at: now, in: store) { call in
            guard call.isLive else { return }
            _ = try joinedEndpoint(of: principal, in: call, at: now)
            call.captions = nil
        }
    }

    /// Checks that the principal may listen to the call's captions: its endpoint must be the joined one.
    package func checkCaptions(of id: CallID, by principal: Principal, in store: some CallStore) throws {
        let call = try open(id, as: principal.user, in: store)
        guard call.isLive, call.gatewayEpoch != nil, let joined = call.participant(principal.user)?.endpoint,
            joined == principal.endpoint
        else { throw Problem.notFound("stream", field: "stream") }
    }

    /// An utterance was transcribed: sends the caption to everybody who was joined when it began. Nil if captions are
    /// off, or the endpoint is not in the call. `others` are the endpoints of WHIP sessions.
    package func said(
        _ text: String, on endpoint: EndpointID, _ source: LegTrack.Source, in id: CallID, from start: Timestamp,
        lasting duration: Int64, language: String?, also others: [EndpointID: UserID], at now: Timestamp,
        in store: some CallStore
    ) throws -> CallOutcome? {
        guard let before = try store.call(id), before.captions != nil,
            let user = before.participants.first(where: { $0.endpoint == endpoint })?.user ?? others[endpoint]
        else { return nil }
        let caption = Caption(
            user: user, source: source, startedAt: start, duration: duration, text: text, language: language)
        let audience = before.participants.compactMap { participant in
            participant.joining.flatMap { $0.since <= start ? $0.endpoint : nil }
        }
        var outcome = try captionsFail(before, nil, at: now, in: store) ?? CallOutcome(call: before, at: now)
        outcome.effects.append(.caption(id, caption, to: Set(audience)))
        return outcome
    }

    /// Transcription fails: shows the reason in the call until it succeeds again.
    package func captionsFailed(
        _ id: CallID, _ failure: String, at now: Timestamp, in store: some CallStore
    ) throws -> CallOutcome? {
        guard let before = try store.call(id) else { return nil }
        return try captionsFail(before, failure, at: now, in: store)
    }

    private func captionsFail(
        _ before: Call, _ failure: String?, at now: Timestamp, in store: some CallStore
    ) throws -> CallOutcome? {
        guard before.captions != nil, before.captions?.failure != failure else { return nil }
        var after = before
        after.captions?.failure = failure
        return try commit(after, replacing: before, at: now, in: store)
    }
}
