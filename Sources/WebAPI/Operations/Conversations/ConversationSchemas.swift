import Languages
import Messaging
import Model

/// The schemas of conversations and messages.
enum ConversationSchemas {
    static let all: [(String, Schema)] =
        [
            ("Conversation", conversation), ("Membership", membership), ("ConversationMember", member),
            ("Message", message), ("CallRecord", callRecord), ("Notice", notice),
            ("ConversationSettings", settings(areRequired: true)),
            ("DisappearAfter", disappearAfter), ("TextRange", range), ("MessageEdit", messageEdit),
            (
                "ConversationResult",
                .object([
                    .required("conversation", .named("Conversation")), .required("membership", .named("Membership")),
                    people,
                ])
            ),
            (
                "ConversationPage",
                .object([
                    .required(
                        "conversations",
                        .list(
                            .object([
                                .required("conversation", .named("Conversation")),
                                .required("membership", .named("Membership")),
                            ]))),
                    people, .optional("nextCursor", .text()),
                ])
            ),
            ("MemberResult", .object([.required("member", .named("ConversationMember"))])),
            (
                "MemberPage",
                .object([
                    .required("members", .list(.named("ConversationMember"))), people, .optional("nextCursor", .text()),
                ])
            ),
            (
                "MessageResult",
                .object([
                    .required("message", .named("Message")),
                    .optional("duplicate", .boolean, "The request was already executed."),
                ])
            ),
            (
                "MessagePage",
                .object([
                    .required("messages", .list(.named("Message"))),
                    .optional(
                        "range", .list(.integer(), minimum: 2, maximum: 2),
                        "The first and the last number for which the page speaks; absent if there are none."),
                    .required("hasEarlier", .boolean), .required("hasLater", .boolean),
                    .optional("own", .list(.named("OwnMessage")), "What the user has noted on the messages."),
                    .required("position", .named("Position"), "The page has every change up to this position."),
                ])
            ),
            ("InboxRow", inboxRow),
        ] + parts + ScheduledOperations.schemas + SearchOperations.schemas + GroupLinkOperations.schemas
        + TranslationOperations.schemas + SummaryOperations.schemas + HintOperations.schemas + WritingOperations.schemas
        + AssistantOperations.schemas

    private static let parts: [(String, Schema)] = [
        (
            "InboxPage",
            .object([
                .required("conversations", .list(.named("InboxRow"))),
                .required(
                    "totals",
                    .object([
                        .required(
                            "unread", .integer(),
                            "How many conversations of the list (the archived ones, or the others) have unread "
                                + "messages or are marked as unread."
                        ),
                        .required("mentions", .integer(), "How many of them mention the user in unread messages."),
                    ])),
                .optional("nextCursor", .text()),
                .required("position", .named("Position"), "The position in the stream `inbox:{user}`."),
            ])
        ),
        (
            "DeletionResult",
            .object([.optional("message", .named("Message")), .optional("own", .named("OwnMessage"))])
        ),
        ("MessageLanguage", messageLanguage),
        (
            "MessageEdits",
            .object([
                .required("edits", .list(.named("MessageEdit"))),
                .optional(
                    "nextCursor", .text(),
                    "For the next page; absent on the last one. A page has at most 256 KiB of texts."
                ),
            ])
        ),
        (
            "OwnMessage",
            .object([
                .required("number", .integer()), .required("starred", .boolean),
                .optional("hidden", .boolean, "True if the user has deleted it for themselves."),
                .optional("listened", .boolean, "Of a voice message: true if the user has listened to it."),
                .required(
                    "reacted", .list(.text()), "The emoji of the user's reactions. A deleted message has none."
                ),
                .required("counter", .integer(), "Of two copies, the one with the higher counter is newer."),
            ])
        ),
        ("Mute", mute), ("Draft", draft), ("SavedDraft", savedDraft),
        ("OwnResult", .object([.required("own", .named("OwnMessage"))])),
        (
            "ReactionPage",
            .object([
                .required(
                    "reactions",
                    .list(
                        .object([
                            .required("emoji", .text()), .required("user", .identifier), .required("at", .time),
                        ]))), people, .optional("nextCursor", .text()),
            ])
        ),
        (
            "ReceiptPage",
            .object([
                .required(
                    "receipts",
                    .list(
                        .object([
                            .required("user", .identifier), .required("read", .boolean),
                            .optional("readAt", .time), .optional("deliveredAt", .time),
                        ]))), people, .optional("nextCursor", .text()),
            ])
        ),
        (
            "StarredPage",
            .object([.required("messages", .list(.named("Message"))), .optional("nextCursor", .text())])
        ),
        (
            "Marks",
            .object([
                .required("read", .integer(), "The last message that was read."),
                .required("delivered", .integer(), "The last message that others see as received."),
            ])
        ),
        ("MembershipResult", .object([.required("membership", .named("Membership"))])),
    ]

