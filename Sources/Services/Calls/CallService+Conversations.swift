package import Calls
internal import Messaging
package import Model
package import Storage

// Calls in conversations.
extension CallService {
    /// Creates a call of a user: in the conversation that the request names, or that of the two people.
    package func create(
        _ request: CreateCall, by principal: Principal
    ) async throws -> Committed<CallOutcome> {
        guard request.conversation == nil || request.callees.isEmpty else {
            throw Problem.invalid(
                "callees", "A call has callees, or a conversation, whose members it rings: one of the two.")
        }
        return try await run { store, commands in
            let conversation = try Self.conversation(of: request, by: principal.user, commands, in: store)
            return try commands.create(
                request, of: conversation, by: principal, id: .make(at: store.now), at: store.now, in: store)
        }
    }

    /// Creates a call that a server key places.
    package static func create(
        _ request: CreateServerCall, _ commands: CallCommands, in store: StoreTransaction
    ) throws -> CallOutcome {
        try commands.createServerCall(
            request, of: conversation(of: request.caller, and: request.callees, in: store), id: .make(at: store.now),
            at: store.now, in: store)
    }

    /// Has those who leave a conversation leave its call, in the same transaction.
    package func followDepartures() {
        let commands = commands
        store.handleDepartures { [effects] store, conversation, user in
            guard
                let outcome = try commands.leftConversation(conversation, user, at: store.now, in: store)
            else { return nil }
            return { effects.apply(outcome.effects) }
        }
    }

    private static func conversation(
        of request: CreateCall, by user: UserID, _ commands: CallCommands, in store: StoreTransaction
    ) throws -> CallConversation? {
        guard let id = request.conversation else {
            let id = try conversation(of: user, and: request.callees, in: store)
            return id.map { CallConversation(id: $0, isGroup: false, callees: request.callees) }
        }
        let called = try ConversationCommands().callees(
            in: id, by: user, limit: commands.rules.ringingMembers, store: store)
        return CallConversation(id: id, isGroup: called.kind == .group, callees: called.users)
    }

    /// The conversation of a call between two that names none.
    private static func conversation(
        of caller: UserID, and callees: [UserID], in store: StoreTransaction
    ) throws -> ConversationID? {
        guard callees.count == 1, let callee = callees.first else { return nil }
        return try ConversationCommands().conversationOfCall(
            from: caller, to: callee, id: .make(at: store.now), in: store)
    }
}
