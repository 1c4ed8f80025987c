public import Foundation

/// A call's document: the state of a call, the same for all participants. Only the server changes it.
public struct Call: Hashable, Sendable, Identifiable {
    /// The kind of a call. Newer servers may have more.
    public struct Kind: RawRepresentable, Hashable, Sendable, Codable {
        /// The kind as it stands in JSON.
        public let rawValue: String
        /// Takes any kind.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Audio only.
        public static let audio = Self(rawValue: "audio")
        /// Audio and video.
        public static let video = Self(rawValue: "video")
    }

    /// The status of a call; it only moves forward. Newer servers may have more.
    public struct Status: RawRepresentable, Hashable, Sendable, Codable {
        /// The status as it stands in JSON.
        public let rawValue: String
        /// Takes any status.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A callee rings and nobody has accepted yet.
        public static let ringing = Self(rawValue: "ringing")
        /// Somebody has accepted.
        public static let active = Self(rawValue: "active")
        /// The call is over.
        public static let ended = Self(rawValue: "ended")
    }

    /// The call's id.
    public var id: CallID
    /// The conversation it belongs to.
    public var conversationID: ConversationID?
    /// The kind that it was created with.
    public var kind: Kind
    /// The path of the media: `direct` (peer to peer, possibly relayed) or `gateway`.
    public var mode: String
    /// The epoch of the media gateway, in gateway mode: when it changes, create a new leg.
    public var gatewayEpoch: Int?
    /// The status.
    public var status: Status
    /// Why it ended; present once it has.
    public var endReason: EndReason?
    /// Who ended it, if a user did.
    public var endedBy: UserID?
    /// The document's version; a higher one is newer.
    public var version: Int
    /// Who called.
    public var caller: UserID
    /// When it began to ring.
    public var createdAt: Date
    /// When it was first accepted.
    public var answeredAt: Date?
    /// When it ended.
    public var endedAt: Date?
    /// The recording in progress; absent while there is none. Show it to every participant.
    public var recording: OngoingRecording?
    /// Why the last recording ended, if nobody stopped it: `longest`, `failed`, `interrupted` or `quota_exceeded`.
    public var recordingEnded: String?
    /// Whether the call has or had recordings; true or absent.
    public var recorded: Bool?
    /// The live captions in progress; absent while there are none. Show it to every participant.
    public var captions: OngoingCaptions?
    /// The participants, the caller first.
    public var participants: [Participant]

    /// The participant of `user`.
    public func participant(_ user: UserID) -> Participant? {
        participants.first { $0.user == user }
    }
}

/// A recording in progress.
public struct OngoingRecording: Hashable, Sendable, Codable {
    /// The recording's id.
    public var id: RecordingID
    /// Who began it.
    public var by: UserID
    /// When it began.
    public var since: Date
    /// When it reaches its maximum length.
    public var until: Date?
}

/// Live captions in progress.
public struct OngoingCaptions: Hashable, Sendable, Codable {
    /// Who started them.
    public var by: UserID
    /// When they were started.
    public var since: Date
    /// Why there are currently none, as a text; absent while they work.
    public var failure: String?
}

/// A transcribed utterance of a participant.
public struct Caption: Hashable, Sendable, Codable {
    /// Who said it.
    public var user: UserID
    /// The source: "microphone", "camera" or "screen".
    public var source: String
    /// When the utterance began.
    public var startedAt: Date
    /// The length of the utterance in milliseconds.
    public var durationMs: Int
    /// The text.
    public var text: String
    /// The language as a BCP 47 tag, if the provider reported it.
    public var language: String?
}

