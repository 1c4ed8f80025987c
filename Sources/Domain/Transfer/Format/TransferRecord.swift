package import Languages
package import Messaging
package import Model
package import Notifications

/// A line of a file that is imported or exported.
///
/// The ids in it are those of the source: `source`, the kind of the record and its id are unique.
package enum TransferRecord: Hashable, Sendable {
    case user(TransferUser)
    case conversation(TransferConversation)
    case message(TransferMessage)
    case member(TransferMember)
    case own(TransferOwn)

    /// The value of `type`.
    package var type: String {
        switch self {
        case .user: "user"
        case .conversation: "conversation"
        case .message: "message"
        case .member: "member"
        case .own: "own"
        }
    }

    /// Without what imports ignore.
    package var imported: Self {
        if case .user(let user) = self { .user(user.imported) } else { self }
    }

    /// The id of the conversation that it is or belongs to.
    package var conversation: String? {
        switch self {
        case .user: nil
        case .conversation(let conversation): conversation.id
        case .message(let message): message.conversation
        case .member(let member): member.conversation
        case .own(let own): own.conversation
        }
    }
}

package struct TransferUser: Hashable, Sendable {
    /// That a device of the user was pushed to: without its address, which stays with the server.
    package struct Push: Hashable, Sendable {
        package var device: String
        package var kind: PushKind
        package var createdAt: Timestamp
        /// When it was last renewed.
        package var updatedAt: Timestamp
        /// Whether other accounts of the device may have the same address.
        package var isShared = false

        package init(
            device: String, kind: PushKind, createdAt: Timestamp, updatedAt: Timestamp, isShared: Bool = false
        ) {
            self.device = device
            self.kind = kind
            self.createdAt = createdAt
            self.updatedAt = updatedAt
            self.isShared = isShared
        }
    }

    package var id: String
    /// The app's own id, as `ext:<id>` names the user here.
    package var ext: String?
    package var email: String?
    package var name: String
    package var languages: [String] = []
    package var createdAt: Timestamp?
    package var passwordHash: String?
    package var notifications: NotificationLevel?
    package var quietHours: QuietHours?
    /// For who asks for their data. Imports ignore it: apps register their devices anew.
    package var pushes: [Push] = []

    /// What is imported of it.
    package var imported: Self {
        var user = self
        user.pushes = []
        return user
    }

    package init(id: String, name: String) {
        self.id = id
        self.name = name
    }
}

package struct TransferConversation: Hashable, Sendable {
    package var id: String
    package var kind: ConversationKind
    /// Of a direct conversation two, of notes one; a group has lines of its own for them.
    package var members: [String] = []
    package var name: String?
    package var createdAt: Timestamp?
    package var settings = ConversationSettings()
    /// Seconds after which messages disappear that are sent here; nil if they stay.
    package var disappearAfter: Int64?

    package init(id: String, kind: ConversationKind) {
        self.id = id
        self.kind = kind
    }
}

package struct TransferMessage: Hashable, Sendable {
    package struct Edit: Hashable, Sendable {
        /// The former text.
        package var text: String
        package var writtenAt: Timestamp
        package var isWithheld = false

        package init(text: String, writtenAt: Timestamp, isWithheld: Bool = false) {
            self.text = text
            self.writtenAt = writtenAt
            self.isWithheld = isWithheld
        }
    }

    package struct Reaction: Hashable, Sendable {
        package var user: String
        package var emoji: String
        package var at: Timestamp?
        package var isWithheld = false

        package init(user: String, emoji: String, at: Timestamp? = nil, isWithheld: Bool = false) {
            self.user = user
            self.emoji = emoji
            self.at = at
            self.isWithheld = isWithheld
        }
    }

    package var id: String
    package var conversation: String
    package var author: String
    package var sentAt: Timestamp
    package var kind = Message.Kind.text
    /// Of kind `call`.
    package var call: TransferCall?
    /// Of kind `voice`.
    package var voice: TransferVoice?
    /// Of kind `notice`.
    package var notice: TransferNotice?
    /// Nil for a deleted message, a call, a voice message and a notice.
    package var text: String?
    /// Of the text, where it is sure.
    package var language: LanguageTag?
    package var replyTo: String?
    package var thread: String?
    package var forwardedFrom: String?
    package var editedAt: Timestamp?
    package var edits: [Edit] = []
    package var deletedAt: Timestamp?
    /// When it disappears; nil if it stays.
    package var expiresAt: Timestamp?
    package var reactions: [Reaction] = []
    package var isPinned = false
    package var isWithheld = false
    package var isTextWithheld = false

    package init(id: String, conversation: String, author: String, sentAt: Timestamp) {
        self.id = id
        self.conversation = conversation
        self.author = author
        self.sentAt = sentAt
    }
}