    private static let people = Schema.Member.required(
        "people", .list(.named("User")),
        "The profiles of the other users who are named here, as far as clients need them to show it.")

    /// In a request that changes it.
    private static let disappearAfter = Schema.either([.integer(Disappearing.bounds), .null])

    static func settings(areRequired: Bool) -> Schema {
        let who = Schema.choice(ConversationSettings.Who.allCases.map(\.rawValue))
        let days = Schema.integer(Int64(MessageRetention.bounds.lowerBound)...Int64(MessageRetention.bounds.upperBound))
        let members = [
            ("write", who, "Who may write."), ("add", who, "Who may add people."),
            ("rename", who, "Who may rename the group."),
            (
                "keepDays", days,
                "The number of days after which messages are erased for everybody, like deleted ones. 0: they "
                    + "are kept for as long as the server keeps messages, which `GET /v1/server` says."
            ),
        ]
        return .object(
            members.map { areRequired ? .required($0.0, $0.1, $0.2) : .optional($0.0, $0.1, $0.2) } + [
                .optional(
                    "intelligence", Schemas.intelligence,
                    "The highest level of what machines may do with the messages; if absent, the server's "
                        + "default applies.")
            ])
    }

    private static let conversation = Schema.object([
        .required("id", .identifier), .required("kind", .choice(ConversationKind.allCases.map(\.rawValue))),
        .optional("name", .text(), "Of a group."), .required("createdAt", .time),
        .optional(
            "lastNumber", .integer(),
            "The number of the last message that the user sees; absent while the user is only invited to a group."),
        .optional("lastSentAt", .time, "When that message was sent."),
        .optional("liveCall", liveCall, "The call that is on. Members may join it, even if they were not invited."),
        .required("members", .integer(), "The number of members."),
        .optional("settings", .named("ConversationSettings"), "Of a group."),
        .optional(
            "disappearAfter", .integer(Disappearing.bounds),
            "Seconds after which messages that are sent now disappear; absent if they stay."),
        .required(
            "pins", .list(.integer()),
            "The numbers of pinned messages that the user sees, the newest pin first."),
        .required("version", .integer(), "The conversation's sequence at the last change of this document."),
    ])

    private static let membership = Schema.object([
        .required("role", .choice(MemberRole.allCases.map(\.rawValue))),
        .required("state", .choice(MemberState.allCases.map(\.rawValue))), .required("joinedAt", .time),
        .required("version", .integer()),
        .required(
            "spans",
            .list(
                .object([
                    .required("from", .integer(), "The number before the first."),
                    .optional("until", .integer(), "The last number; absent while the span goes on."),
                ])), "The numbers of the messages that the user may see."),
        .required("read", .integer(), "The last message that was read on any of the user's devices."),
        .optional("muted", .named("Mute")),
        .required("pinned", .boolean), .required("archived", .boolean), .required("markedUnread", .boolean),
        .optional(
            "receipts", .boolean,
            "Whether others see what the user reads here; if absent, the setting of the profile applies."),
        .optional("draft", .named("Draft")),
        .optional("translation", .named("TranslationSettings"), "If absent, the setting of the profile applies."),
        .optional(
            "intelligence", Schemas.intelligence,
            "The level of what the user writes here; if absent, the setting of the profile applies."),
    ])

