package import Model

/// How a request names a message: by its number, or by the client id with which its author sent it, written
/// `client:<id>`. So a queue can name what it has sent and not been told the number of.
package enum MessageTarget: Hashable, Sendable {
    case number(Int64)
    /// The client id, which the user who names it has chosen.
    case sent(ClientID)

    private static let prefix = "client:"

    /// Of a path: a number from `least`, or a client id. Nil for anything else.
    package init?(_ text: String, from least: Int64 = 1) {
        if text.hasPrefix(Self.prefix) {
            guard let id = ClientID(String(text.dropFirst(Self.prefix.count))) else { return nil }
            self = .sent(id)
        } else {
            guard let number = Int64(text), number >= least else { return nil }
            self = .number(number)
        }
    }
}

extension MessageTarget: ExpressibleByIntegerLiteral {
    package init(integerLiteral number: Int64) { self = .number(number) }
}

extension MessageTarget: Decodable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let number = try? container.decode(Int64.self) {
            self = .number(number)
            return
        }
        guard let text = try? container.decode(String.self), text.hasPrefix(Self.prefix), let target = Self(text) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "must be the number of a message, or client: and a UUID")
        }
        self = target
    }
}

// What messages are named by.
extension ConversationCommands {
    /// The number of a message of a conversation.
    ///
    /// - Parameter field: of the request, which names the message.
    /// - Throws: `not_found` if the user is not in the conversation, and `predecessor_missing` if the user has stored
    ///   no message in the conversation with this client id. What others have sent with it does not count.
    package func number(
        of target: MessageTarget, in id: ConversationID, field: String, by user: UserID, store: some MessagingStore
    ) throws -> Int64 {
        switch target {
        case .number(let number): return number
        case .sent(let clientID):
            if let sent = try store.message(sentWith: clientID, by: user)?.message, sent.conversation == id {
                return sent.number
            }
            _ = try get(id, by: user, in: store)
            throw Self.notStored(clientID, field: field)
        }
    }

    static func notStored(_ clientID: ClientID, field: String) -> Problem {
        Problem(
            .predecessorMissing, "You have stored no message with the client id \(clientID) in this conversation.",
            field: field)
    }
}
