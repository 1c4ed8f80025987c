import Calls
import DatagramIO
package import Logging
package import MediaFiles
import MediaGateway
import Metrics
package import Model
import SDP
import Storage
import Synchronization
import Voice
import Wire

/// Records voice messages through legs of the media gateway.
///
/// In the gateway, each recording is a call with one participant under the recording's id, which is not in the store
/// and which nobody else can join: its audio is tapped and not forwarded. Its file has the same id, and no row until it
/// is finished, so a crash or a restart leaves an orphaned file, which is removed at the next start.
package final class VoiceRecorder: Sendable {
    private static let pollSeconds = 1
    private static let maxOfferByteCount = 262_144

    /// The last offer, which an ICE restart modifies, and the tag of the ICE session.
    private struct Session {
        var offer: String
        var tag: String
    }

    private struct State {
        var recordings: VoiceRecordings
        var sessions: [VoiceRecordingID: Session] = [:]
        var pendingSends: [VoiceRecordingID: Task<MadeVoiceFile, any Error>] = [:]
        var connected: Set<EndpointID> = []
        var isWatched = false
    }

    private let gateway: GatewayLegs?
    private let voice: VoiceService
    private let files: MediaFiles
    private let logger: Logger
    private let state: Mutex<State>

    /// - Parameter gateway: nil if this process runs none; then nothing can be recorded.
    package init(gateway: GatewayLegs?, voice: VoiceService, files: MediaFiles, logger: Logger) {
        self.gateway = gateway
        self.voice = voice
        self.files = files
        self.logger = logger
        var rules = VoiceRecordingRules()
        rules.maxAudioSeconds = Int64(voice.commands.rules.secondsLimit)
        state = Mutex(State(recordings: VoiceRecordings(rules: rules)))
    }

    /// Recordings that are open, those that wait to be sent, and their connected legs in the gateway.
    package var stats: (open: Int, kept: Int, connected: Int) {
        state.withLock { ($0.recordings.openCount, $0.recordings.keptCount, $0.connected.count) }
    }

    // MARK: Events of the gateway

    /// Whether the leg belongs to a recording.
    func holds(_ leg: EndpointID) -> Bool { state.withLock { $0.recordings.recording(as: leg) != nil } }

    /// The leg is connected. Returns false if it belongs to no recording.
    func connected(_ leg: EndpointID) -> Bool {
        state.withLock { state in
            guard state.recordings.recording(as: leg) != nil else { return false }
            state.connected.insert(leg)
            return true
        }
    }

    /// The leg has failed, or its client closed it. What was recorded until then may still be sent.
    func ended(_ leg: EndpointID, because reason: LegEndReason) -> Bool {
        guard let recording = state.withLock({ $0.recordings.recording(as: leg) }) else { return false }
        if reason != .stopped { Task { await end(recording) } }
        return true
    }

    /// Sign-ins have ended, or a user is disabled: their recordings are discarded, since nobody can send them.
    func end(begunBy isOver: (UserID, SignInID?) -> Bool) {
        let over = state.withLock { $0.recordings.removeAll { isOver($0.from, $0.signIn) } }
        guard let gateway else { return }
        for recording in over { Task { await discard(recording, as: "discarded", gateway) } }
    }

    // MARK: Beginning and ending

    private func requireGateway() throws -> GatewayLegs {
        guard let gateway else {
            throw Problem(.conflict, "This server has no media gateway for recording: upload a file.")
        }
        return gateway
    }

    private func begin(
        _ recording: VoiceRecording, _ sdp: String, _ gateway: GatewayLegs
    ) async throws -> LegDescription {
        guard let leg = recording.callLeg, let file = recording.file else { throw Problem.notFound("recording") }
        let startedAt = Self.now
        let files = VoiceRecordingFiles(
            files: self.files, file: file, limit: voice.commands.rules.byteLimit, logger: logger
        ) { [weak self] event in
            switch event {
            case .began(let offset):
                self?.state.withLock { $0.recordings.audioStarted(recording.id, at: startedAt &+ offset) }
            case .isFull: Task { await self?.end(recording) }
            }
        }
        await gateway.recorder.begin(recording.id.text, of: leg.call.text, into: files) { [weak self] end in
            if let failure = end.failure { self?.failed(recording, failure) }
        }
        gateway.tap(leg.call, isOn: true)
        return try await gateway.answer(sdp, of: leg, as: .speaker)
    }

    /// Whether an answer receives audio in a section.
    private static func receivesAudio(_ answer: String) -> Bool {
        guard let description = try? SessionDescription(parsing: answer) else { return false }
        return description.sections.contains { section in
            section.kind == "audio" && !section.isRejected && section.direction?.receives ?? false
        }
    }

    /// Ends the leg, and completes the file.
    private func finish(_ recording: VoiceRecording, _ gateway: GatewayLegs) async {
        guard let leg = recording.callLeg else { return }
        gateway.end(leg)
        gateway.tap(leg.call, isOn: false)
        await gateway.recorder.end(leg.call.text)
        state.withLock { state in
            state.connected.remove(recording.leg)
            state.sessions[recording.id] = nil
        }
    }

    /// Ends the recording, and keeps it.
    private func end(_ recording: VoiceRecording) async {
        guard let gateway else { return }
        await finish(recording, gateway)
        state.withLock { $0.recordings.ended(recording.id, at: Self.now) }
    }

    /// Called in the recorder, so it must be brief.
    private func failed(_ recording: VoiceRecording, _ failure: String) {
        state.withLock { $0.recordings.ended(recording.id, failure: failure, at: Self.now) }
        count("failed")
        Task {
            guard let gateway else { return }
            await finish(recording, gateway)
            await remove(recording)
        }
    }

    private func discard(_ recording: VoiceRecording, as outcome: String, _ gateway: GatewayLegs) async {
        await finish(recording, gateway)
        await remove(recording)
        if recording.failure == nil { count(outcome) }
    }

    /// A file that cannot be removed is removed at the next start.
    private func remove(_ recording: VoiceRecording) async {
        guard let file = recording.file else { return }
        do {
            try await files.remove(file)
        } catch {
            logger.error("a recording cannot be removed", metadata: ["error": "\(error)"])
        }
    }

    // MARK: Time

    private static var now: Int64 { Int64(clamping: SystemClock.now().nanoseconds / 1_000_000) }

    /// Polls the recordings for deadlines while there are any.
    private func watch() {
        let begins = state.withLock { state in
            defer { state.isWatched = true }
            return !state.isWatched
        }
        guard begins else { return }
        Task {
            var keeper = StallDetector(at: SystemClock.now())
            while isNeeded() {
                let stall = keeper.stall(at: SystemClock.now())
                let due = state.withLock { state in
                    state.recordings.extend(by: Int64(clamping: stall / 1_000_000))
                    return state.recordings.advance(to: Self.now)
                }
                await work(due)
                let now = SystemClock.now()
                keeper.plan(now.adding(nanoseconds: UInt64(Self.pollSeconds) &* 1_000_000_000), at: now)
                try? await Task.sleep(for: .seconds(Self.pollSeconds))
            }
        }
    }

    private func isNeeded() -> Bool {
        state.withLock { state in
            state.isWatched = !state.recordings.isEmpty
            return state.isWatched
        }
    }

    private func work(_ due: [VoiceRecordings.Due]) async {
        guard let gateway else { return }
        for each in due {
            switch each {
            case .end(let recording): await finish(recording, gateway)
            case .discard(let recording): await discard(recording, as: "abandoned", gateway)
            }
        }
    }

    private func count(_ outcome: String) {
        Counter(label: "voice_recordings_ended_total", dimensions: [("outcome", outcome)]).increment()
    }
}

