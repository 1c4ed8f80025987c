public import Foundation

/// A call's document: what the server knows of a call, and the same for everyone in it. The server alone changes it.
public struct Call: Hashable, Sendable, Identifiable {
    /// What the call began as.
    public enum Kind: String, Codable, Sendable {
        /// Voices only.
        case audio
        /// Voices and pictures.
        case video
    }

    /// Where in its life the call is; it only ever moves forward.
    public enum Status: String, Codable, Sendable {
        /// Somebody is being rung and nobody has accepted yet.
        case ringing
        /// Somebody has accepted.
        case active
        /// Over, for ever.
        case ended
    }

    /// The call's id.
    public var id: CallID
    /// The conversation it belongs to.
    public var conversationID: ConversationID?
    /// What it began as.
    public var kind: Kind
    /// How media flows: `direct` (from peer to peer, or relayed) or `gateway`.
    public var mode: String
    /// The life of the media gateway, where media goes through it: when it changes, legs are to be made anew.
    public var gatewayEpoch: Int?
    /// Where in its life the call is.
    public var status: Status
    /// Why it ended; present once it has.
    public var endReason: EndReason?
    /// Who ended it, where a user did.
    public var endedBy: UserID?
    /// Counts the document's changes; of two documents of one call, the higher one is newer.
    public var version: Int
    /// Who called.
    public var caller: UserID
    /// When it began to ring.
    public var createdAt: Date
    /// When it was first accepted.
    public var answeredAt: Date?
    /// When it ended.
    public var endedAt: Date?
    /// Who has what is said recorded, and since when; absent while nobody has. Every participant is to be shown this.
    public var recording: OngoingRecording?
    /// Why the last recording ended, where nobody ended it: `longest`, `failed`, `interrupted` or `quota_exceeded`.
    public var recordingEnded: String?
    /// There are recordings of the call, or were; true or absent.
    public var recorded: Bool?
    /// Who has what is said written down, and since when; absent while nobody has. Every participant is to be shown this.
    public var captions: OngoingCaptions?
    /// Everybody in the call, the caller first.
    public var participants: [Participant]

    /// The part that `user` has in the call.
    public func participant(_ user: UserID) -> Participant? {
        participants.first { $0.user == user }
    }
}

/// A recording that goes on.
public struct OngoingRecording: Hashable, Sendable, Codable {
    /// The recording's id.
    public var id: RecordingID
    /// Who began it.
    public var by: UserID
    /// When it began.
    public var since: Date
    /// When it ends by itself.
    public var until: Date?
}

/// Captions that are made of what is said.
public struct OngoingCaptions: Hashable, Sendable, Codable {
    /// Who wanted them.
    public var by: UserID
    /// Since when.
    public var since: Date
    /// In words, why there are none at the moment; absent while there are.
    public var failure: String?
}

/// What somebody in a call has said, as it was understood.
public struct Caption: Hashable, Sendable, Codable {
    /// Who said it.
    public var user: UserID
    /// Where it was heard: "microphone", "camera" or "screen".
    public var source: String
    /// When it was said.
    public var startedAt: Date
    /// How long that took, in milliseconds.
    public var durationMs: Int
    /// The words.
    public var text: String
    /// The language, as BCP 47 writes it, where the provider told.
    public var language: String?
}

/// Why a call ended, or why a participant is no longer in it. Servers may learn new reasons.
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
    /// Nobody accepted until the deadline.
    public static let missed = Self(rawValue: "missed")
    /// The callee was in another call.
    public static let busy = Self(rawValue: "busy")
    /// The callee could not be rung.
    public static let unreachable = Self(rawValue: "unreachable")
    /// The caller called again, and this call was what a crash had left.
    public static let replaced = Self(rawValue: "replaced")
    /// It was accepted, but no connection was reported within 20 seconds.
    public static let setupTimeout = Self(rawValue: "setup_timeout")
    /// Nothing was heard from one side for 30 seconds.
    public static let connectionLost = Self(rawValue: "connection_lost")
    /// The call failed for another reason.
    public static let failed = Self(rawValue: "failed")
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

    /// Reads a document. A change of the call's own fields comes without the participants.
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
