import Calls
import DatagramIO
import Logging
import MediaFiles
import MediaGateway
import Metrics
import Model
import SDP
import Storage
import Synchronization
import Voice
import WebAPI
import Wire

/// Records voice messages by legs with the media gateway.
///
/// Each recording is a call of one in the gateway, known by the recording's id, that nobody else can join and no store
/// knows: what is said in it is tapped and forwarded to nobody. Its file, under the same id, belongs to nothing until it
/// is sent. What a crash or a restart leaves of it is swept away with the files of nobody.
final class VoiceTaker: Sendable {
    private static let pauseSeconds = 1
    private static let longestOffer = 262_144

    private struct Parts: Sendable {
        let legs: GatewayLegs
        let voice: VoiceService
        let files: MediaFiles
    }

    /// What a restart of ICE builds on.
    private struct Session {
        var offer: String
        var tag: String
    }

    private struct State {
        var takes = VoiceTakes()
        var sessions: [VoiceTakeID: Session] = [:]
        var sendings: [VoiceTakeID: Task<SentVoice, any Error>] = [:]
        var connected: Set<EndpointID> = []
        var isWatched = false
    }

    private let logger: Logger
    private let parts = Mutex<Parts?>(nil)
    private let state = Mutex(State())

    init(logger: Logger) { self.logger = logger }

    /// Connects it with the gateway and with who keeps messages; before the server listens.
    func open(_ legs: GatewayLegs, _ voice: VoiceService, _ files: MediaFiles) {
        parts.withLock { $0 = Parts(legs: legs, voice: voice, files: files) }
        var rules = VoiceTakeRules()
        rules.soundSeconds = Int64(voice.commands.rules.secondsLimit)
        state.withLock { $0.takes = VoiceTakes(rules: rules) }
    }

    /// Those that sound may come of, those that wait to be sent, and the legs among the gateway's that they have.
    var figures: (open: Int, kept: Int, connected: Int) {
        state.withLock { ($0.takes.openCount, $0.takes.keptCount, $0.connected.count) }
    }

    // MARK: What the gateway tells

    /// Whether the leg is one of these.
    func holds(_ leg: EndpointID) -> Bool { state.withLock { $0.takes.take(as: leg) != nil } }

    /// Media can flow. False when the leg is none of these.
    func connected(_ leg: EndpointID) -> Bool {
        state.withLock { state in
            guard state.takes.take(as: leg) != nil else { return false }
            state.connected.insert(leg)
            return true
        }
    }

    /// The leg has failed, or its client closed it: what was said until then may still be sent.
    func ended(_ leg: EndpointID, because reason: LegEndReason) -> Bool {
        guard let take = state.withLock({ $0.takes.take(as: leg) }) else { return false }
        if reason != .stopped { Task { await end(take) } }
        return true
    }

    /// Sign-ins have ended, or a user is disabled: what was begun with them is thrown away, since nobody can send it.
    func end(begunBy isOver: (UserID, SignInID?) -> Bool) {
        let over = state.withLock { $0.takes.removeAll { isOver($0.from, $0.signIn) } }
        guard !over.isEmpty, let parts = parts.withLock({ $0 }) else { return }
        for take in over { Task { await discard(take, as: "discarded", parts) } }
    }

    // MARK: Beginning and ending

    private func gateway() throws -> Parts {
        guard let parts = parts.withLock({ $0 }) else {
            throw Problem(.conflict, "This server has no media gateway to record with: send a file.")
        }
        return parts
    }

    private func begin(_ take: VoiceTake, _ sdp: String, _ parts: Parts) async throws -> Calls.LegAnswer {
        guard let call = take.call, let file = take.file else { throw Problem.notFound("recording") }
        let begun = Self.now
        let files = TakeFiles(
            files: parts.files, file: file, limit: parts.voice.commands.rules.byteLimit, logger: logger
        ) { [weak self] event in
            switch event {
            case .began(let offset): self?.state.withLock { $0.takes.heard(take.id, at: begun &+ offset) }
            case .isFull: Task { await self?.end(take) }
            }
        }
        await parts.legs.recorder.begin(take.id.text, of: call.text, into: files) { [weak self] end in
            if let failure = end.failure { self?.failed(take, failure) }
        }
        parts.legs.tap(call, isOn: true)
        return try await answer(take, call, sdp, parts)
    }

    private func answer(_ take: VoiceTake, _ call: CallID, _ sdp: String, _ parts: Parts) async throws
        -> Calls.LegAnswer
    {
        do {
            return try await parts.legs.answer(
                Calls.LegOffer(call: call, user: take.from, endpoint: take.leg, sdp: sdp, part: .speaker))
        } catch let refusal as Calls.LegRefusal {
            throw Problem(refusal)
        }
    }