// Requests. Each method throws a `Problem` if it fails.
extension VoiceRecorder {
    /// Whether this server has a gateway.
    package var isPossible: Bool { gateway != nil }

    /// Answers an offer that sends audio, and begins to record it.
    package func record(sdp: String, by principal: Principal) async throws -> VoiceRecordingAnswer {
        let gateway = try requireGateway()
        guard sdp.utf8.count <= Self.maxOfferByteCount else {
            throw Problem.invalid("offer.sdp", "An offer may have at most \(Self.maxOfferByteCount) bytes.")
        }
        try await voice.check(principal)
        try await files.checkFreeSpace()
        let wallClock = Timestamp.systemClock()
        let (recording, replaced) = try state.withLock {
            try $0.recordings.begin(
                .make(at: wallClock), leg: .make(at: wallClock), by: principal, at: Self.now)
        }
        watch()
        if let replaced { await discard(replaced, as: "replaced", gateway) }
        do {
            try await voice.store.read { try $0.checkSignedIn(principal) }
            let answer = try await begin(recording, sdp, gateway)
            guard Self.receivesAudio(answer.sdp) else {
                throw Problem.invalid("offer.sdp", "The offer sends no Opus audio.")
            }
            try state.withLock { state in
                // It may have been discarded meanwhile.
                _ = try state.recordings.recording(recording.id, of: principal.user)
                state.sessions[recording.id] = Session(offer: sdp, tag: answer.ufrag)
            }
            return VoiceRecordingAnswer(recording: recording.id, sdp: answer.sdp, tag: answer.ufrag)
        } catch {
            state.withLock { $0.recordings.remove(recording.id) }
            await discard(recording, as: "refused", gateway)
            throw error
        }
    }

