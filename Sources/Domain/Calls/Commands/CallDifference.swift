import Model

/// The stream entries and effects that follow from a document's change from `before` to `after`.
///
/// Everything is derived from the two documents, so that no command can forget to notify somebody, stop a timer or
/// close a mailbox.
struct CallDifference {
    let before: Call?
    let after: Call

    /// The participants who are new or visibly changed, in their current state.
    var changed: [Participant] {
        guard let before else { return [] }
        return after.participants.enumerated().compactMap { index, participant in
            let isSame = index < before.participants.count && before.participants[index].looksSame(as: participant)
            return isSame ? nil : participant
        }
    }

    /// Entries for the call's stream, which its participants listen to, and for the streams of users who may not be
    /// listening to it. The call's end comes last, after the changes of its participants.
    func entries(callJSON: String, at now: Timestamp) -> [StreamEntry] {
        var entries = changed.map {
            StreamEntry.call(after.id, .participant, data: $0.json(at: now, version: after.version))
        }
        if let before,
            before.status != after.status || before.mode != after.mode || before.recording != after.recording
                || before.captions != after.captions
        {
            entries.append(.call(after.id, .call, data: after.summaryJSON()))
        }
        for user in notifiedUsers {
            entries.append(.user(user, .call, data: callJSON))
        }
        return entries
    }

    /// The users whose own participation has changed, or whose call has ended.
    private var notifiedUsers: [UserID] {
        let hasEnded = hasEnded
        return after.participants.compactMap { participant in
            // Who was removed from the conversation of the call is told that, and nothing later.
            guard !participant.isWithheld else {
                return before?.participant(participant.user)?.isWithheld == false ? participant.user : nil
            }
            if hasEnded { return participant.user }
            guard let earlier = before?.participant(participant.user) else { return participant.user }
            return participant.hasChangedState(from: earlier) ? participant.user : nil
        }
    }

    /// The users whom the call begins to ring, or rings no more.
    private var pushedUsers: [UserID] {
        after.participants.filter { participant in
            guard let earlier = before?.participant(participant.user) else {
                return participant.isRinging && !participant.isWithheld
            }
            return (participant.isRinging && !participant.isWithheld) != (earlier.isRinging && !earlier.isWithheld)
        }.map(\.user)
    }

    /// Notes what is told outside the call's streams: by webhooks and on devices.
    func note(at now: Timestamp, in store: some CallStore) throws {
        try CallEvents(difference: self, now: now).write(to: store)
        let pushed = pushedUsers
        if !pushed.isEmpty { try store.notePush(of: after.id, version: after.version, to: pushed) }
    }

    /// The users to add to the recording's audience: everybody who is joined when it begins, or joins during it.
    var audience: (recording: RecordingID, users: [UserID])? {
        guard let recording = after.recording?.id else { return nil }
        let isNew = before?.recording?.id != recording
        let users = after.participants.filter { participant in
            participant.isJoined && (isNew || before?.participant(participant.user)?.isJoined != true)
        }.map(\.user)
        return users.isEmpty ? nil : (recording, users)
    }

    var hasEnded: Bool { !after.isLive && (before?.isLive ?? true) }

    /// Endpoints that were joined and no longer are.
    var closedEndpoints: [EndpointID] {
        (before?.participants ?? []).compactMap(\.endpoint).filter { endpoint in
            !after.participants.contains { $0.endpoint == endpoint }
        }
    }

    func effects(at now: Timestamp) -> [CallEffect] {
        var effects: [CallEffect] = []
        for participant in after.participants where !participant.isWithheld {
            let earlier = before?.participant(participant.user)
            let rang = earlier.map { $0.isRinging && !$0.isWithheld } ?? false
            if let until = participant.ringsUntil, !rang {
                effects.append(.attachUser(participant.user, .call(after.id)))
                effects.append(
                    .ringPush(participant.user, after.id, remainingMs: max(0, until.milliseconds(since: now))))
            }
            if let endpoint = participant.endpoint, endpoint != earlier?.endpoint {
                effects.append(.attachEndpoint(endpoint, .call(after.id)))
                effects.append(.attachEndpoint(endpoint, .signals(after.id, endpoint)))
                if after.captions != nil { effects.append(.attachEndpoint(endpoint, .captions(after.id))) }
                effects.append(.leaseStarted(after.id, participant.user, endpoint))
            }
        }
        for endpoint in closedEndpoints {
            effects.append(.detach(.signals(after.id, endpoint)))
            if after.gatewayEpoch != nil {
                effects.append(.legEnded(after.id, endpoint))
                effects.append(.dropEndpoint(endpoint, .captions(after.id)))
            }
        }
        for participant in before?.participants ?? [] where participant.isJoined {
            guard !(after.participant(participant.user)?.isJoined ?? false) else { continue }
            effects.append(.leaseEnded(after.id, participant.user))
        }
        for participant in before?.participants ?? [] where participant.isRelayed && !hasEnded {
            guard !(after.participant(participant.user)?.isRelayed ?? false) else { continue }
            effects.append(.relayEnded(after.id, participant.user))
        }
        effects += deadlineEffects
        if before?.recording?.id != after.recording?.id {
            if let old = before?.recording { effects.append(.recordingEnded(after.id, old.id)) }
            if let new = after.recording { effects.append(.recordingBegan(after.id, new.id)) }
        }
        effects += captionsEffects
        if hasEnded { effects += [.detach(.call(after.id)), .detach(.captions(after.id)), .ended(after.id)] }
        return effects
    }

    /// After a restart the gateway must be told to start the captions again.
    private var captionsEffects: [CallEffect] {
        if before?.captions != nil, after.captions == nil { return [.captionsEnded(after.id)] }
        let isNew = before?.captions == nil || before?.gatewayEpoch != after.gatewayEpoch
        guard isNew, after.captions != nil else { return [] }
        return [.captionsBegan(after.id)]
            + after.participants.compactMap(\.endpoint).map { .attachEndpoint($0, .captions(after.id)) }
    }

    private var deadlineEffects: [CallEffect] {
        let earlier = before?.deadlines ?? []
        let current = after.deadlines
        let over = earlier.filter { old in !current.contains { $0.key == old.key } }
        let new = current.filter { !earlier.contains($0) }
        return over.map { .unschedule($0.key) } + new.map { .schedule($0) }
    }
}
