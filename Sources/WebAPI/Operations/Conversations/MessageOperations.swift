import HTTPTypes
import Languages
import Messaging
import Model
import Services
import Storage

/// Operations of messages.
enum MessageOperations {
    static func all(_ service: ConversationService) -> [Operation] {
        [
            send(service), list(service), get(service), edit(service), setLanguage(service), delete(service),
            edits(service),
        ]
    }

    private static let conversation = ConversationOperations.conversation
    static let number = Operation.Parameter.path(
        "number", target, "The message's number; or `client:` and the `clientID` with which the user has sent it.")
    /// A message, by its number, or by the client id with which its author sent it.
    static let target = Schema.named("MessageTarget")
    /// A message as above, or 0 for none.
    static let mark = Schema.named("MessageMark")

    static let schemas: [(String, Schema)] = [
        ("MessageTarget", .either([.integer(1...Int64.max), clientTarget])),
        ("MessageMark", .either([.integer(0...Int64.max), clientTarget])),
    ]
    private static let clientTarget = Schema.text(
        pattern: "^client:[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$")

    private static func send(_ service: ConversationService) -> Operation {
        Operation(
            name: "messages.send", method: .post, path: "/v1/conversations/{conversation}/messages",
            summary:
                "Send a message. Its number is its position in the order that every reader sees. If a request "
                + "is repeated with its client id, however late, nothing is stored: the response has the message "
                + "as its author sees it now. If its author no longer sees it, it has no text and version 0.",
            parameters: [conversation],
            body: .object([
                .required(
                    "clientID", .identifier,
                    "A UUID. A message that is sent again with it is stored only once, however late."),
                .optional(
                    "text", .text(minimum: 1, maximum: MessageText.maxBytes),
                    "At most \(MessageText.maxBytes) bytes of UTF-8, and at most "
                        + "\(String.maxClusterLength - 1) marks of one character. `<@user id>` mentions a user, "
                        + "`<@all>` everybody; `ranges` of the message say what was found in it."),
                .optional(
                    "kind", .choice(["text", "voice"]),
                    "`text` if it is absent. A voice message has a `file`, and neither `text` nor `forward`."),
                .optional(
                    "file", .identifier,
                    "Of a voice message: the file that `voice.upload` or `voice.finishRecording` has made. It "
                        + "can be sent once."),
                .optional("replyTo", target, "The message that it replies to."),
                .optional(
                    "thread", target,
                    "The message in whose thread it is. That message must not be in a thread itself."),
                .optional(
                    "forward", .object([.required("conversation", .identifier), .required("number", target)]),
                    "Instead of a text: the message whose text is sent, as the user sees it."),
                .optional(
                    "draft", .integer(1...Draft.maxRevision),
                    "The revision of the draft that was sent; the draft ends."),
                .optional(
                    "readUpTo", mark,
                    "The last message that was on the screen. Without it nothing is marked as read."),
                .optional(
                    "sendAt", .time,
                    "When it will be sent, 10 seconds to a year from now. Until then it waits, and only its "
                        + "author sees it. Only for texts; `readUpTo` has no effect."),
                .optional(
                    "afterClientID", .identifier,
                    "The `clientID` of a message of the user in this conversation that must be stored before "
                        + "this one: so clients send several without waiting, and they stay in order. If it is not "
                        + "stored, the problem is `predecessor_missing`."
                ),
            ]),
            responses: [
                .created(.named("MessageResult"), "It is stored."),
                .ok(.named("MessageResult"), "It was stored before."),
                .accepted(.named("ScheduledResult"), "It waits for its time."),
            ],
            problems: [.notFound, .forbidden, .conflict, .clientIDReused, .predecessorMissing], limit: .messages
        ) { request in
            let user = try request.requirePrincipal().user
            let id = try request.identifier("conversation", of: ConversationID.self)
            let body = try request.decode(SendMessage.self)
            if let sendAt = body.sendAt {
                return ScheduledOperations.response(
                    try await service.schedule(body, at: sendAt, to: id, by: user), status: 202)
            }
            let sent = try await service.send(body, to: id, by: user)
            return response(sent.message, status: sent.isDuplicate ? 200 : 201, isDuplicate: sent.isDuplicate)
        }
    }