    /// The ICE session of one of the user's recordings.
    package func iceSession(of recording: VoiceRecordingID, by principal: Principal) throws -> MediaICESession {
        let session = try session(of: recording, by: principal).session
        return MediaICESession(tag: session.tag, offer: session.offer)
    }

    /// Restarts ICE with the client's new credentials.
    package func restart(
        _ id: VoiceRecordingID, ufrag: String, password: String, by principal: Principal
    ) async throws -> VoiceRecordingAnswer {
        let gateway = try requireGateway()
        let (recording, session) = try session(of: id, by: principal)
        guard let leg = recording.callLeg else { throw Problem.notFound("recording", field: "recording") }
        let offer = try RestartedOffer.text(of: session.offer, ufrag: ufrag, password: password)
        let answer: LegDescription
        do {
            answer = try await gateway.answer(offer, of: leg, as: .speaker)
        } catch var problem as Problem {
            if problem.field != nil { problem.field = "body" }
            throw problem
        }
        let isOpen = state.withLock { state in
            guard state.sessions[id] != nil else { return false }
            state.sessions[id] = Session(offer: offer, tag: answer.ufrag)
            return true
        }
        guard isOpen else {
            // It ended meanwhile, and this is another leg.
            gateway.end(leg)
            throw Problem(.conflict, "This recording has ended.")
        }
        return VoiceRecordingAnswer(recording: id, sdp: answer.sdp, tag: answer.ufrag)
    }

    private func session(
        of id: VoiceRecordingID, by principal: Principal
    ) throws -> (recording: VoiceRecording, session: Session) {
        try state.withLock { state in
            let recording = try state.recordings.recording(id, of: principal.user)
            guard let session = state.sessions[id] else { throw Problem(.conflict, "This recording has ended.") }
            return (recording, session)
        }
    }

    /// Ends a recording and makes a voice file of it. If that was done before, returns that file.
    package func finish(_ id: VoiceRecordingID, by principal: Principal) async throws -> MadeVoiceFile {
        let gateway = try requireGateway()
        let pendingSend = try state.withLock { state -> Task<MadeVoiceFile, any Error>? in
            guard let recording = state.recordings.recording(id), recording.from == principal.user else { return nil }
            if let pendingSend = state.pendingSends[id] { return pendingSend }
            _ = try state.recordings.send(id, of: principal.user)
            let pendingSend = Task { try await deliver(recording, by: principal, gateway) }
            state.pendingSends[id] = pendingSend
            return pendingSend
        }
        if let pendingSend { return try await pendingSend.value }
        guard let file = try await voice.made(of: id, by: principal) else {
            throw Problem.notFound("recording", field: "recording")
        }
        return MadeVoiceFile(file: file, isDuplicate: true)
    }

    private func deliver(
        _ recording: VoiceRecording, by principal: Principal, _ gateway: GatewayLegs
    ) async throws -> MadeVoiceFile {
        await finish(recording, gateway)
        do {
            if let failure = state.withLock({ $0.recordings.recording(recording.id)?.failure }) {
                // A retry would not help: the file is gone.
                throw Problem(.conflict, "This recording has failed. \(failure)")
            }
            let made = try await voice.keep(recording.id, by: principal) {
                try await Self.audio(of: recording, files)
            }
            state.withLock { state in
                state.pendingSends[recording.id] = nil
                state.recordings.remove(recording.id)
            }
            await remove(recording)
            count("finished")
            return made
        } catch {
            state.withLock { state in
                state.pendingSends[recording.id] = nil
                state.recordings.sendFailed(recording.id, at: Self.now)
            }
            throw error
        }
    }

    private static func audio(of recording: VoiceRecording, _ files: MediaFiles) async throws -> [UInt8] {
        guard let name = recording.file else { throw Problem.notFound("recording", field: "recording") }
        var bytes: [UInt8] = []
        do {
            let file = try await files.open(name)
            try await file.read(0..<file.byteCount) { bytes += $0 }
        } catch let error as MediaFileError where error.kind == .missing {
            throw VoiceService.nothingRecorded
        }
        return bytes
    }

    package func discard(_ id: VoiceRecordingID, by principal: Principal) async throws {
        let gateway = try requireGateway()
        let recording = try state.withLock { try $0.recordings.discard(id, of: principal.user) }
        await discard(recording, as: "discarded", gateway)
    }
}

extension VoiceRecording {
    /// Its leg in the gateway, where only calls have legs.
    fileprivate var callLeg: CallLeg? { CallID(id.text).map { CallLeg(call: $0, endpoint: leg) } }
    fileprivate var file: FileID? { FileID(id.text) }
}
