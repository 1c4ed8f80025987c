package import Model

/// A call document: the participants, their states, and how the call ended.
///
/// The document is also the state machine. It changes only through the methods in `Machine/`, which take the time as an
/// argument and return what they did. A command compares the document before and after and derives from the difference
/// what to write, whom to notify and which deadlines and leases to keep (`CallOutcome`). All state is in the document,
/// so nothing can contradict it.
///
/// The caller is the first participant and joined from the start; the call becomes active when the first callee
/// accepts. A call that a server key places rings the caller too, and becomes active when two have accepted. A call of two people ends when one of them leaves; a call of more is a group, which people may leave and
/// join again. A call of a group conversation is open: members of the conversation join it without having been invited.
package struct Call: Hashable, Sendable {
    package enum Kind: String, Sendable, CaseIterable {
        case audio, video
    }

    /// The path of the media.
    package enum Mode: Hashable, Sendable {
        /// Peer to peer, possibly through a relay; the server cannot read it.
        case direct
        /// Each participant's endpoint has a leg with the media gateway. The epoch changes when the gateway restarts
        /// and has lost its legs, so that endpoints join again.
        case gateway(epoch: Int64)
    }

    package enum Status: Hashable, Sendable {
        case ringing
        /// `emptyUntil`: set while nobody is joined; the call ends then even if somebody still rings.
        case active(since: Timestamp, emptyUntil: Timestamp?)
        case ended(Ending)
    }

    package struct Ending: Hashable, Sendable {
        package var reason: EndReason
        /// The user who ended the call; absent if a deadline did.
        package var by: UserID?
        package var at: Timestamp
        package var answeredAt: Timestamp?

        package init(reason: EndReason, by: UserID?, at: Timestamp, answeredAt: Timestamp?) {
            self.reason = reason
            self.by = by
            self.at = at
            self.answeredAt = answeredAt
        }
    }

    /// A recording in progress.
    package struct OngoingRecording: Hashable, Sendable {
        package let id: RecordingID
        package let by: UserID
        package let since: Timestamp
        /// When it reaches its maximum length.
        package let until: Timestamp?

        package init(id: RecordingID, by: UserID, since: Timestamp, until: Timestamp?) {
            self.id = id
            self.by = by
            self.since = since
            self.until = until
        }
    }

    /// Live captions in progress.
    package struct OngoingCaptions: Hashable, Sendable {
        package let by: UserID
        package let since: Timestamp
        /// Why there are currently no captions, as a text.
        package var failure: String?

        package init(by: UserID, since: Timestamp, failure: String? = nil) {
            self.by = by
            self.since = since
            self.failure = failure
        }
    }

    /// Why a call ended, or why a participant left it.
    package enum EndReason: String, Sendable, CaseIterable {
        case hungUp = "hung_up"
        case declined
        case cancelled
        case missed
        case busy
        case unreachable
        /// The caller made a new call, and this one was left over from a crash.
        case replaced
        case setupTimeout = "setup_timeout"
        case connectionLost = "connection_lost"
        case failed
        /// The participant was removed from the conversation, or left it.
        case removed
    }

    package let id: CallID
    package let conversation: ConversationID?
    /// Of a group conversation.
    package let isOpen: Bool
    package let kind: Kind
    package internal(set) var mode: Mode
    package let createdAt: Timestamp
    /// The number of commits that changed the document; a save succeeds only on the version that was read.
    package internal(set) var version: Int64
    package internal(set) var status: Status
    /// The recording in progress, which every participant is shown. Only in gateway mode.
    package internal(set) var recording: OngoingRecording?
    /// Why the last recording ended, if nobody stopped it.
    package internal(set) var recordingEnd: Recording.EndReason?
    /// Whether the call was or is being recorded: it has recordings, unless they were removed.
    package internal(set) var wasRecorded: Bool
    /// The live captions in progress, which every participant is shown. Only in gateway mode.
    package internal(set) var captions: OngoingCaptions?
    /// The caller first, then the callees in the order in which they were invited.
    package internal(set) var participants: [Participant]

    package init(
        id: CallID, conversation: ConversationID?, isOpen: Bool = false, kind: Kind, mode: Mode, createdAt: Timestamp,
        version: Int64, status: Status, recording: OngoingRecording? = nil, recordingEnd: Recording.EndReason? = nil,
        wasRecorded: Bool = false, captions: OngoingCaptions? = nil, participants: [Participant]
    ) {
        self.id = id
        self.conversation = conversation
        self.isOpen = isOpen
        self.kind = kind
        self.mode = mode
        self.createdAt = createdAt
        self.version = version
        self.status = status
        self.recording = recording
        self.recordingEnd = recordingEnd
        self.wasRecorded = wasRecorded
        self.captions = captions
        self.participants = participants
    }
}

extension Call {
    /// The first participant; nil only in a damaged document.
    package var caller: UserID? { participants.first?.user }

    package var isLive: Bool {
        if case .ended = status { false } else { true }
    }

    package var ending: Ending? {
        if case .ended(let ending) = status { ending } else { nil }
    }

    package var answeredAt: Timestamp? {
        switch status {
        case .ringing: nil
        case .active(let since, _): since
        case .ended(let ending): ending.answeredAt
        }
    }

    package var gatewayEpoch: Int64? {
        if case .gateway(let epoch) = mode { epoch } else { nil }
    }

    /// Whether the call is between two people; it ends when one of them leaves.
    package var isPair: Bool { participants.count == 2 && !isOpen }

    /// A key of the two people of a call between two, whoever called whom; at most one live call has a given key.
    ///
    /// A call that is withheld from its callee has a different, directional key: the callee, who cannot see it, may
    /// call the other way and must not join it by that.
    package var pair: String? {
        guard isPair, let caller = participants.first, let callee = participants.last else { return nil }
        if callee.isWithheld { return caller.user.text + ">" + callee.user.text }
        return Self.pair(caller.user, callee.user)
    }

    package static func pair(_ one: UserID, _ other: UserID) -> String {
        one.text < other.text ? one.text + ":" + other.text : other.text + ":" + one.text
    }

    package func participant(_ user: UserID) -> Participant? { participants.first { $0.user == user } }

    func index(of user: UserID) -> Int? { participants.firstIndex { $0.user == user } }
}

extension Call.Mode {
    package var name: String {
        switch self {
        case .direct: "direct"
        case .gateway: "gateway"
        }
    }
}
