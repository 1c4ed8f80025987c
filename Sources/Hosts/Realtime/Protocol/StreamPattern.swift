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
            "What concerns one user alone: their calls, profile, friends, blocks, sign-ins, voice messages "
                + "and recordings."
        case .call: "One call with its participants. A call that rings, or is created, brings its stream by itself."
        case .signals:
            "The mailbox of one endpoint in one call: signals of other endpoints, and notices of the gateway. It comes "
                + "by itself with joining, and ends with the call."
        case .presence: "Whether a user is online."
        case .captions: "The live captions of a call, which joined endpoints receive by themselves."
        case .captionTranslations:
            "The live captions of a call in the listener's language: each after the caption itself, unless it is in that "
                + "language. It is `failed` or `unavailable` where none can be made, and missing where too many wait. An "
                + "endpoint has one language: another one ends the stream of the one before. In a call without a conversation "
                + "the operator's own engines alone translate."
        case .conversation:
            "One conversation with its members and messages. A client that holds some of its messages says which, in "
                + "`[epoch, sequence, first, last]`: it gets what changed of them, and what is newer."
        case .marks:
            "How far the members of a conversation have read and received it, and what the user has noted on messages for "
                + "themselves: `own`. Marks only rise: of two copies the higher numbers count. Above 100 members it has the "
                + "user's own alone."
        case .translations:
            "Translations of a conversation's messages into the language in which the user reads it. Each is of one "
                + "`textVersion` of its message: a client shows it only beside that one. Who reads automatically demands by "
                + "listening: the newest messages, and those that come. Another language begins it anew."
        case .typing:
            "Who is writing in a conversation, or recording a voice message. Somebody who is says so again within three seconds; "
                + "who does not has stopped."
        case .run:
            "An answer of the assistant while it is written. It goes on while somebody listens. Each piece of text says `from` "
                + "where on, in UTF-16 code units: what was there is replaced, so that 0 begins anew, as after tools were "
                + "used. A piece that begins beyond what is there was preceded by others that were lost: listen anew. The "
                + "last event has the run, with its sentences and what they rest on."
        case .inbox:
            "The list of the user's conversations: each with its last message and its unread messages. Who is removed from a "
                + "conversation finds its row changed here."
        }
    }

    /// Who may listen. Others get `not_found`.
    package var listeners: String {
        switch self {
        case .user: "The user."
        case .call: "Everybody who is or was a participant of the call."
        case .signals: "The endpoint, while it is the one that its user joined the call with."
        case .presence:
            "Everybody may listen, and friends and members of a shared conversation see it. To all others the user is always offline, as "
                + "somebody is who hides their presence or has blocked the listener; an event follows if that changes."
        case .captions, .captionTranslations:
            "The endpoints that are joined; each receives what was said since it joined."
        case .conversation:
            "Its members, and who is asked to accept a direct one. A former member is sent `reset` with the reason `access`."
        case .inbox: "The user."
        case .run: "The user who asked."
        case .translations: "Its members, and who is asked to accept a direct one; each of the messages that they see."
        case .marks: "Its members. Who lets nobody see what they have read sees nobody's."
        case .typing:
            "Its members, each of whom is told what the others do. Of two people it is not told while one has blocked the other."
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
                    "The first and the last number that `messages` speaks for: one in it that has no message is not for the "
                        + "user to see. Absent if there is none."),
                .required("hasEarlier", .boolean, "Whether `messages.list` has earlier ones."),
            ])
        case .marks:
            .object([
                .required("marks", .list(.either([Self.ownMarks, Self.shownMarks])), "The user's own, and others'."),
                .required("scheduled", Self.scheduled),
            ])
        case .translations:
            .object([
                .optional("language", .text(), "Into which the user reads; absent if their profile names none."),
                .optional("tone", .choice(["formal", "informal"]), "How translations speak to the user."),
                .required("mode", .choice(["automatic", "onRequest", "off"])),
                .required(
                    "translations", .list(.document("Translation")), "Those that there are of the newest 50 messages."),
                .required("hintMode", .choice(["automatic", "onRequest", "off"]), "When messages are explained."),
                .required("hints", .list(.document("Hints")), "Those that are stored of the newest 50 messages."),
            ])
        case .inbox:
            .object([
                .required("conversations", .list(.document("InboxRow")), "The most recently active first, at most 50."),
                .required(
                    "totals",
                    .object([
                        .required(
                            "unread", .integer(),
                            "The conversations with unread messages, or marked as unread, of all rows."),
                        .required("mentions", .integer(), "Those in which unread messages mention the user."),
                    ])),
                .optional("nextCursor", .text(), "For the next page, of `inbox.list`; absent if there is none."),
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
                    .required("type", .choice(["tool"])), .required("name", .text(), "Which one is used now."),
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
        .required("delivered", .integer(), "The last message that they have received; 0 if they let nobody see it."),
        .required(
            "shown", .list(.list(.integer())),
            "What they have read and let others see: numbers after the first up to the second. Without any, and with 0 in "
                + "`delivered`, the user does not see it any more."),
    ])
    private static let scheduled = ProtocolValue.object([
        .required(
            "count", .integer(),
            "The user's messages that wait to be sent. Whenever this object differs from what it was, `scheduled.list` has "
                + "changed."),
        .required("failed", .integer(), "Those among them that could not be sent."),
        .required("counter", .integer(), "The highest of theirs."),
    ])
    private static let presenceValue = ProtocolValue.object([
        .required("online", .boolean),
        .optional(
            "lastSeenAt", .time,
            "When the user was last there, of one who is offline and shows it to the listener (`lastSeen`)."),
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
                    + "`messages.list` has them.")
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
        case .log: "Numbered changes, which a client resumes from a position. At least once and in order."
        case .keyed:
            "The latest of each row, without a history: a client keeps the rows with the highest versions and resumes from a "
                + "position."
        case .latestEvent:
            "Events of which only the latest about a user counts: it replaces an older one that is still queued."
        case .orderedEvents: "Events in their order. Of those that wait for a slow client, the oldest are dropped."
        }
    }
}