    /// Whether the gateway hears something in a section.
    private static func hears(_ answer: String) -> Bool {
        guard let description = try? SDP.SessionDescription(parsing: answer) else { return false }
        return description.sections.contains { section in
            section.kind == "audio" && !section.isRejected && section.direction?.receives ?? false
        }
    }

    /// Ends the leg; the file is whole then.
    private func finish(_ take: VoiceTake, _ parts: Parts) async {
        guard let call = take.call else { return }
        parts.legs.end(call: call, endpoint: take.leg)
        parts.legs.tap(call, isOn: false)
        await parts.legs.recorder.end(call.text)
        state.withLock { state in
            state.connected.remove(take.leg)
            state.sessions[take.id] = nil
        }
    }

    /// Nothing more is recorded; what there is is kept.
    private func end(_ take: VoiceTake) async {
        guard let parts = parts.withLock({ $0 }) else { return }
        await finish(take, parts)
        state.withLock { $0.takes.ended(take.id, at: Self.now) }
    }

    /// Called in the recorder: it must be brief.
    private func failed(_ take: VoiceTake, _ failure: String) {
        state.withLock { $0.takes.ended(take.id, failure: failure, at: Self.now) }
        count("failed")
        Task {
            guard let parts = parts.withLock({ $0 }) else { return }
            await finish(take, parts)
            await remove(take, parts)
        }
    }

    private func discard(_ take: VoiceTake, as outcome: String, _ parts: Parts) async {
        await finish(take, parts)
        await remove(take, parts)
        if take.failure == nil { count(outcome) }
    }

    /// What cannot be removed goes at the next start.
    private func remove(_ take: VoiceTake, _ parts: Parts) async {
        guard let file = take.file else { return }
        do {
            try await parts.files.remove(file)
        } catch {
            logger.error("a recording is not removed", metadata: ["error": "\(error)"])
        }
    }

    // MARK: Time

    private static var now: Int64 { Int64(clamping: SystemClock.now().nanoseconds / 1_000_000) }

    /// Looks after recordings while there are any.
    private func watch() {
        let begins = state.withLock { state in
            defer { state.isWatched = true }
            return !state.isWatched
        }
        guard begins else { return }
        Task {
            var keeper = Timekeeper(at: SystemClock.now())
            while isNeeded() {
                let stall = keeper.stall(at: SystemClock.now())
                let due = state.withLock { state in
                    state.takes.extend(by: Int64(clamping: stall / 1_000_000))
                    return state.takes.advance(to: Self.now)
                }
                await work(due)
                let now = SystemClock.now()
                keeper.plan(now.adding(nanoseconds: UInt64(Self.pauseSeconds) &* 1_000_000_000), at: now)
                try? await Task.sleep(for: .seconds(Self.pauseSeconds))
            }
        }
    }

    private func isNeeded() -> Bool {
        state.withLock { state in
            state.isWatched = !state.takes.isEmpty
            return state.isWatched
        }
    }

    private func work(_ due: [VoiceTakes.Due]) async {
        guard let parts = parts.withLock({ $0 }) else { return }
        for each in due {
            switch each {
            case .end(let take): await finish(take, parts)
            case .discard(let take): await discard(take, as: "abandoned", parts)
            }
        }
    }

    private func count(_ outcome: String) {
        Counter(label: "voice_recordings_ended_total", dimensions: [("outcome", outcome)]).increment()
    }
}

extension VoiceTaker: VoiceTaking {
    var isPossible: Bool { parts.withLock { $0 != nil } }

    func record(to: UserID, sdp: String, by principal: Principal) async throws -> VoiceTakeAnswer {
        let parts = try gateway()
        guard sdp.utf8.count <= Self.longestOffer else {
            throw Problem.invalid("offer.sdp", "An offer has at most \(Self.longestOffer) bytes.")
        }
        try await parts.voice.check(to: to, by: principal)
        try await parts.files.checkRoom()
        let wallClock = Timestamp.systemClock()
        let (take, replaced) = try state.withLock {
            try $0.takes.begin(.make(at: wallClock), to: to, leg: .make(at: wallClock), by: principal, at: Self.now)
        }
        watch()
        if let replaced { await discard(replaced, as: "replaced", parts) }
        do {
            try await parts.voice.store.read { try $0.checkSignedIn(principal) }
            let answer = try await begin(take, sdp, parts)
            guard Self.hears(answer.sdp) else {
                throw Problem.invalid("offer.sdp", "The offer sends no sound in Opus.")
            }
            try state.withLock { state in
                // It may have been thrown away at once.
                _ = try state.takes.take(take.id, of: principal.user)
                state.sessions[take.id] = Session(offer: sdp, tag: answer.ufrag)
            }
            return VoiceTakeAnswer(take: take.id, sdp: answer.sdp, tag: answer.ufrag)
        } catch {
            state.withLock { $0.takes.remove(take.id) }
            await discard(take, as: "refused", parts)
            throw error
        }
    }

