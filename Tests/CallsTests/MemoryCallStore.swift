import Calls
import Model
import Webhooks

/// A call store of arrays and dictionaries: what the commands need, without a database.
final class MemoryCallStore: CallStore {
    struct State {
        var people: [UserID: Person] = [:]
        var blocks: Set<[UserID]> = []
        /// Who takes no calls of whom.
        var rejections: Set<[UserID]> = []
        var calls: [CallID: Call] = [:]
        var clientIDs: [String: (bodyHash: Int64, entity: CallID)] = [:]
        var streams: [StreamName: [StreamEntry]] = [:]
        var sequences: [StreamName: Int64] = [:]
        var negotiations: [CallID: [Negotiation.Peers: Negotiation]] = [:]
        var signals: [CallID: [Signal]] = [:]
        var recordings: [RecordingID: Recording] = [:]
        var transcripts: [FileID: FileTranscript] = [:]
        var audiences: [RecordingID: Set<UserID>] = [:]
        var endedSignIns: Set<SignInID> = []
        var mixOwners: [RecordingID: UserID] = [:]
        /// The members of groups, by conversation.
        var groups: [ConversationID: Set<UserID>] = [:]
    }

    struct Person {
        var displayName: String
        var allowsCallWaiting = false
        var isDisabled = false
    }

    var state = State()
}

// Events: nobody subscribes.
extension MemoryCallStore {
    var now: Timestamp { CallsHarness.start }
    var subscriptions: WebhookSubscriptions { WebhookSubscriptions() }
    func externalIDs(of users: [UserID]) -> [UserID: String] { [:] }
    func eventDevices(of user: UserID) -> [EventDevice] { [] }
    func insert(_ event: EventRecord) {}
    func notePush(of call: CallID, version: Int64, to users: [UserID]) {}
}

// Recordings.
extension MemoryCallStore {
    func insert(_ recording: Recording) { state.recordings[recording.id] = recording }
    func recording(_ id: RecordingID) -> Recording? { state.recordings[id] }
    func recordings(of call: CallID) -> [Recording] {
        state.recordings.values.filter { $0.call == call }.sorted { $0.id.text < $1.id.text }
    }
    func ongoingRecordings() -> [Recording] {
        state.recordings.values.filter { $0.status == .ongoing }.sorted { $0.id.text < $1.id.text }
    }
    func recordings(before time: Timestamp, limit: Int) -> [Recording] {
        let old = state.recordings.values.filter { $0.startedAt < time && $0.status != .ongoing }
        return Array(old.sorted { $0.startedAt < $1.startedAt }.prefix(limit))
    }
    func save(_ mix: RecordingMix, of recording: RecordingID) { state.recordings[recording]?.mix = mix }
    func requestMix(of recording: RecordingID, for user: UserID) {
        save(.pending, of: recording)
        state.mixOwners[recording] = user
    }
    func mixOwner(of recording: RecordingID) -> UserID? { state.mixOwners[recording] }
    func mediaBytes(of user: UserID) -> Int64 {
        state.recordings.values.reduce(0) { sum, recording in
            sum + (recording.by == user ? recording.tracks.reduce(0) { $0 + ($1.byteCount ?? 0) } : 0)
                + (state.mixOwners[recording.id] == user ? recording.mix?.audio?.byteCount ?? 0 : 0)
        }
    }
    func unmixedRecordings() -> [RecordingID] {
        state.recordings.values.filter { $0.mix == .pending }.map(\.id).sorted { $0.text < $1.text }
    }
    func close(_ recording: Recording) { state.recordings[recording.id] = recording }
    func insert(_ track: Recording.Track, of recording: RecordingID) {
        state.recordings[recording]?.tracks.append(track)
    }
    func close(_ track: Recording.Track, of recording: RecordingID) {
        state.recordings[recording]?.tracks[track.number] = track
    }
    func remove(_ recording: RecordingID) {
        for track in state.recordings[recording]?.tracks ?? [] { state.transcripts[track.file] = nil }
        state.recordings[recording] = nil
        state.audiences[recording] = nil
    }
    func admit(_ users: [UserID], to recording: RecordingID) {
        state.audiences[recording, default: []].formUnion(users)
    }
    func isAdmitted(_ user: UserID, to recording: RecordingID) -> Bool {
        state.audiences[recording]?.contains(user) ?? false
    }
    func audience(of recording: RecordingID) -> [UserID] {
        (state.audiences[recording] ?? []).sorted { $0.text < $1.text }
    }

