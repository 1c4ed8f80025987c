import HTTPTypes
import Model
package import Services

/// The export of a conversation by a member.
package enum ExportOperations {
    package static func documents(_ exports: ConversationExports) -> [DocumentOperation] {
        [
            DocumentOperation(
                name: "conversations.export", method: .get, path: "/v1/conversations/{conversation}/export",
                summary:
                    "The conversation as the user sees it, as a file of JSON Lines: an object on each line, with users, "
                    + "members and messages, as /docs/moving describes. It has no passwords and no addresses; the sounds of "
                    + "voice messages have links of their own. A user may have one at a time. A response that ends early is "
                    + "not complete.",
                tag: "conversations", parameters: [ConversationOperations.conversation],
                outcomes: [
                    .init(
                        status: 200, description: "The lines.", contentType: "application/jsonl", schema: .text(),
                        headers: [("Content-Disposition", "A file name for saving.")])
                ],
                problems: [.notFound], limit: .exports
            ) { request in
                let id = try request.identifier("conversation", of: ConversationID.self)
                let write = try await exports.begin(id, by: request.requirePrincipal().user)
                return .init(
                    status: 200, body: .parts(write), contentType: "application/jsonl",
                    headers: [.contentDisposition: "attachment; filename=\"\(id.text).jsonl\""])
            }
        ]
    }
}