    private static func list(_ service: ConversationService) -> Operation {
        Operation(
            name: "messages.list", method: .get, path: "/v1/conversations/{conversation}/messages",
            summary:
                "Messages in the order of their numbers: the newest, those before, after or around a number, "
                + "or those from a time on. `range` has the numbers for which the page speaks: a number in it "
                + "that has no message is one that the user may not see.",
            parameters: [
                conversation,
                .query(
                    "thread", .integer(1...Int64.max),
                    "Only replies in the thread of this message, without the message itself."),
            ] + page,
            responses: [.ok(.named("MessagePage"))], problems: [.notFound]
        ) { request in
            let user = try request.requirePrincipal().user
            let id = try request.identifier("conversation", of: ConversationID.self)
            let thread = try request.parameters["thread"].map { _ in try request.number("thread") }
            return try await page(request, service) { anchor, limit, store, commands in
                let page = try commands.page(anchor, of: id, thread: thread, limit: limit, by: user, in: store)
                return (page, try commands.own(of: page.messages, in: id, by: user, store: store))
            }
        }
    }

    /// The parameters of a page of messages.
    static let page: [Operation.Parameter] = [
        .query("before", .integer(1...Int64.max), "The messages nearest before this number."),
        .query("after", .integer(0...Int64.max), "The messages after this number."),
        .query("around", .integer(1...Int64.max), "Half of them at this number and before it, half after it."),
        .query("from", .time, "The messages that were sent at this time or later."),
        .query(
            "limit", .integer(1...100),
            "How many at most; the default is 50. A page has at most 256 KiB of texts, or one message: "
                + "`hasEarlier` and `hasLater` say whether there is more."),
    ]

    static func page(
        _ request: OperationRequest, _ service: ConversationService,
        _ read:
            @escaping @Sendable (PageAnchor, Int, StoreTransaction, ConversationCommands) throws ->
            (page: MessagePage, own: [OwnMessage]?)
    ) async throws -> OperationResponse {
        let limit = try request.integer("limit", in: 1...100, default: 50)
        let anchor = try anchor(of: request)
        let body = try await service.read { store, commands in
            let (page, own) = try read(anchor, limit, store, commands)
            var writer = JSONWriter(capacity: 4096)
            page.write(to: &writer, own: own, epoch: try store.epoch())
            return writer.bytes
        }
        return OperationResponse(status: 200, body: body)
    }

    private static func anchor(of request: OperationRequest) throws -> PageAnchor {
        let names = ["before", "after", "around", "from"].filter { request.parameters[$0] != nil }
        guard let name = names.first else { return .newest }
        guard names.count == 1 else {
            throw Problem.invalid(names[1], "Only one of before, after, around and from can be given.")
        }
        if name == "from", let time = try request.time(name) { return .from(time) }
        let number = try request.number(name, from: name == "after" ? 0 : 1)
        switch name {
        case "before": return .before(number)
        case "after": return .after(number)
        default: return .around(number)
        }
    }

    private static func get(_ service: ConversationService) -> Operation {
        Operation(
            name: "messages.get", method: .get, path: "/v1/conversations/{conversation}/messages/{number}",
            summary: "One message.", parameters: [conversation, number],
            responses: [.ok(.named("MessageResult"))], problems: [.notFound, .predecessorMissing]
        ) { request in
            let named = try request.message()
            return response(
                try await service.read(named) {
                    try $1.message($2, in: named.conversation, by: named.user, store: $0)
                })
        }
    }

    private struct Edit: Decodable {
        var text: String
        var textVersion: Int64?
    }

    private static func edit(_ service: ConversationService) -> Operation {
        Operation(
            name: "messages.edit", method: .patch, path: "/v1/conversations/{conversation}/messages/{number}",
            summary:
                "Change the text of one of the user's own messages. Everybody who may see the message can "
                + "still read its former texts.",
            parameters: [conversation, number],
            body: .object([
                .required("text", .text(minimum: 1, maximum: MessageText.maxBytes)),
                .optional(
                    "textVersion", .integer(),
                    "The version of the text that was edited. If the text has changed since, this is a "
                        + "conflict, which has the current one. Required, unless the message is named by its client "
                        + "id."),
            ]),
            responses: [.ok(.named("MessageResult"))],
            problems: [.notFound, .forbidden, .conflict, .predecessorMissing], limit: .messages
        ) { request in
            let named = try request.message()
            let body = try request.decode(Edit.self)
            let text = service.commands.analyzer.analyzed(try MessageText(body.text))
            if case .number = named.target, body.textVersion == nil {
                throw Problem.invalid("textVersion", "textVersion is missing.")
            }
            return response(
                try await service.write(named) { store, commands, number in
                    try commands.edit(
                        number, in: named.conversation, text: text, basedOn: body.textVersion, by: named.user,
                        store: store)
                })
        }
    }

    private struct Language: Decodable {
        var language: String
    }

