import Calls
import Messaging
import Model
import Webhooks

/// The schemas of events: what webhooks get, and pullers read with an `id` beside.
package enum EventSchemas {
    /// The schema of each type, by the name of its component.
    package static let all: [(String, Schema)] =
        EventType.allCases.map { (name(of: $0), payload(of: $0)) } + data + [
            ("EventParty", party), ("EventDevice", device), ("EventParticipant", participant),
            (
                "Event",
                .object([
                    .required("id", .identifier, "The same in every delivery: the `webhook-id`."),
                    .required(
                        "type", .choice(EventType.allCases.map(\.rawValue)), "Clients ignore types they do not know."),
                    .required("timestamp", .time),
                    .required("data", .map(.anything), "As the schema of the type has it."),
                ])
            ),
            (
                "EventPage",
                .object([
                    .required("events", .list(.named("Event"))),
                    .required("next", .text(), "The position after them: the next request's `after`."),
                    .required("more", .boolean, "Whether there are more already."),
                ])
            ),
        ]

    /// `call.ringing`: `CallRingingEvent`.
    static func name(of type: EventType) -> String {
        type.rawValue.split(separator: ".").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined() + "Event"
    }

    /// When it occurs.
    static func summary(of type: EventType) -> String {
        switch type {
        case .userCreated:
            "A user was created: by signing up, by an outside issuer's token, by a key or by the operator."
        case .userDisabled: "A user was disabled."
        case .userDeleted: "A user was deleted."
        case .callRinging:
            "A call begins to ring a user: one event for each. It is sent until the deadline, before other events."
        case .callAnswered: "A user who was called has accepted."
        case .callMissed: "A call stopped ringing a user, who neither accepted nor declined."
        case .callEnded: "A call has ended."
        case .friendRequested: "A user was asked to become a friend. What a block withholds is no event."
        case .friendAccepted: "A user's request to become a friend was accepted."
        case .friendRemoved: "A friendship was ended, by a block too. The deletion of a user is `user.deleted`."
        case .conversationCreated: "A conversation is new."
        case .conversationUpdated: "A group has another name or other settings."
        case .conversationMember:
            "Somebody has joined a conversation, is invited, has left it or has another role. That a request to write was "
                + "declined is no event."
        case .messageCreated: "A message was sent. What a block withholds is no event; nor is its text in any."
        case .messageEdited: "A message has another text."
        case .messageDeleted: "A message was deleted for everybody."
        case .recordingReady: "The files of a recording are complete."
        case .transcriptReady: "The transcript of a recording or of a voice message is complete, or failed."
        case .webhookTest: "The operator tests the webhook: `switchboard webhook test`."
        }
    }

    private static func payload(of type: EventType) -> Schema {
        .object([
            .required("type", .choice([type.rawValue])), .required("timestamp", .time, "When it happened."),
            .required("data", .named(dataName(of: type))),
        ])
    }

    private static func dataName(of type: EventType) -> String {
        switch type {
        case .userCreated: "UserCreatedData"
        case .userDisabled, .userDeleted: "UserEventData"
        case .callRinging: "CallRingingData"
        case .callAnswered, .callMissed: "CallEventData"
        case .callEnded: "CallEndedData"
        case .friendRequested, .friendAccepted, .friendRemoved: "FriendEventData"
        case .conversationCreated, .conversationUpdated: "ConversationEventData"
        case .conversationMember: "ConversationMemberEventData"
        case .messageCreated, .messageEdited, .messageDeleted: "MessageEventData"
        case .recordingReady: "RecordingReadyData"
        case .transcriptReady: "TranscriptReadyData"
        case .webhookTest: "WebhookTestData"
        }
    }

    private static let externalID = Schema.Member.optional("externalID", .text(), "The app's own id, without `ext:`.")
    private static let party = Schema.object([
        .required("user", .identifier), externalID, .optional("displayName", .text()),
    ])
    private static let ofConversation: [Schema.Member] = [
        .required("conversation", .identifier), .required("kind", .choice(ConversationKind.allCases.map(\.rawValue))),
        .required(
            "version", .integer(),
            "The conversation's sequence: of two events about one thing, the higher one is newer."),
    ]
    private static let device = Schema.object([
        .required("id", .identifier), .required("name", .text()), .required("platform", .text()),
        .required("isConnected", .boolean, "Whether a client on it has a realtime session, and so rings by itself."),
        .required("endpoints", .list(.identifier), "Those of its endpoints that have a realtime session."),
    ])

    private static let call: [Schema.Member] = [
        .required("call", .identifier),
        .required("version", .integer(), "Of the call. Events have no order: of two, the higher version is later."),
        .required("kind", .choice(Call.Kind.allCases.map(\.rawValue))),
        .required("mode", .choice(["direct", "gateway"])),
        .optional("caller", .named("EventParty")),
    ]
    private static let ofUser: [Schema.Member] = [.required("user", .identifier, "Whose event it is."), externalID]
    private static let ofRecording: [Schema.Member] = [
        .required("recording", .identifier), .required("call", .identifier),
        .required("user", .identifier, "Who started it."), externalID,
    ]

    private static let data: [(String, Schema)] = [
        (
            "UserCreatedData",
            .object(
                ofUser + [
                    .optional("issuer", .text(), "The outside issuer by whose token the user was created."),
                    .optional("subject", .text(), "The user's subject there."),
                ])
        ),
        ("UserEventData", .object(ofUser)),
        (
            "CallRingingData",
            .object(
                call + ofUser + [
                    .required("deadline", .time, "When it stops ringing."),
                    .required("devices", .list(.named("EventDevice")), "Those on which the user is signed in."),
                    .required("remainingMs", .integer(), "How long it still rings: phones' clocks are wrong."),
                ])
        ),
        ("CallEventData", .object(call + ofUser)),
        (
            "FriendEventData",
            .object(
                ofUser + [
                    .required("by", .named("EventParty"), "Who asked, accepted or ended the friendship.")
                ])
        ),
        ("ConversationEventData", .object(ofConversation)),
        (
            "ConversationMemberEventData",
            .object(
                ofUser + [
                    .required("role", .choice(MemberRole.allCases.map(\.rawValue))),
                    .required("state", .choice(MemberState.allCases.map(\.rawValue))),
                ] + ofConversation)
        ),
        (
            "MessageEventData",
            .object(
                ofUser + [
                    .required("number", .integer(), "Of the message, in the conversation."),
                    .required("messageKind", .choice(Message.Kind.allCases.map(\.rawValue))),
                    .optional("call", .identifier, "Of kind `call`: the call has events of its own."),
                    .required("sentAt", .time),
                    .required("mentions", .list(.identifier), "The users whom it mentions."),
                    .optional(
                        "to", .named("EventParty"),
                        "The other one of two people, unless they have to accept first that the author writes to them."),
                ] + ofConversation)
        ),
        (
            "CallEndedData",
            .object(
                call + [
                    .required("reason", .choice(Call.EndReason.allCases.map(\.rawValue))),
                    .optional("endedBy", .identifier, "The user who ended it; absent if a deadline did."),
                    .required("createdAt", .time), .optional("answeredAt", .time), .required("endedAt", .time),
                    .required("participants", .list(.named("EventParticipant"))),
                ])
        ),
        (
            "RecordingReadyData",
            .object(
                ofRecording + [
                    .required("status", .choice(["complete", "failed", "interrupted"])),
                    .optional(
                        "reason", .choice(Recording.EndReason.allCases.map(\.rawValue)), "Why it ended by itself."),
                    .required("startedAt", .time), .required("endedAt", .time),
                    .required("tracks", .integer(), "How many tracks it has."),
                ])
        ),
        (
            "TranscriptReadyData",
            .object([
                .required("user", .identifier, "Who started the recording, or sent the voice message."), externalID,
                .required("status", .choice(["complete", "failed"])),
                .optional("recording", .identifier, "Of a recording."),
                .optional("call", .identifier, "Of a recording."),
                .optional("conversation", .identifier, "Of a voice message."),
                .optional("number", .integer(), "Of the voice message, in the conversation."),
                .optional(
                    "kind", .choice(ConversationKind.allCases.map(\.rawValue)),
                    "Of the conversation of a voice message."),
                .optional("version", .integer(), "The conversation's sequence, of a voice message."),
            ])
        ),
        ("WebhookTestData", .object([.required("webhook", .identifier)])),
    ]

    private static let participant = Schema.object([
        .required("user", .identifier), externalID, .required("state", .text(), "As in the call's document."),
    ])
}

