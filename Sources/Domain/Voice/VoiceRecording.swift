package import Model

/// A voice message that the server records, until it is finished or discarded. In JSON: a `recording`.
///
/// Only its owner knows of it. Finishing it makes a `VoiceFile` of it, which can be sent.
package struct VoiceRecording: Hashable, Sendable {
    /// Each owner has one recording at a time: a new one replaces the previous one.
    package enum Owner: Hashable, Sendable {
        case endpoint(EndpointID)
        /// A user who publishes by WHIP, which has no endpoints.
        case whip(UserID)
    }

    package enum State: Hashable, Sendable {
        /// The leg exists; no audio has arrived yet.
        case waiting(until: Int64)
        case recording(until: Int64)
        /// The recording has ended. Its owner may still send it.
        case kept(until: Int64)
        case sending
    }

    package let id: VoiceRecordingID
    package let from: UserID
    package let owner: Owner
    /// The sign-in that began it; absent for tokens of an external issuer.
    package let signIn: SignInID?
    /// Its leg in the gateway.
    package let leg: EndpointID
    package internal(set) var state: State
    /// Why it cannot be sent, as a text for its owner.
    package internal(set) var failure: String?

    /// Whether audio may still arrive.
    package var isOpen: Bool {
        switch state {
        case .waiting, .recording: true
        case .kept, .sending: false
        }
    }
}

/// Limits on the number and the length of recordings.
package struct VoiceRecordingRules: Hashable, Sendable {
    package var maxCount = 256
    package var maxPerUser = 4
    /// How long a recording waits for its first audio.
    package var firstAudioSeconds: Int64 = 60
    /// The maximum length, from the first audio.
    package var maxAudioSeconds: Int64 = 300
    /// How long an ended recording is kept until it is sent.
    package var keepSeconds: Int64 = 600

    package init() {}
}

/// All recordings of voice messages and their timeouts. They live in memory; times are milliseconds of a monotonic
/// clock.
package struct VoiceRecordings: Sendable {
    /// A timeout that has expired.
    package enum Due: Hashable, Sendable {
        /// The maximum length was reached, or no audio arrived.
        case end(VoiceRecording)
        /// It was not sent in time and has been removed.
        case discard(VoiceRecording)
    }

    private let rules: VoiceRecordingRules
    private var recordings: [VoiceRecordingID: VoiceRecording] = [:]

    package init(rules: VoiceRecordingRules = VoiceRecordingRules()) { self.rules = rules }

    package var isEmpty: Bool { recordings.isEmpty }
    package var openCount: Int { recordings.values.count { $0.isOpen } }
    package var keptCount: Int { recordings.count - openCount }

    /// Begins a recording. The owner's previous one is removed and returned, unless it is being sent.
    package mutating func begin(
        _ id: VoiceRecordingID, leg: EndpointID, by principal: Principal, at now: Int64
    ) throws -> (recording: VoiceRecording, replaced: VoiceRecording?) {
        let owner = principal.endpoint.map { VoiceRecording.Owner.endpoint($0) } ?? .whip(principal.user)
        let replaced = recordings.values.first { $0.owner == owner && $0.state != .sending }
        let others = recordings.values.filter { $0.id != replaced?.id }
        guard others.count < rules.maxCount else {
            throw Problem(.unavailable, "Too many voice messages are being recorded now.", retryAfter: 10_000)
        }
        guard others.count(where: { $0.from == principal.user }) < rules.maxPerUser else {
            throw Problem(.conflict, "You are recording too many voice messages at once: send or discard one.")
        }
        if let replaced { recordings[replaced.id] = nil }
        let recording = VoiceRecording(
            id: id, from: principal.user, owner: owner, signIn: principal.signIn, leg: leg,
            state: .waiting(until: now &+ rules.firstAudioSeconds &* 1000))
        recordings[id] = recording
        return (recording, replaced)
    }

    package func recording(_ id: VoiceRecordingID) -> VoiceRecording? { recordings[id] }

    package func recording(as leg: EndpointID) -> VoiceRecording? { recordings.values.first { $0.leg == leg } }

    /// Throws `notFound` for another user's recording as well.
    package func recording(_ id: VoiceRecordingID, of user: UserID) throws -> VoiceRecording {
        guard let recording = recordings[id], recording.from == user else {
            throw Problem.notFound("recording", field: "recording")
        }
        return recording
    }

    /// The first audio arrived at `begin`.
    package mutating func audioStarted(_ id: VoiceRecordingID, at begin: Int64) {
        guard case .waiting = recordings[id]?.state else { return }
        recordings[id]?.state = .recording(until: begin &+ rules.maxAudioSeconds &* 1000)
    }

    /// The recording has ended. With a failure, nothing of it can be sent.
    package mutating func ended(_ id: VoiceRecordingID, failure: String? = nil, at now: Int64) {
        guard let recording = recordings[id] else { return }
        recordings[id]?.failure = recording.failure ?? failure
        if recording.isOpen { recordings[id]?.state = .kept(until: now &+ rules.keepSeconds &* 1000) }
    }

    /// Begins to send it. Until that is done or has failed, nothing else can be done with the recording.
    package mutating func send(_ id: VoiceRecordingID, of user: UserID) throws -> VoiceRecording {
        let recording = try recording(id, of: user)
        guard recording.state != .sending else { throw Self.isBeingSent }
        recordings[id]?.state = .sending
        return recording
    }

    /// Sending failed; it may be tried again.
    package mutating func sendFailed(_ id: VoiceRecordingID, at now: Int64) {
        guard recordings[id]?.state == .sending else { return }
        recordings[id]?.state = .kept(until: now &+ rules.keepSeconds &* 1000)
    }

    /// Removes a recording that was sent or could not begin.
    package mutating func remove(_ id: VoiceRecordingID) { recordings[id] = nil }

    /// The owner discards it.
    package mutating func discard(_ id: VoiceRecordingID, of user: UserID) throws -> VoiceRecording {
        let recording = try recording(id, of: user)
        guard recording.state != .sending else { throw Self.isBeingSent }
        recordings[id] = nil
        return recording
    }

    /// The server did not read packets for `stall` milliseconds: extends all timeouts by that time.
    package mutating func extend(by stall: Int64) {
        for (id, recording) in recordings {
            switch recording.state {
            case .waiting(let until): recordings[id]?.state = .waiting(until: until &+ stall)
            case .recording(let until): recordings[id]?.state = .recording(until: until &+ stall)
            case .kept(let until): recordings[id]?.state = .kept(until: until &+ stall)
            case .sending: continue
            }
        }
    }

    /// Removes and returns the recordings that `isOver` selects, except those that are being sent.
    package mutating func removeAll(where isOver: (VoiceRecording) -> Bool) -> [VoiceRecording] {
        let over = recordings.values.filter { $0.state != .sending && isOver($0) }
        for recording in over { recordings[recording.id] = nil }
        return over
    }

    /// Returns the expired timeouts. Recordings to end are kept from then on; recordings to discard are removed.
    package mutating func advance(to now: Int64) -> [Due] {
        var due: [Due] = []
        for recording in recordings.values {
            switch recording.state {
            case .waiting(let until), .recording(let until):
                guard until <= now else { continue }
                ended(recording.id, at: now)
                due.append(.end(recording))
            case .kept(let until):
                guard until <= now else { continue }
                recordings[recording.id] = nil
                due.append(.discard(recording))
            case .sending: continue
            }
        }
        return due
    }

    private static let isBeingSent = Problem(.conflict, "This recording is being sent.")
}
