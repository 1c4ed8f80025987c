import HTTPTypes
import Messaging
import Model
import Services
import Storage

/// The list of a user's conversations.
enum InboxOperations {
    static func all(_ service: ConversationService) -> [Operation] { [list(service)] }

    private static func list(_ service: ConversationService) -> Operation {
        Operation(
            name: "inbox.list", method: .get, path: "/v1/inbox",
            summary:
                "The user's conversations in the order in which a list shows them: the pinned ones, then the "
                + "most recently active ones. Each has its last message and the number of unread ones. The "
                + "stream `inbox:{user}` keeps it up to date.",
            parameters: [
                .query(
                    "archived", .boolean, "True for the archived conversations, false or absent for the others."),
                .query("limit", .integer(1...100), "How many at most; the default is 50."),
                .query("cursor", .text(), "The `nextCursor` of the previous page."),
            ],
            responses: [.ok(.named("InboxPage"))]
        ) { request in
            let user = try request.requirePrincipal().user
            let limit = try request.integer("limit", in: 1...100, default: InboxReader.window)
            let cursor = request.parameters["cursor"]
            let isArchive = try request.flag("archived")
            let body = try await service.read { store, commands in
                let page = try InboxReader(commands: commands).page(
                    of: user, isArchive: isArchive, after: cursor, limit: limit, in: store)
                let position = try store.inboxPosition()
                var writer = JSONWriter(capacity: 4096)
                writer.object { writer in
                    writer.write(page)
                    writer.name("position")
                    writer.write(json: "[\"\(position.epoch)\",\(position.sequence)]")
                }
                return writer.bytes
            }
            return OperationResponse(status: 200, body: body)
        }
    }
}