    func transcript(of file: FileID) -> FileTranscript? { state.transcripts[file] }
    func transcripts(of files: [FileID]) -> [FileID: FileTranscript] {
        state.transcripts.filter { files.contains($0.key) }
    }
    func save(_ transcript: FileTranscript, of file: FileID) { state.transcripts[file] = transcript }
    func untranscribedTracks() -> [UntranscribedTrack] {
        state.recordings.values.sorted { $0.id.text < $1.id.text }.flatMap { recording in
            recording.tracks.filter { state.transcripts[$0.file]?.status == .pending }.map {
                UntranscribedTrack(recording: recording.id, file: $0.file)
            }
        }
    }
}

// Calls.
extension MemoryCallStore {
    func parties(_ users: [UserID], calledBy caller: UserID) -> [CallParty] {
        users.compactMap { user in
            state.people[user].map {
                CallParty(
                    user: user, displayName: $0.displayName, allowsCallWaiting: $0.allowsCallWaiting,
                    hasBlockedCaller: state.blocks.contains([user, caller]), isDisabled: $0.isDisabled)
            }
        }
    }

    func isDisabled(_ user: UserID) -> Bool { state.people[user]?.isDisabled ?? true }

    func refusesCalls(of caller: UserID, _ user: UserID) -> Bool { state.rejections.contains([user, caller]) }

    func call(_ id: CallID) -> Call? { state.calls[id] }

    func liveParticipations(of users: [UserID]) -> [LiveParticipation] {
        state.calls.values.filter(\.isLive).sorted { $0.id.text < $1.id.text }.flatMap { call in
            call.participants.filter { users.contains($0.user) && !$0.isWithheld }.map {
                LiveParticipation(
                    user: $0.user, call: call.id, pair: call.pair, conversation: call.conversation,
                    endpoint: $0.endpoint, isDetached: $0.joining?.detachedAt != nil)
            }
        }
    }

    func liveCall(in conversation: ConversationID) -> CallID? {
        state.calls.values.first { $0.isLive && $0.conversation == conversation }?.id
    }

    func standing(of user: UserID, in conversation: ConversationID) -> ConversationStanding {
        state.groups[conversation]?.contains(user) ?? false ? .member : .outside
    }

    func liveCalls(of user: UserID) -> [Call] { calls(of: user, before: nil, limit: .max).filter(\.isLive) }

    func calls(of user: UserID, before cursor: CallID?, limit: Int) -> [Call] {
        let mine = state.calls.values.filter { call in
            (call.participant(user).map { !$0.isWithheld } ?? false) && cursor.map { call.id.text < $0.text } ?? true
        }
        return Array(mine.sorted { $0.id.text > $1.id.text }.prefix(limit))
    }

    func isSignedIn(_ user: UserID, by signIn: SignInID?) -> Bool {
        let hasEnded = signIn.map(state.endedSignIns.contains) ?? false
        return !hasEnded && state.people[user].map { !$0.isDisabled } ?? false
    }

    func liveCalls() -> [Call] { state.calls.values.filter(\.isLive) }

    func insert(_ call: Call) throws {
        try checkUnique(call)
        state.calls[call.id] = call
    }

    func save(_ call: Call, replacing earlier: Call) throws {
        guard state.calls[call.id]?.version == earlier.version else { throw Problem(.conflict, "Another version.") }
        try checkUnique(call)
        state.calls[call.id] = call
    }

    /// What the partial unique indexes do.
    private func checkUnique(_ call: Call) throws {
        guard call.isLive else { return }
        for other in state.calls.values where other.isLive && other.id != call.id {
            if let pair = call.pair, other.pair == pair { throw Problem(.internalError, "Two live calls of a pair.") }
            if call.isOpen, let conversation = call.conversation, other.isOpen, other.conversation == conversation {
                throw Problem(.internalError, "Two live calls of a conversation.")
            }
        }
    }

    func remember(
        _ clientID: ClientID, of user: UserID, bodyHash: Int64, entity: CallID
    ) -> ClientIDVerdict {
        let key = user.text + clientID.text
        guard let known = state.clientIDs[key] else {
            state.clientIDs[key] = (bodyHash, entity)
            return .new
        }
        return known.bodyHash == bodyHash ? .same(known.entity) : .reused
    }

