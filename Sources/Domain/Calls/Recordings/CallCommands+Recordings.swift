package import Model

// Recordings of calls in the gateway. All participants of the call see that it is recorded, may start the recording,
// and may stop it: whoever does not consent need not leave. A recording, with its transcript and its mix, belongs to
// everybody who was joined at any time during it, and to nobody else: being listed in a call (ringing, declined,
// missed) is not enough.
extension CallCommands {
    /// Starts a recording of the call. Returns a duplicate outcome if it is already recorded.
    package func record(
        _ id: CallID, as recording: RecordingID, by principal: Principal, at now: Timestamp,
        in store: some CallStore
    ) throws -> CallOutcome {
        let before = try gatewayCall(id, by: principal, at: now, in: store)
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

    /// A call that the endpoint has joined and whose media goes through the gateway.
    func gatewayCall(
        _ id: CallID, by principal: Principal, at now: Timestamp, in store: some CallStore
    ) throws -> Call {
        let call = try open(id, as: principal.user, in: store)
        _ = try joinedEndpoint(of: principal, in: call, at: now)
        guard call.gatewayEpoch != nil, rules.gatewayEpoch != nil else {
            throw Problem(
                .conflict, "The media of this call goes directly from peer to peer: the server does not receive it.")
        }
        return call
    }

    /// Stops the recording, if there is one.
    package func stopRecording(
        _ id: CallID, by principal: Principal, at now: Timestamp, in store: some CallStore
    ) throws -> CallOutcome {
        try change(id, by: principal, at: now, in: store) { call in
            guard call.isLive else { return }
            _ = try joinedEndpoint(of: principal, in: call, at: now)
            call.recording = nil
        }
    }

    /// The recorder has ended a recording, on request or because of a failure, which the call then shows.
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
            try recordReady(document, at: now, in: store)
        }
        guard let before = try store.call(id), before.recording?.id == recording else { return nil }
        var after = before
        after.recording = nil
        after.recordingEnd = failure == nil ? nil : .failed
        return try commit(after, replacing: before, at: now, in: store)
    }

    /// The server stopped during the recording; its files are playable as far as they go. It ended at `end`.
    package func recordingInterrupted(
        _ id: RecordingID, endedAt end: Timestamp, at now: Timestamp, in store: some CallStore
    ) throws {
        guard var document = try store.recording(id), document.status == .ongoing else { return }
        document.status = .interrupted
        document.reason = document.reason ?? .interrupted
        document.endedAt = end
        try store.close(document)
        try recordReady(document, at: now, in: store)
    }

    /// The quota of the user who started the recording is exhausted: the recording ends with that reason. The recorder
    /// closes it once its files are complete.
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

    /// Adds a track whose first audio has arrived. Nil if its endpoint is not and was not in the call.
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
            number: (document.tracks.last?.number ?? -1) + 1, user: user, endpoint: endpoint, source: source,
            offset: offset, file: file)
        try store.insert(track, of: recording)
        return track
    }

    /// The recordings of a call that the user may access.
    package func recordings(
        of id: CallID, by principal: Principal, in store: some CallStore
    ) throws -> [Recording] {
        _ = try open(id, as: principal.user, in: store)
        return try store.recordings(of: id).filter { try store.isAdmitted(principal.user, to: $0.id) }
    }

    /// A recording, for users who were joined during it.
    package func recording(
        _ id: RecordingID, by principal: Principal, in store: some CallStore
    ) throws -> Recording {
        guard let recording = try store.recording(id), try store.isAdmitted(principal.user, to: id) else {
            throw Problem.notFound("recording")
        }
        return recording
    }

    /// Removes a recording and notifies its audience; only the user who started it may. Returns the recording; the
    /// caller removes its files.
    package func removeRecording(
        _ id: RecordingID, by principal: Principal, in store: some CallStore
    ) throws -> Recording {
        let recording = try recording(id, by: principal, in: store)
        guard recording.by == principal.user else {
            throw Problem(.forbidden, "Only the user who started a recording may remove it.")
        }
        guard recording.status != .ongoing else {
            throw Problem(.conflict, "The call is still being recorded: stop the recording first.")
        }
        try removeAndNotify(recording, in: store)
        return recording
    }

    /// Notifies the audience of a recording in their own streams, since the call may be over. Transcripts are not
    /// included: they may be hours long.
    func notify(
        _ type: UserChangeType, _ recording: Recording, status: String? = nil, in store: some CallStore
    ) throws {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("recording", recording.id)
            writer.member("call", recording.call)
            writer.member("status", status)
        }
        let text = writer.text
        try store.append(
            store.audience(of: recording.id).map { .user($0, type, data: text) })
    }
}