    func tag(of take: VoiceTakeID, by principal: Principal) throws -> String {
        try session(of: take, by: principal).session.tag
    }

    func restart(
        _ id: VoiceTakeID, ufrag: String, password: String, by principal: Principal
    ) async throws -> VoiceTakeAnswer {
        let parts = try gateway()
        let (take, session) = try session(of: id, by: principal)
        guard let call = take.call else { throw Problem.notFound("recording", field: "recording") }
        let offer = try RestartedOffer.text(of: session.offer, ufrag: ufrag, password: password)
        let answer: Calls.LegAnswer
        do {
            answer = try await self.answer(take, call, offer, parts)
        } catch var problem as Problem {
            if problem.field != nil { problem.field = "body" }
            throw problem
        }
        let isThere = state.withLock { state in
            guard state.sessions[id] != nil else { return false }
            state.sessions[id] = Session(offer: offer, tag: answer.ufrag)
            return true
        }
        guard isThere else {
            // It ended meanwhile, and this would be another leg.
            parts.legs.end(call: call, endpoint: take.leg)
            throw Problem(.conflict, "This recording has ended.")
        }
        return VoiceTakeAnswer(take: id, sdp: answer.sdp, tag: answer.ufrag)
    }

    private func session(of id: VoiceTakeID, by principal: Principal) throws -> (take: VoiceTake, session: Session) {
        try state.withLock { state in
            let take = try state.takes.take(id, of: principal.user)
            guard let session = state.sessions[id] else { throw Problem(.conflict, "This recording has ended.") }
            return (take, session)
        }
    }

    func send(_ id: VoiceTakeID, by principal: Principal) async throws -> SentVoice {
        let parts = try gateway()
        let sending = try state.withLock { state -> Task<SentVoice, any Error>? in
            guard let take = state.takes.take(id), take.from == principal.user else { return nil }
            if let sending = state.sendings[id] { return sending }
            _ = try state.takes.send(id, of: principal.user)
            let sending = Task { try await deliver(take, by: principal, parts) }
            state.sendings[id] = sending
            return sending
        }
        if let sending { return try await sending.value }
        guard let message = try await parts.voice.sent(id, by: principal) else {
            throw Problem.notFound("recording", field: "recording")
        }
        return SentVoice(message: message, isDuplicate: true)
    }

    private func deliver(_ take: VoiceTake, by principal: Principal, _ parts: Parts) async throws -> SentVoice {
        await finish(take, parts)
        do {
            if let failure = state.withLock({ $0.takes.take(take.id)?.failure }) {
                // Trying again helps nothing: it is gone.
                throw Problem(.conflict, "This recording has failed. \(failure)")
            }
            let sent = try await parts.voice.send(take.id, to: take.to, by: principal) {
                try await Self.sound(of: take, parts.files)
            }
            state.withLock { state in
                state.sendings[take.id] = nil
                state.takes.remove(take.id)
            }
            await remove(take, parts)
            count("sent")
            return sent
        } catch {
            state.withLock { state in
                state.sendings[take.id] = nil
                state.takes.notSent(take.id, at: Self.now)
            }
            throw error
        }
    }

    private static func sound(of take: VoiceTake, _ files: MediaFiles) async throws -> [UInt8] {
        guard let name = take.file else { throw Problem.notFound("recording", field: "recording") }
        var bytes: [UInt8] = []
        do {
            let file = try await files.open(name)
            try await file.read(0..<file.byteCount) { bytes += $0 }
        } catch let error as MediaFileError where error.kind == .missing {
            throw VoiceService.nothingHeard
        }
        return bytes
    }

    func discard(_ id: VoiceTakeID, by principal: Principal) async throws {
        let parts = try gateway()
        let take = try state.withLock { try $0.takes.discard(id, of: principal.user) }
        await discard(take, as: "discarded", parts)
    }
}

extension VoiceTake {
    /// What it is called in the gateway, where only calls have legs.
    fileprivate var call: CallID? { CallID(id.text) }
    fileprivate var file: FileID? { FileID(id.text) }
}