    private static let mute = Schema.object([
        .optional("until", .time, "When it ends; absent if it does not end."),
        .required("mentions", .boolean, "Whether mentions still notify the user."),
    ])

    private static let draft = draft(replyingTo: .integer(1...Int64.max))
    /// As a request has it.
    private static let savedDraft = draft(replyingTo: MessageOperations.target)

    private static func draft(replyingTo message: Schema) -> Schema {
        .object([
            .required("text", .text(), "Empty if there is none: at most \(MessageText.maxBytes) bytes of UTF-8."),
            .optional("replyTo", message),
            .required("revision", .integer(1...Draft.maxRevision), "The highest one is kept."),
        ])
    }

    private static let member = Schema.object([
        .required("user", .identifier), .required("role", .choice(MemberRole.allCases.map(\.rawValue))),
        .required("state", .choice(MemberState.allCases.map(\.rawValue))), .required("joinedAt", .time),
        .required("version", .integer(), "The conversation's sequence at the last change."),
    ])

    private static let message = Schema.object([
        .required("conversation", .identifier),
        .required("number", .integer(), "Its position in the conversation: from 1, without gaps."),
        .required(
            "version", .integer(),
            "The conversation's sequence at the last change: of two copies, the one with the higher version is newer."),
        .required(
            "clientID", .identifier,
            "The client id of the request that sent it."),
        .required("author", .identifier),
        .required("sentAt", .time, "Never earlier than that of the previous message."),
        .required("kind", .choice(Message.Kind.allCases.map(\.rawValue))),
        .optional("text", .text(), "Absent if the message was deleted, and for calls, voice messages and notices."),
        .optional("call", .named("CallRecord"), "Of kind `call`: the message changes with the call."),
        .optional("voice", .named("VoiceRecord"), "Of kind `voice`: its sound. `messages.audio` has a link to it."),
        .optional(
            "notice", .named("Notice"),
            "Of kind `notice`: what the author did. It is never unread, and cannot be edited, reacted to, "
                + "answered or pinned."
        ),
        .optional("isCut", .boolean, "True in a list that shows only the beginning of the text or transcript."),
        .optional("ranges", .list(.named("TextRange")), "What was found in the text."),
        .optional(
            "language", .named("MessageLanguage"),
            "The language of the text. Absent if the text has fewer than three letters beside links, mentions, "
                + "code and emoji, or if the language is not known."
        ),
        .required(
            "textVersion", .integer(), "The sequence at the last change of the text, the call or the transcript."),
        .optional("replyTo", .integer(), "The number of a message of the same conversation."),
        .optional("thread", .integer(), "The number of the message in whose thread it is."),
        .optional("replies", .integer(), "How many messages its own thread has; absent for none."),
        .optional("forwardedFrom", .identifier, "The user who wrote the text first, if it was forwarded."),
        .optional("reactions", .map(reaction), "By emoji. Absent if the message was deleted."),
        .optional("editedAt", .time), .optional("deletedAt", .time),
        .optional(
            "expiresAt", .time,
            "When it disappears; absent if it stays. The time is fixed when the message is sent. From then on "
                + "the message is deleted, and `deletedAt` is that time. Clients must remove the text by themselves, "
                + "also offline."),
    ])

    private static let liveCall = Schema.object([
        .required("id", .identifier), .required("kind", .choice(["audio", "video"])), .required("startedAt", .time),
        .required("number", .integer(), "The number of the message of the call."),
    ])