    @discardableResult
    func append(_ entries: [StreamEntry]) -> [Int64] {
        entries.map { entry in
            state.streams[entry.stream, default: []].append(entry)
            state.sequences[entry.stream, default: 0] += 1
            return state.sequences[entry.stream] ?? 0
        }
    }
}

// Signals.
extension MemoryCallStore {
    func negotiation(in call: CallID, between peers: Negotiation.Peers) -> Negotiation? {
        state.negotiations[call]?[peers]
    }

    func save(_ negotiation: Negotiation, replacing earlier: Negotiation?) {
        state.negotiations[negotiation.call, default: [:]][negotiation.peers] = negotiation
    }

    func bind(_ negotiation: Negotiation, openedBy opener: EndpointID) {
        state.negotiations[negotiation.call]?[Negotiation.Peers(opener, nil)] = nil
        save(negotiation, replacing: nil)
    }

    func insert(_ signal: Signal) -> Bool {
        guard sentSignal(signal.clientID, of: signal.from.user, in: signal.call) == nil else { return false }
        var kept = signal
        if signal.status != .pending { kept.data = "" }
        state.signals[signal.call, default: []].append(kept)
        return true
    }

    func sentSignal(_ clientID: ClientID, of user: UserID, in call: CallID) -> SentSignal? {
        state.signals[call]?.first { $0.clientID == clientID && $0.from.user == user }.map {
            SentSignal(bodyHash: $0.bodyHash, status: $0.status, generation: $0.generation)
        }
    }

    func heldSignals(in call: CallID, from sender: EndpointID, to recipient: EndpointID?) -> [Signal] {
        (state.signals[call] ?? []).filter { $0.from.endpoint == sender && $0.to == recipient && !$0.data.isEmpty }
    }

    func releaseHeldSignals(
        in call: CallID, from sender: EndpointID, to recipient: EndpointID?, through generation: Int64
    ) {
        change(call) {
            if $0.from.endpoint == sender, $0.to == recipient, $0.generation <= generation { $0.data = "" }
        }
    }

    func bindHeldSignals(
        in call: CallID, from sender: EndpointID, to recipient: EndpointID, after generation: Int64
    ) {
        change(call) {
            if $0.from.endpoint == sender, $0.to == nil, $0.generation > generation, !$0.data.isEmpty {
                $0.to = recipient
            }
        }
    }

    func supersede(
        _ kinds: Set<Signal.Kind>, from sender: EndpointID, in mailbox: StreamName, before generation: Int64
    ) {
        for (index, entry) in (state.streams[mailbox] ?? []).enumerated() {
            guard let mail = entry.mail, mail.sender == sender, mail.generation < generation,
                let kind = Signal.Kind(rawValue: entry.type), kinds.contains(kind)
            else { continue }
            state.streams[mailbox]?[index].data = MailboxLimits.superseded
            state.streams[mailbox]?[index].mail = nil
        }
    }

    func mail(in mailbox: StreamName, at sequence: Int64) -> String? {
        guard let entries = state.streams[mailbox], let last = state.sequences[mailbox] else { return nil }
        let index = entries.count - 1 - Int(last - sequence)
        return entries.indices.contains(index) ? entries[index].data : nil
    }

    func trimMailbox(of endpoint: EndpointID, in call: CallID, longerThan length: Int64, before sequence: Int64) {
        let mailbox = StreamName.signals(call, endpoint)
        guard let entries = state.streams[mailbox], let last = state.sequences[mailbox], entries.count > length else {
            return
        }
        state.streams[mailbox] = Array(entries.suffix(Int(last - sequence) + 1))
    }

    func closeMailbox(of endpoint: EndpointID, in call: CallID) {
        state.streams[.signals(call, endpoint)] = nil
        state.negotiations[call] = state.negotiations[call]?.filter {
            $0.key.first != endpoint && $0.key.second != endpoint
        }
        change(call) { if $0.from.endpoint == endpoint || $0.to == endpoint { $0.data = "" } }
    }

    func removeSignals(in call: CallID) {
        for case .signals(call, let endpoint) in state.streams.keys { state.streams[.signals(call, endpoint)] = nil }
        state.negotiations[call] = nil
        state.signals[call] = nil
    }

    private func change(_ call: CallID, _ body: (inout Signal) -> Void) {
        for index in (state.signals[call] ?? []).indices { body(&state.signals[call, default: []][index]) }
    }
}
