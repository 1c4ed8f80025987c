package import Model

/// A call document: who is in a call, what became of each of them, and how it ended.
///
/// The document is also the machine. Its life cycle changes only through the methods in `Machine/`, which take the
/// moment as an argument and answer with what they did; a command compares the document before and after and derives
/// from the difference what to write, whom to tell and which deadlines and leases to keep (`CallOutcome`). Nothing that
/// matters is kept beside the document, so nothing can disagree with it.
///
/// The caller is the first participant and joined from the start: "active" begins when the first callee accepts. A call
/// of two people ends when one of them goes; a call of more is a group, which people may leave and join again.
package struct Call: Hashable, Sendable {
    package enum Kind: String, Sendable, CaseIterable {
        case audio, video
    }

    /// Which way media takes.
    package enum Mode: Hashable, Sendable {
        /// From peer to peer, perhaps through a relay; this server sees none of it.
        case direct
        /// Each participant's endpoint has a leg with the media gateway. The epoch names the gateway's life: another one
        /// means that the gateway began anew and knows of no leg, so that endpoints join it again.
        case gateway(epoch: Int64)
    }

    package enum Status: Hashable, Sendable {
        case ringing
        /// `emptyUntil`: nobody is joined, and the call ends then although somebody still rings.
        case active(since: Timestamp, emptyUntil: Timestamp?)
        case ended(Ending)
    }

    package struct Ending: Hashable, Sendable {
        package var reason: EndReason
        /// Whose act ended the call; absent where a deadline did.
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

    /// A recording that goes on, who began it and when.
    package struct OngoingRecording: Hashable, Sendable {
        package let id: RecordingID
        package let by: UserID
        package let since: Timestamp
        /// When it ends by itself.
        package let until: Timestamp?

        package init(id: RecordingID, by: UserID, since: Timestamp, until: Timestamp?) {
            self.id = id
            self.by = by
            self.since = since
            self.until = until
        }
    }

    /// Captions that are made of what is said, who wanted them and when.
    package struct OngoingCaptions: Hashable, Sendable {
        package let by: UserID
        package let since: Timestamp
        /// In words, why there are none at the moment.
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
        /// The caller began anew, and this was the ghost of an earlier try.
        case replaced
        case setupTimeout = "setup_timeout"
        case connectionLost = "connection_lost"
        case failed
    }

    package let id: CallID
    package let conversation: ConversationID?
    package let kind: Kind
    package internal(set) var mode: Mode
    package let createdAt: Timestamp
    /// Counts the commits that changed the document; a save succeeds only on the version that was read.
    package internal(set) var version: Int64
    package internal(set) var status: Status
    /// What is said is being kept, as every participant is shown. Only in the gateway.
    package internal(set) var recording: OngoingRecording?
    /// Why the last recording ended, where nobody ended it.
    package internal(set) var recordingEnd: Recording.EndReason?
    /// Some of it was recorded, or is being: there are recordings to ask for, unless they were removed.
    package internal(set) var wasRecorded: Bool
    /// What is said is being written down, as every participant is shown. Only in the gateway.
    package internal(set) var captions: OngoingCaptions?
    /// The caller first, then the callees in the order in which they were invited.
    package internal(set) var participants: [Participant]

    package init(
        id: CallID, conversation: ConversationID?, kind: Kind, mode: Mode, createdAt: Timestamp, version: Int64,
        status: Status, recording: OngoingRecording? = nil, recordingEnd: Recording.EndReason? = nil,
        wasRecorded: Bool = false, captions: OngoingCaptions? = nil, participants: [Participant]
    ) {
        self.id = id
        self.conversation = conversation
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
    /// The first participant; absent only in a document that was damaged on disk.
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

    /// A call between two people, which ends when one of them goes.
    package var isPair: Bool { participants.count == 2 }

    /// What at most one live call may have at a time: the two people of a call between two, whoever called whom.
    ///
    /// A call that is kept from its callee has a key of its own, with a direction: the callee, who knows nothing of it,
    /// may call the other way, and must not be led into it.
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
