package import Model

// Recordings of calls in the gateway. Everybody who is in the call is shown that it is recorded, may begin it, and may end
// it: who does not consent need not leave. A recording, with its transcript and its mix, belongs whole to everybody who
// was joined at any moment of it, and to nobody else: to be named in a call (ringing, declined, missed) is not to be in it.
extension CallCommands {
    /// Begins to record the call. One that is recorded already goes on as it is.
    package func record(
        _ id: CallID, as recording: RecordingID, by principal: Principal, at now: Timestamp,
        in store: some CallStore
    ) throws -> CallOutcome {
        let before = try audible(id, by: principal, at: now, in: store)
        guard before.recording == nil else { return .duplicate(before, at: now) }
        try rules.quota.check(principal.user, in: store)
        var after = before
        after.recording = Call.OngoingRecording(
            id: recording, by: principal.user, since: now, until: now.adding(seconds: rules.recordingSeconds))
        after.recordingEnd = nil
        after.wasRecorded = true
        try store.insert(Recording(id: recording, call: id, by: principal.user, startedAt: now))
        return try commit(after, replacing: before, at: now, in: store)
    }

    /// A call that the server can hear, and that the endpoint is in.
    func audible(
        _ id: CallID, by principal: Principal, at now: Timestamp, in store: some CallStore
    ) throws -> Call {
        let call = try open(id, as: principal.user, in: store)
        _ = try joinedEndpoint(of: principal, in: call, at: now)
        guard call.gatewayEpoch != nil, rules.gatewayEpoch != nil else {
            throw Problem(
                .conflict, "The media of this call goes directly from peer to peer, where the server cannot hear it.")
        }
        return call
    }

    /// Ends what is being recorded, if anything is.
    package func stopRecording(
        _ id: CallID, by principal: Principal, at now: Timestamp, in store: some CallStore
    ) throws -> CallOutcome {
        try change(id, by: principal, at: now, in: store) { call in
            guard call.isLive else { return }
            _ = try joinedEndpoint(of: principal, in: call, at: now)
            call.recording = nil
        }
    }

    /// The recorder has ended a recording, because it was told to or because it could not go on: then the call says so.
    package func recordingEnded(
        _ recording: RecordingID, of id: CallID, failure: String?, at now: Timestamp,
        in store: some CallStore
    ) throws -> CallOutcome? {
        if var document = try store.recording(recording), document.status == .ongoing {
            document.status = failure == nil ? .complete : .failed
            document.failure = failure
            document.endedAt = now
            document.reason = failure == nil ? document.reason : .failed
            try store.close(document)
        }
        guard let before = try store.call(id), before.recording?.id == recording else { return nil }
        var after = before
        after.recording = nil
        after.recordingEnd = failure == nil ? nil : .failed
        return try commit(after, replacing: before, at: now, in: store)
    }

    /// Whoever began a recording may have no more: it ends, and says why. It is closed when its files are whole.
    package func recordingExceededQuota(
        _ recording: RecordingID, of id: CallID, at now: Timestamp, in store: some CallStore
    ) throws -> CallOutcome? {
        guard let before = try store.call(id), before.recording?.id == recording,
            var document = try store.recording(recording)
        else { return nil }
        document.reason = .quotaExceeded
        try store.close(document)
        var after = before
        after.recording = nil
        after.recordingEnd = .quotaExceeded
        return try commit(after, replacing: before, at: now, in: store)
    }

    /// A track is heard for the first time. Nil when nobody in the call has its endpoint, or had.
    package func track(
        _ endpoint: EndpointID, _ source: LegTrack.Source, of recording: RecordingID, in id: CallID, offset: Int64,
        file: FileID, also others: [EndpointID: UserID], in store: some CallStore
    ) throws -> Recording.Track? {
        guard let call = try store.call(id), let document = try store.recording(recording) else { return nil }
        let user =
            call.participants.first { $0.endpoint == endpoint }?.user ?? others[endpoint]
            ?? document.tracks.last { $0.endpoint == endpoint }?.user
        guard let user else { return nil }
        let track = Recording.Track(
            number: document.tracks.count, user: user, endpoint: endpoint, source: source, offset: offset, file: file)
        try store.insert(track, of: recording)
        return track
    }

    /// Those recordings of a call that belong to the user.
    package func recordings(
        of id: CallID, by principal: Principal, in store: some CallStore
    ) throws -> [Recording] {
        _ = try open(id, as: principal.user, in: store)
        return try store.recordings(of: id).filter { try store.isAdmitted(principal.user, to: $0.id) }
    }

    /// A recording, for who was joined while it was made.
    package func recording(
        _ id: RecordingID, by principal: Principal, in store: some CallStore
    ) throws -> Recording {
        guard let recording = try store.recording(id), try store.isAdmitted(principal.user, to: id) else {
            throw Problem.notFound("recording")
        }
        return recording
    }

    /// Removes a recording, which who began it may, and tells everybody. Returns what it was, since its files are left to remove.
    package func removeRecording(
        _ id: RecordingID, by principal: Principal, in store: some CallStore
    ) throws -> Recording {
        let recording = try recording(id, by: principal, in: store)
        guard recording.by == principal.user else {
            throw Problem(.forbidden, "Only who began a recording may remove it.")
        }
        guard recording.status != .ongoing else {
            throw Problem(.conflict, "The call is still being recorded: end that first.")
        }
        try removeAndTell(recording, in: store)
        return recording
    }

    /// Those to whom a recording belongs are told in their own streams, since the call is over. Not what was said in it:
    /// there may be hours of words.
    func tell(_ type: String, _ recording: Recording, status: String? = nil, in store: some CallStore) throws {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("recording", recording.id)
            writer.member("call", recording.call)
            writer.member("status", status)
        }
        let text = writer.text
        try store.append(
            store.audience(of: recording.id).map { StreamEntry(stream: .user($0), type: type, data: text) })
    }
}
