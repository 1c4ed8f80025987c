import Accounts
package import Messaging
package import Model
package import Storage

// Links of groups.
extension ConversationService {
    /// Makes a link. Its token is not stored, and cannot be read again.
    package func makeLink(
        to id: ConversationID, expiresAt: Timestamp?, maxUses: Int?, by user: UserID
    ) async throws -> (link: GroupLink, token: String) {
        let token = secrets.makeSecret()
        let hash = digest(of: token)
        let link = try await write { store, commands in
            try commands.makeLink(
                to: id, linkID: .make(at: store.now), hash: hash, expiresAt: expiresAt, maxUses: maxUses, by: user,
                in: store)
        }
        return (link, token)
    }

    /// The group that a link is for; nil if there is none.
    package func linkedGroup(_ token: String, for user: UserID) async throws -> Conversation? {
        guard let hash = hash(of: token) else { return nil }
        return try await read { try $1.linked(hash: hash, by: user, in: $0)?.conversation }
    }

    /// - Parameter show: reads what the response shows, in the same transaction.
    package func join(
        byLink token: String, by user: UserID,
        show: @escaping @Sendable (MemberConversation, StoreTransaction) throws -> [UInt8]
    ) async throws -> (shown: [UInt8], isNew: Bool) {
        guard let hash = hash(of: token) else { throw Problem.notFound("link", field: "token") }
        return try await write { store, commands in
            let joined = try commands.join(byLink: hash, by: user, in: store)
            return (try show(joined.found, store), joined.isNew)
        }
    }

    private func hash(of token: String) -> [UInt8]? { token.utf8.count <= 128 ? digest(of: token) : nil }
}
