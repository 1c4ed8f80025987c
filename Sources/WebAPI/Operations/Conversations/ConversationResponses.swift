import Accounts
import Messaging
import Model
import Storage

extension MemberConversation {
    /// The body of a response with this conversation: the conversation, the user's own part, and the other of two people.
    func document(for user: UserID, in store: StoreTransaction) throws -> [UInt8] {
        let people = try store.people(store.shownPeople(of: self, for: user))
        let own = try ConversationCommands().ownPart(of: user, in: conversation.id, store: store)
        var writer = JSONWriter(capacity: 1024)
        writer.object { writer in
            writeMembers(own, to: &writer)
            writer.write(people: people)
        }
        return writer.bytes
    }

    /// Writes `conversation` and `membership`.
    func writeMembers(_ own: OwnPart, to writer: inout JSONWriter) {
        writer.name("conversation")
        write(to: &writer)
        writer.name("membership")
        writeMembership(own, to: &writer)
    }
}

extension StoreTransaction {
    /// The people without whom the conversation cannot be shown: the other one of two.
    func shownPeople(of found: MemberConversation, for user: UserID) throws -> [UserID] {
        guard found.conversation.kind == .direct else { return [] }
        return try members(of: found.conversation.id, after: nil, limit: 2).map(\.user).filter { $0 != user }
    }
}
