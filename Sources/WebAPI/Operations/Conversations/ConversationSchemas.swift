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
                        "The first and the last number that the page speaks for; absent if there is none."),
                    .required("hasEarlier", .boolean), .required("hasLater", .boolean),
                    .optional("own", .list(.named("OwnMessage")), "What the user has noted on the messages."),
                    .required("position", .named("Position"), "Every change up to it is in the page."),
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
                            "The conversations of the list, the archive or the others, that have unread messages or are marked as "
                                + "unread."
                        ),
                        .required("mentions", .integer(), "Those in which the user is mentioned in unread messages."),
                    ])),
                .optional("nextCursor", .text()),
                .required("position", .named("Position"), "Of the stream `inbox:{user}`."),
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
                    "Of the next page; absent on the last one. A page has at most 256 KiB of texts."
                ),
            ])
        ),
        (
            "OwnMessage",
            .object([
                .required("number", .integer()), .required("starred", .boolean),
                .optional("hidden", .boolean, "True if the user has deleted it for themselves."),
                .optional("listened", .boolean, "True if the user has listened to it, of a voice message."),
                .required(
                    "reacted", .list(.text()), "The emoji of the user's reactions. A deleted message has none any more."
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
        "people", .list(.named("User")), "The profiles of others who are named here and needed to show it.")

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
                "Days after which messages are erased for all, like deleted ones; 0: they are kept for as long as the server "
                    + "keeps them, which `GET /v1/server` says."
            ),
        ]
        return .object(
            members.map { areRequired ? .required($0.0, $0.1, $0.2) : .optional($0.0, $0.1, $0.2) } + [
                .optional(
                    "intelligence", Schemas.intelligence,
                    "The most that machines may make of the messages; absent as the server says.")
            ])
    }

    private static let conversation = Schema.object([
        .required("id", .identifier), .required("kind", .choice(ConversationKind.allCases.map(\.rawValue))),
        .optional("name", .text(), "Of a group."), .required("createdAt", .time),
        .optional(
            "lastNumber", .integer(),
            "The number of the last message that the user sees; absent for who is invited to a group."),
        .optional("lastSentAt", .time, "When that message was sent."),
        .optional("liveCall", liveCall, "The call that is on: members may join it, invited or not."),
        .required("members", .integer(), "How many are in it."),
        .optional("settings", .named("ConversationSettings"), "Of a group."),
        .optional(
            "disappearAfter", .integer(Disappearing.bounds),
            "Seconds after which messages disappear that are sent now; absent if they stay."),
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
                    .optional("until", .integer(), "The last number; absent while it is open."),
                ])), "The numbers of the messages that the user may see."),
        .required("read", .integer(), "The last message that was read on any of the user's devices."),
        .optional("muted", .named("Mute")),
        .required("pinned", .boolean), .required("archived", .boolean), .required("markedUnread", .boolean),
        .optional(
            "receipts", .boolean, "Whether others see what the user reads here; absent if as the user's setting says."),
        .optional("draft", .named("Draft")),
        .optional("translation", .named("TranslationSettings"), "Absent if as the user's setting says."),
        .optional("intelligence", Schemas.intelligence, "Of what the user writes here; absent likewise."),
    ])

    private static let mute = Schema.object([
        .optional("until", .time, "Absent for ever."),
        .required("mentions", .boolean, "Whether mentions notify all the same."),
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
        .required("number", .integer(), "Its place in the conversation: dense, from 1."),
        .required(
            "version", .integer(),
            "The conversation's sequence at the last change: of two copies, the one with the higher version is newer."),
        .required("clientID", .identifier, "Of the request that sent it."), .required("author", .identifier),
        .required("sentAt", .time, "Never before that of the message before it."),
        .required("kind", .choice(Message.Kind.allCases.map(\.rawValue))),
        .optional("text", .text(), "Absent if it was deleted, of a call, of a voice message, and of a notice."),
        .optional("call", .named("CallRecord"), "Of kind `call`: the message follows the call."),
        .optional("voice", .named("VoiceRecord"), "Of kind `voice`: its sound. `messages.audio` has a link to it."),
        .optional(
            "notice", .named("Notice"),
            "Of kind `notice`: what the author did. It is never unread, and cannot be edited, reacted to, answered or pinned."
        ),
        .optional("isCut", .boolean, "True in a list that shows only the beginning of the text or transcript."),
        .optional("ranges", .list(.named("TextRange")), "What was found in the text."),
        .optional(
            "language", .named("MessageLanguage"),
            "Of the text. Absent if it has fewer than three letters beside links, mentions, code and emoji, or nobody knows."
        ),
        .required(
            "textVersion", .integer(), "The sequence at the last change of the text, the call or the transcript."),
        .optional("replyTo", .integer(), "The number of a message of the same conversation."),
        .optional("thread", .integer(), "The number of the message in whose thread it is."),
        .optional("replies", .integer(), "How many messages its own thread has; absent for none."),
        .optional("forwardedFrom", .identifier, "Who wrote the text first, if it was forwarded."),
        .optional("reactions", .map(reaction), "By emoji. Absent if the message was deleted."),
        .optional("editedAt", .time), .optional("deletedAt", .time),
        .optional(
            "expiresAt", .time,
            "When it disappears, fixed when it was sent; absent if it stays. From then on it is deleted, and `deletedAt` is "
                + "that time. Clients remove the text by themselves, also offline."),
    ])

    private static let liveCall = Schema.object([
        .required("id", .identifier), .required("kind", .choice(["audio", "video"])), .required("startedAt", .time),
        .required("number", .integer(), "Of the message that follows it."),
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
            "The caller first. Whose phone rings is `invited` here, until they answer. Empty for who left the conversation "
                + "before the call ended."),
    ])

    private static let notice = Schema.object([
        .required("kind", .choice(Notice.Kind.allCases.map(\.rawValue)), "More may be added: show nothing of others."),
        .optional(
            "users", .list(.identifier, maximum: Notice.maxUsers),
            "Whom it was done to, of `added`, `removed`, `role` and `owner`: the first of them."),
        .optional("userCount", .integer(), "How many they are."),
        .optional("name", .text(), "Of `renamed`: the new name; absent if it was removed."),
        .optional("settings", .named("ConversationSettings"), "Of `settings`: all that hold now."),
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
        .optional("user", .identifier, "Who is mentioned; absent for everybody."),
    ])

    private static let inboxRow = Schema.object([
        .required("id", .identifier, "The conversation's id."),
        .optional("conversation", .named("Conversation")), .optional("membership", .named("Membership")),
        .optional("person", .named("User"), "The other one of two people."),
        .optional(
            "lastMessage", .named("Message"), "The newest message that the user sees, with at most 1 KiB of its text."),
        .optional("unread", .integer(0...999), "Messages of others that are unread: counted up to 999."),
        .optional("mentions", .integer(0...999), "Those among them that mention the user, or everybody."),
        .required("counter", .integer(), "Of two copies of the row, the one with the higher counter is newer."),
        .optional(
            "activity", .integer(),
            "Rises with every message: rows are ordered by it, the highest first, then by id, after the pinned ones. It is "
                + "below zero while all messages were imported."),
        .optional(
            "gone", .boolean,
            "True if the conversation is not in the list any more: of the rest only `membership` is there, and that "
                + "only if the user has deleted it for themselves and may still read it."),
    ])

    private static let messageLanguage = Schema.object([
        .required("code", .text(), "A language tag (RFC 5646), such as `en` or `zh-Hant`."),
        .required(
            "confidence", .choice(MessageLanguage.Confidence.allCases.map(\.rawValue)),
            "`low` for a guess. It is `high` where the engine is sure, or the author has corrected it."),
    ])

    private static let messageEdit = Schema.object([
        .required("textVersion", .integer()), .required("text", .text()),
        .optional("language", .named("MessageLanguage")),
        .required("ranges", .list(.named("TextRange"))), .required("writtenAt", .time),
    ])
}