/// What a notice tells. The author did it.
package struct TransferNotice: Hashable, Sendable {
    package var kind: Notice.Kind
    package var users: [String] = []
    package var userCount: Int?
    package var name: String?
    package var settings: ConversationSettings?
    package var role: MemberRole?
    package var disappearAfter: Int64?
    /// The id of the message that was pinned.
    package var message: String?
    package var via: Notice.Via?
    package var isByServer = false

    package init(kind: Notice.Kind) { self.kind = kind }
}

/// A call that is over; it began when its message was sent.
package struct TransferCall: Hashable, Sendable {
    package struct Participant: Hashable, Sendable {
        package var user: String
        /// One of `CallRecord.participantStates`.
        package var state: String

        package init(user: String, state: String) {
            self.user = user
            self.state = state
        }
    }

    /// More than calls have here.
    package static let maxParticipants = 1000

    /// One of `CallRecord.kinds`.
    package var kind: String
    package var answeredAt: Timestamp?
    package var endedAt: Timestamp?
    /// One of `CallRecord.reasons`.
    package var reason: String?
    package var endedBy: String?
    package var participants: [Participant] = []

    package init(kind: String) { self.kind = kind }
}

/// What is told of a voice message. Its sound is in a file of its own.
package struct TransferVoice: Hashable, Sendable {
    package static let mostMs: Int64 = 86_400_000
    package static let maxSegments = 10_000

    package var durationMs: Int64
    /// The name of its sound, in the folder beside the file; nil if there is none.
    package var file: String?
    /// Peak levels of at most a hundred equal parts, 0 to 100.
    package var waveform: [Int] = []
    /// The average level in dBFS: 0 to -127.
    package var level: Int?
    /// The words that were recognized.
    package var transcript: String?
    package var language: String?
    /// The words with their times.
    package var segments: [FileTranscript.Segment] = []

    package init(durationMs: Int64) { self.durationMs = durationMs }

    /// The name of the file of a sound that this server has.
    package static func fileName(of file: FileID) -> String { file.text + ".ogg" }

    /// The sound that a name is of; nil if it is of another server.
    package static func file(named name: String) -> FileID? {
        name.hasSuffix(".ogg") ? FileID(String(name.dropLast(4))) : nil
    }
}

package struct TransferMember: Hashable, Sendable {
    /// Messages after `after` up to `until`, without the first from the beginning, without the second without an end.
    package struct Span: Hashable, Sendable {
        package var after: String?
        package var until: String?

        package init(after: String? = nil, until: String? = nil) {
            self.after = after
            self.until = until
        }
    }

    package var conversation: String
    package var user: String
    package var role = MemberRole.member
    /// Invited: to a direct conversation, whose request waits.
    package var state = MemberState.member
    package var joinedAt: Timestamp?
    /// Nil: all messages, or none of a member who has left.
    package var spans: [Span]?
    /// The last message that was read; nil for all.
    package var read: String?
    /// Nothing was read.
    package var isUnread = false

    package init(conversation: String, user: String) {
        self.conversation = conversation
        self.user = user
    }
}

/// What a member has noted on a message for themselves.
package struct TransferOwn: Hashable, Sendable {
    package var conversation: String
    package var user: String
    package var message: String
    package var starredAt: Timestamp?
    /// When they first listened to it, of a voice message.
    package var listenedAt: Timestamp?
    package var isHidden = false

    package init(conversation: String, user: String, message: String) {
        self.conversation = conversation
        self.user = user
        self.message = message
    }
}