    private static func setLanguage(_ service: ConversationService) -> Operation {
        Operation(
            name: "messages.setLanguage", method: .put,
            path: "/v1/conversations/{conversation}/messages/{number}/language",
            summary:
                "Correct the language of one of the user's own messages. The correction holds until the "
                + "message is edited.",
            parameters: [conversation, number],
            body: .object([
                .required("language", .text(minimum: 2, maximum: LanguageTag.maxLength), "A tag such as en or pt-BR.")
            ]),
            responses: [.ok(.named("MessageResult"))],
            problems: [.notFound, .forbidden, .conflict, .predecessorMissing], limit: .messages
        ) { request in
            let named = try request.message()
            let language = try LanguageTag(try request.decode(Language.self).language)
            return response(
                try await service.write(named) {
                    try $1.setLanguage(language, of: $2, in: named.conversation, by: named.user, store: $0)
                })
        }
    }

    private static func delete(_ service: ConversationService) -> Operation {
        Operation(
            name: "messages.delete", method: .delete, path: "/v1/conversations/{conversation}/messages/{number}",
            summary:
                "Delete a message for everybody: one of the user's own, or, as an administrator of a group, "
                + "also one of somebody else. Its number stays; its text and former texts are gone. Or delete "
                + "any message only for the user themselves, for ever. Deleting twice changes nothing.",
            parameters: [
                conversation, number,
                .query("for", .choice(["all", "me"]), isRequired: true, "For whom it is deleted."),
            ],
            responses: [.ok(.named("DeletionResult"), "`message` if it was deleted for `all`, `own` if for `me`.")],
            problems: [.notFound, .forbidden, .predecessorMissing]
        ) { request in
            let named = try request.message()
            let (user, id) = (named.user, named.conversation)
            switch request.parameters["for"] {
            case "all": break
            case "me":
                return .own(try await service.write(named) { try $1.hide($2, in: id, by: user, store: $0) })
            default: throw Problem.invalid("for", "for must be all or me.")
            }
            return response(
                try await service.write(named) { try $1.delete($2, in: id, by: user, store: $0) })
        }
    }

    private static func edits(_ service: ConversationService) -> Operation {
        Operation(
            name: "messages.edits", method: .get, path: "/v1/conversations/{conversation}/messages/{number}/edits",
            summary: "The former texts of a message, the oldest first. A deleted message has none.",
            parameters: [
                conversation, number, .query("limit", .integer(1...100), "How many at most; the default is 100."),
                .query("cursor", .text(), "The `nextCursor` of the previous page."),
            ],
            responses: [.ok(.named("MessageEdits"))],
            problems: [.notFound, .predecessorMissing]
        ) { request in
            let named = try request.message()
            let limit = try request.integer("limit", in: 1...100, default: 100)
            let after = try request.parameters["cursor"].map { _ in try request.number("cursor") } ?? 0
            // Written where it is read: a page is large, and an event loop has others to serve.
            let body = try await service.read(named) {
                let page = try $1.edits(
                    of: $2, in: named.conversation, after: after, limit: limit, by: named.user, store: $0)
                var writer = JSONWriter(capacity: 1024)
                writer.object { writer in
                    writer.name("edits")
                    writer.array(page.edits) { $1.write(to: &$0) }
                    writer.member("nextCursor", page.next.map { String($0) })
                }
                return writer.bytes
            }
            return OperationResponse(status: 200, body: body)
        }
    }

    static func response(
        _ message: SeenMessage, status: Int = 200, isDuplicate: Bool = false
    ) -> OperationResponse {
        var writer = JSONWriter(capacity: 512)
        writer.object { writer in
            writer.name("message")
            message.write(to: &writer)
            if isDuplicate { writer.member("duplicate", true) }
        }
        return OperationResponse(status: status, body: writer.bytes)
    }
}

extension OperationRequest {
    /// A message, by its number, or by the client id with which the user sent it.
    func target(_ name: String) throws -> MessageTarget {
        guard let text = parameters[name] else { throw Problem.invalid(name, "\(name) is missing.") }
        guard let target = MessageTarget(text) else {
            throw Problem.invalid(name, "\(name) must be a whole number from 1, or client: and a UUID.")
        }
        return target
    }

    /// A number of a message, or a version.
    func number(_ name: String, from least: Int64 = 1) throws -> Int64 {
        guard let text = parameters[name] else { throw Problem.invalid(name, "\(name) is missing.") }
        guard let number = Int64(text), number >= least else {
            throw Problem.invalid(name, "\(name) must be a whole number from \(least).")
        }
        return number
    }
}
