package import Model

/// The streams that a client can listen to, by the form of their names.
package enum StreamPattern: String, Hashable, Sendable, CaseIterable {
    case user, call, signals, presence, captions, captionTranslations, conversation, inbox, marks, translations, typing
    case run

    package init(_ stream: StreamName) {
        self =
            switch stream {
            case .user: .user
            case .call: .call
            case .signals: .signals
            case .presence: .presence
            case .captions: .captions
            case .captionTranslations: .captionTranslations
            case .conversation: .conversation
            case .inbox: .inbox
            case .marks: .marks
            case .translations: .translations
            case .typing: .typing
            case .run: .run
            }
    }

    /// The first part of the name.
    package var prefix: String { self == .captionTranslations ? StreamPattern.captions.rawValue : rawValue }

    /// The parts of the name after the first, each of which is an identifier, or a `language`: a BCP 47 tag.
    package var parameters: [String] {
        switch self {
        case .user, .presence, .inbox: ["user"]
        case .conversation, .marks, .translations, .typing: ["conversation"]
        case .call, .captions: ["call"]
        case .captionTranslations: ["call", "language"]
        case .signals: ["call", "endpoint"]
        case .run: ["run"]
        }
    }

    /// Such as `signals:{call}:{endpoint}`.
    package var template: String { ([prefix] + parameters.map { "{\($0)}" }).joined(separator: ":") }

    package var kind: StreamName.Kind {
        switch self {
        case .user, .call, .signals: .log
        case .presence, .typing: .latestEvent
        case .captions, .captionTranslations, .run: .orderedEvents
        case .conversation, .inbox, .marks, .translations: .keyed
        }
    }

    package var meaning: String {
        switch self {
        case .user:
            "Everything that belongs to one user: their calls, profile, friends, blocks, sign-ins, voice "
                + "messages and recordings."
        case .call: "One call with its participants. The stream begins by itself when a call rings or is created."
        case .signals:
            "The mailbox of one endpoint in one call: signals of other endpoints, and notices of the gateway. "
                + "The stream begins by itself when the endpoint joins, and ends with the call."
        case .presence: "Whether a user is online."
        case .captions: "The live captions of a call, which joined endpoints receive by themselves."
        case .captionTranslations:
            "The live captions of a call in the listener's language. Each translation comes after the caption "
                + "itself, unless the caption is already in that language. It is `failed` or `unavailable` if it "
                + "cannot be made, and missing if too many wait. An endpoint has one language: if it listens in "
                + "another one, the stream of the language before ends. In a call without a conversation, only the "
                + "operator's own engines translate."
        case .conversation:
            "One conversation with its members and messages. A client that holds some of the messages says "
                + "which, by `[epoch, sequence, first, last]`: it gets the changes of these messages, and newer "
                + "messages."
        case .marks:
            "How far the members of a conversation have read and received it, and what the user has noted on "
                + "messages for themselves: `own`. Marks only rise: if two copies differ, the higher numbers are "
                + "right. In conversations of more than 100 members, there are only the user's own marks."
        case .translations:
            "Translations of a conversation's messages into the language in which the user reads it. Each "
                + "belongs to one `textVersion` of its message, and a client shows it only beside that text. If the "
                + "user's mode is `automatic`, the server translates the newest messages, and new ones, while the "
                + "user listens. If the user changes the language, the stream begins again with a snapshot."
        case .typing:
            "Who is writing in a conversation, or recording a voice message. Their client repeats that at "
                + "least every three seconds; if no repetition comes, they have stopped."
        case .run:
            "An answer of the assistant while it is written. The answer goes on while somebody listens. Each "
                + "piece of text replaces the text from the position `from` on, in UTF-16 code units; a piece from 0 "
                + "replaces all of it, as after tools were used. If a piece begins after the end of the text that "
                + "the client has, pieces before it were lost: listen again. The last event has the run, with its "
                + "sentences and the messages that they are based on."
        case .inbox:
            "The list of the user's conversations: each with its last message and its unread messages. If the "
                + "user is removed from a conversation, its row changes here."
        }
    }

    /// Who may listen. Others get `not_found`.
    package var listeners: String {
        switch self {
        case .user: "The user."
        case .call: "Everybody who is or was a participant of the call."
        case .signals: "The endpoint, while it is the one that its user joined the call with."
        case .presence:
            "Everybody may listen, but only friends and members of a shared conversation see whether the user "
                + "is online. To all others the user is always offline. The same holds if the user hides their "
                + "presence or has blocked the listener. If any of this changes, an event follows."
        case .captions, .captionTranslations:
            "The endpoints that are joined; each receives what was said since it joined."
        case .conversation:
            "Its members, and the user who is asked to accept a direct conversation. A user who is no longer a "
                + "member gets a `reset` with the reason `access`."
        case .inbox: "The user."
        case .run: "The user who asked."
        case .translations:
            "Its members, and the user who is asked to accept a direct conversation. Each gets translations of "
                + "the messages that they see."
        case .marks: "Its members. If a user turns read receipts off, they do not see others' either."
        case .typing:
            "Its members. Each is told what the others do. Between two people, nothing is told while one has "
                + "blocked the other."
        }
    }

    /// The snapshot.
    package var snapshot: ProtocolValue {
        switch self {
        case .user:
            .object([
                .required("me", .document("Me")),
                .required(
                    "calls", .list(.document("Call")), "The live calls that the user is invited to, is in, or may join."
                ),
                .required(
                    "friends", .list(.document("Friend")),
                    "Friends, and requests that were received or sent: the newest 200."),
                .optional("moreFriends", .boolean, "True if there are more, which `friends.list` has."),
            ])
        case .call: .object([.required("call", .document("Call"))])
        case .signals:
            .object([
                .required(
                    "signals", .list(.either(changes.map { .object($0.members) })),
                    "The changes that still matter, in order.")
            ])
        case .presence: Self.presenceValue
        case .captions, .captionTranslations, .typing: .object([])
        case .run:
            .object([
                .required("run", .document("AssistantRun")),
                .required("text", .text(), "What has been written; empty once there are sentences."),
            ])
        case .conversation:
            .object([
                .required("conversation", .document("Conversation")),
                .required("membership", .document("Membership"), "The user's own part."),
                .required("members", .list(.document("ConversationMember")), "At most 100."),
                .optional("moreMembers", .boolean, "True if there are more, which `members.list` has."),
                .required(
                    "people", .list(.document("User")), "The profiles of the members and authors that are shown."),
                .required(
                    "messages", .list(.document("Message")), "The newest, at most 50, in the order of their numbers."),
                .optional(
                    "range", .list(.integer()),
                    "The first and the last number for which `messages` speaks: a number between them that has "
                        + "no message is one that the user may not see. Absent if there are no messages."),
                .required("hasEarlier", .boolean, "Whether `messages.list` has earlier ones."),
            ])
        case .marks:
            .object([
                .required(
                    "marks", .list(.either([Self.ownMarks, Self.shownMarks])),
                    "The user's own marks, and those of others."),
                .required("scheduled", Self.scheduled),
            ])
        case .translations:
            .object([
                .optional(
                    "language", .text(),
                    "The language in which the user reads; absent if their profile names none."),
                .optional("tone", .choice(["formal", "informal"]), "How translations address the user."),
                .required("mode", .choice(["automatic", "onRequest", "off"])),
                .required(
                    "translations", .list(.document("Translation")),
                    "The existing translations of the newest 50 messages."),
                .required("hintMode", .choice(["automatic", "onRequest", "off"]), "When messages are explained."),
                .required("hints", .list(.document("Hints")), "The stored hints of the newest 50 messages."),
            ])
        case .inbox:
            .object([
                .required("conversations", .list(.document("InboxRow")), "The most recently active first, at most 50."),
                .required(
                    "totals",
                    .object([
                        .required(
                            "unread", .integer(),
                            "How many of all rows have unread messages or are marked as unread."),
                        .required(
                            "mentions", .integer(),
                            "How many of them have unread messages that mention the user."),
                    ])),
                .optional("nextCursor", .text(), "For the next page, by `inbox.list`; absent if there is none."),
            ])
        }
    }

    /// The rows of keyed state: each is an object of one of these shapes.
    package var rows: [ProtocolValue] {
        switch self {
        case .conversation:
            [
                .object([.required("conversation", .document("Conversation"))]),
                .object([
                    .required("member", .document("ConversationMember")),
                    .optional("person", .document("User"), "The member's profile."),
                ]),
                .object([.required("message", .document("Message"))]),
            ]
        case .inbox: [.document("InboxRow")]
        case .translations:
            [
                .object([.required("translation", .document("Translation"))]),
                .object([.required("hints", .document("Hints"))]),
            ]
        case .marks:
            [
                .object([.required("marks", .either([Self.ownMarks, Self.shownMarks]))]),
                .object([.required("own", .document("OwnMessage"))]),
                .object([.required("scheduled", Self.scheduled)]),
            ]
        default: []
        }
    }

    /// The changes of a log; empty for other streams.
    package var changes: [ChangeDescription] {
        switch self {
        case .user: UserChangeType.allCases.map(\.description)
        case .call: CallChangeType.allCases.map(\.description)
        case .signals: SignalChangeType.allCases.map(\.description)
        case .presence, .captions, .captionTranslations, .conversation, .inbox, .marks, .translations, .typing, .run: []
        }
    }

    /// The event of a stream without a log.
    package var event: ProtocolValue? {
        switch self {
        case .user, .call, .signals, .conversation, .inbox, .marks, .translations: nil
        case .presence: Self.presenceValue
        case .captions: .document("Caption")
        case .captionTranslations: .document("CaptionTranslation")
        case .run:
            .either([
                .object([
                    .required("type", .choice(["text"])),
                    .required("from", .integer(), "In UTF-16 code units."),
                    .required("text", .text()),
                ]),
                .object([
                    .required("type", .choice(["tool"])), .required("name", .text(), "The tool that is used now."),
                ]),
                .object([.required("type", .choice(["done"])), .required("run", .document("AssistantRun"))]),
            ])
        case .typing:
            .object([
                .required("user", .identifier), .required("state", .choice(TypingState.allCases.map(\.rawValue))),
            ])
        }
    }

    private static let ownMarks = ProtocolValue.object([
        .required("user", .identifier, "The user."),
        .required("read", .integer(), "The last message that was read, on any device."),
        .required("delivered", .integer()),
    ])
    private static let shownMarks = ProtocolValue.object([
        .required("user", .identifier, "Another member."),
        .required("delivered", .integer(), "The last message that they have received; 0 if they do not show it."),
        .required(
            "shown", .list(.list(.integer())),
            "What they have read and show to others: numbers after the first up to the second. If there is "
                + "none, and `delivered` is 0, the user no longer sees their receipts."),
    ])
    private static let scheduled = ProtocolValue.object([
        .required(
            "count", .integer(),
            "How many messages of the user wait to be sent. Whenever this object changes, `scheduled.list` has "
                + "changed."),
        .required("failed", .integer(), "How many of them could not be sent."),
        .required("counter", .integer(), "The highest counter of these messages."),
    ])
    private static let presenceValue = ProtocolValue.object([
        .required("online", .boolean),
        .optional(
            "lastSeenAt", .time,
            "When the user was last online; only of a user who is offline and shows it to the listener (`lastSeen`)."),
    ])
}