    private static let callRecord = Schema.object([
        .required("id", .identifier), .required("kind", .choice(["audio", "video"])),
        .required("state", .choice(CallRecord.State.allCases.map(\.rawValue))), .required("startedAt", .time),
        .optional("answeredAt", .time), .optional("endedAt", .time),
        .optional("duration", .integer(), "Seconds from the answer to the end."),
        .optional("reason", .choice(Schemas.endReasons), "Why it ended."), .optional("endedBy", .identifier),
        .required(
            "participants",
            .list(.object([.required("user", .identifier), .required("state", .choice(Schemas.participantStates))])),
            "The caller first. A user whose phone rings is `invited` here, until they answer. Empty for users "
                + "who left the conversation before the call ended."),
    ])

    private static let notice = Schema.object([
        .required(
            "kind", .choice(Notice.Kind.allCases.map(\.rawValue)),
            "More kinds may be added: show nothing for kinds that you do not know."),
        .optional(
            "users", .list(.identifier, maximum: Notice.maxUsers),
            "Of `added`, `removed`, `role` and `owner`: the users whom it concerns, the first of them."),
        .optional("userCount", .integer(), "How many users it concerns."),
        .optional("name", .text(), "Of `renamed`: the new name; absent if it was removed."),
        .optional("settings", .named("ConversationSettings"), "Of `settings`: all settings that hold now."),
        .optional("role", .choice(MemberRole.allCases.map(\.rawValue)), "Of `role`."),
        .optional("disappearAfter", .integer(), "Of `disappearing`: seconds; absent if messages stay from now on."),
        .optional("number", .integer(), "Of `pinned`: the message."),
        .optional("via", .choice(Notice.Via.allCases.map(\.rawValue)), "Of `joined`: how."),
        .optional(
            "server", .boolean,
            "True if the app's own back end did it: the message's author is then the first of those whom it concerns."),
    ])

    private static let reaction = Schema.object([
        .required("count", .integer()), .required("users", .list(.identifier, maximum: 20), "The first of them."),
    ])

    private static let range = Schema.object([
        .required("kind", .choice(TextRange.Kind.allCases.map(\.rawValue))),
        .required("start", .integer(), "In UTF-16 code units."), .required("length", .integer()),
        .optional("user", .identifier, "The user who is mentioned; absent if everybody is."),
    ])

    private static let inboxRow = Schema.object([
        .required("id", .identifier, "The conversation's id."),
        .optional("conversation", .named("Conversation")), .optional("membership", .named("Membership")),
        .optional("person", .named("User"), "The other person, if the conversation is of two people."),
        .optional(
            "lastMessage", .named("Message"), "The newest message that the user sees, with at most 1 KiB of its text."),
        .optional("unread", .integer(0...999), "The number of unread messages of others, counted up to 999."),
        .optional("mentions", .integer(0...999), "How many of them mention the user, or everybody."),
        .required("counter", .integer(), "Of two copies of the row, the one with the higher counter is newer."),
        .optional(
            "activity", .integer(),
            "It rises with every message. After the pinned ones, rows are ordered by it, the highest first, "
                + "then by id. It is below zero as long as all messages are imported ones."),
        .optional(
            "gone", .boolean,
            "True if the conversation is no longer in the list. Of the other members there is only "
                + "`membership`, and only if the user has deleted the conversation for themselves and may still read "
                + "it."),
    ])

    private static let messageLanguage = Schema.object([
        .required("code", .text(), "A language tag (RFC 5646), such as `en` or `zh-Hant`."),
        .required(
            "confidence", .choice(MessageLanguage.Confidence.allCases.map(\.rawValue)),
            "`low` if it is a guess; `high` if the engine is sure, or the author has corrected it."),
    ])

    private static let messageEdit = Schema.object([
        .required("textVersion", .integer()), .required("text", .text()),
        .optional("language", .named("MessageLanguage")),
        .required("ranges", .list(.named("TextRange"))), .required("writtenAt", .time),
    ])
}