/// A caption in another language. Show it beside the caption with the same ``user``, ``source`` and ``startedAt``.
public struct CaptionTranslation: Hashable, Sendable, Codable {
    /// Who said it.
    public var user: UserID
    /// The source: "microphone", "camera" or "screen".
    public var source: String
    /// When the utterance began.
    public var startedAt: Date
    /// The language into which it is, as a BCP 47 tag.
    public var language: String
    /// The language that was spoken; nil if nobody knows it.
    public var from: String?
    /// Done, failed or unavailable.
    public var status: Translation.Status
    /// Why there is none.
    public var reason: Translation.Reason?
    /// The translated text.
    public var text: String?
    /// What made it, such as "apertium".
    public var engine: String?
    /// How it was made.
    public var kind: Translation.Kind?
}

/// Why a call ended, or why a participant is no longer in it. Newer servers may have more reasons.
public struct EndReason: RawRepresentable, Hashable, Sendable, Codable {
    /// The reason as it stands in JSON.
    public let rawValue: String
    /// Takes any reason.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Somebody hung up.
    public static let hungUp = Self(rawValue: "hung_up")
    /// The callee declined.
    public static let declined = Self(rawValue: "declined")
    /// The caller hung up before anybody accepted.
    public static let cancelled = Self(rawValue: "cancelled")
    /// Nobody accepted before the deadline.
    public static let missed = Self(rawValue: "missed")
    /// The callee was in another call.
    public static let busy = Self(rawValue: "busy")
    /// The callee could not be rung.
    public static let unreachable = Self(rawValue: "unreachable")
    /// The caller called again, and this call was left over from a crash.
    public static let replaced = Self(rawValue: "replaced")
    /// It was accepted, but no connection was reported within 20 seconds, or 60 seconds through the media gateway.
    public static let setupTimeout = Self(rawValue: "setup_timeout")
    /// One side gave no sign of life for 30 seconds.
    public static let connectionLost = Self(rawValue: "connection_lost")
    /// The call failed for another reason.
    public static let failed = Self(rawValue: "failed")
    /// Of a participant: was removed from the conversation, or left it.
    public static let removed = Self(rawValue: "removed")
    /// Of a participant: another endpoint of the same user accepted.
    public static let answeredElsewhere = Self(rawValue: "answered_elsewhere")
    /// Of a participant: another endpoint of the same user declined.
    public static let declinedElsewhere = Self(rawValue: "declined_elsewhere")
    /// Of a participant: another endpoint of the same user took over.
    public static let takenOver = Self(rawValue: "taken_over")
}

extension Call: Codable {
    private enum Key: String, CodingKey {
        case id, conversationID, kind, mode, gatewayEpoch, status, endReason, endedBy, version, caller, createdAt
        case answeredAt, endedAt, recording, recordingEnded, recorded, captions, participants
    }

    /// Reads a document. A change of the call's own fields has no participants.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        id = try container.decode(CallID.self, forKey: .id)
        conversationID = try container.decodeIfPresent(ConversationID.self, forKey: .conversationID)
        kind = try container.decode(Kind.self, forKey: .kind)
        mode = try container.decode(String.self, forKey: .mode)
        gatewayEpoch = try container.decodeIfPresent(Int.self, forKey: .gatewayEpoch)
        status = try container.decode(Status.self, forKey: .status)
        endReason = try container.decodeIfPresent(EndReason.self, forKey: .endReason)
        endedBy = try container.decodeIfPresent(UserID.self, forKey: .endedBy)
        version = try container.decode(Int.self, forKey: .version)
        caller = try container.decode(UserID.self, forKey: .caller)
        createdAt = try container.decode(Date.self, forKey: .createdAt)
        answeredAt = try container.decodeIfPresent(Date.self, forKey: .answeredAt)
        endedAt = try container.decodeIfPresent(Date.self, forKey: .endedAt)
        recording = try container.decodeIfPresent(OngoingRecording.self, forKey: .recording)
        recordingEnded = try container.decodeIfPresent(String.self, forKey: .recordingEnded)
        recorded = try container.decodeIfPresent(Bool.self, forKey: .recorded)
        captions = try container.decodeIfPresent(OngoingCaptions.self, forKey: .captions)
        participants = try container.decodeIfPresent([Participant].self, forKey: .participants) ?? []
    }
}