extension StreamPattern {
    /// The members of a frame that depend on the stream; nil if it has no such frames.
    package func members(of frame: ServerFrameKind) -> [ProtocolMember]? {
        let stream = ProtocolMember.required("stream", .streamName(self))
        switch frame {
        case .changes:
            guard kind == .log else { return nil }
            return [stream, .required("changes", .list(.either(changes.map { .object($0.members) })))]
        case .rows:
            guard kind == .keyed else { return nil }
            let gap = ProtocolMember.optional(
                "gap", .list(.integer()),
                "The first and the last number of newer messages that are left out, since there are too many: "
                    + "read them with `messages.list`.")
            return [
                stream, .required("rows", .list(.either(rows))), .required("epoch", .text()),
                .required("after", .sequence), .required("upTo", .sequence),
            ] + (self == .conversation ? [gap] : [])
        case .snapshot:
            guard kind == .log || kind == .keyed else { return [stream, .required("snapshot", snapshot)] }
            return [
                stream, .required("snapshot", snapshot),
                .required("epoch", .text(), "Changes when the database was rebuilt, as after restoring a backup."),
                .required("seq", .sequence, "The sequence of the last change that the snapshot contains."),
            ]
        case .event:
            guard let event else { return nil }
            return [stream, .required("event", event)]
        case .reset, .result, .error, .heartbeat, .bye:
            return nil
        }
    }
}

extension StreamName.Kind {
    /// The kind's name in the table.
    package var name: String {
        switch self {
        case .log: "log"
        case .keyed: "keyed"
        case .latestEvent: "latest"
        case .orderedEvents: "ordered"
        }
    }

    package var meaning: String {
        switch self {
        case .log: "Numbered changes, in order, each at least once. A client resumes them from a position."
        case .keyed:
            "The latest copy of each row, without a history. A client keeps the copies with the highest "
                + "versions, and resumes from a position."
        case .latestEvent:
            "Events of which only the latest one about a user counts: it replaces an older event that is still queued."
        case .orderedEvents: "Events in their order. If too many wait for a slow client, the oldest are dropped."
        }
    }
}