// What the server sends.
extension OpenAPIDocument {
    static let webhooksTag = "webhooks"

    /// The types of events whose schemas the document has.
    var eventTypes: [EventType] {
        let names = Set(schemas.map(\.0))
        return EventType.allCases.filter { names.contains(EventSchemas.name(of: $0)) }
    }

    /// An entry for each type of event.
    var webhooks: JSON {
        .object(
            eventTypes.map { type in
                let parameters = [
                    ("webhook-id", "The event's id, the same in every delivery and attempt."),
                    ("webhook-timestamp", "When it was sent, in seconds since 1970."),
                    ("webhook-signature", "`v1,` and an HMAC-SHA256 in Base64; several, separated by spaces."),
                ].map { name, description in
                    JSON.object([
                        ("name", .text(name)), ("in", "header"), ("required", true),
                        ("description", .text(description)), ("schema", Schema.text().json),
                    ])
                }
                let content = JSON.object([("schema", Schema.named(EventSchemas.name(of: type)).json)])
                let operation = JSON.object([
                    ("operationId", .text("webhook.\(type.rawValue)")),
                    ("summary", .text(EventSchemas.summary(of: type))),
                    ("tags", .array([.text(Self.webhooksTag)])), ("parameters", .array(parameters)),
                    (
                        "requestBody",
                        .object([("required", true), ("content", .object([("application/json", content)]))])
                    ),
                    (
                        "responses",
                        .object([
                            ("2XX", .object([("description", "It was received: it is not sent again.")])),
                            ("410", .object([("description", "The webhook is disabled.")])),
                            ("default", .object([("description", "It is sent again later, for three days.")])),
                        ])
                    ),
                    ("security", .array([])),
                ])
                return (type.rawValue, .object([("post", operation)]))
            })
    }
}
