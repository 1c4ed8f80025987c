package import Model

/// What a user may do with the calls of a conversation.
package enum CallStanding: Hashable, Sendable {
    /// Neither sees nor joins them.
    case outside
    case member
    case administrator
}

// Calls in conversations.
extension ConversationCommands {
    /// The users whom a call in the conversation rings: the other person, or the members of a group.
    ///
    /// - Parameter limit: members of a group; in a larger one a call rings nobody.
    package func callees(
        in id: ConversationID, by user: UserID, limit: Int, store: some MessagingStore
    ) throws -> (kind: ConversationKind, users: [UserID]) {
        var found = try get(id, by: user, for: .call, in: store)
        try checkActive(user, in: store)
        guard found.conversation.kind == .direct else {
            let count = found.conversation.memberCount
            return (.group, count > limit ? [] : try others(than: user, in: id, count: count, store))
        }
        guard let other = try other(than: user, in: found.conversation, store) else {
            throw Problem.notFound("user", field: "conversation")
        }
        if found.conversation.memberCount < 2 {
            guard try store.areFriends(user, other) else {
                throw Problem(
                    .forbidden, "The other person has not accepted your request: until then they cannot be called.")
            }
            try admit(other, to: &found.conversation, in: store)
        }
        return (.direct, [other])
    }

    /// The conversation of a call between two people that names none: the existing one, or a new one. Nil if there can
    /// be none, since one of them is disabled or has too many conversations.
    package func conversationOfCall(
        from caller: UserID, to callee: UserID, id: ConversationID, in store: some MessagingStore
    ) throws -> ConversationID? {
        if let known = try store.conversation(of: ConversationPair(caller, callee)) { return known.id }
        guard caller != callee, try store.isActive(caller), try store.isActive(callee),
            try store.conversationCount(of: caller) < limits.conversations
        else { return nil }
        return try createDirect(with: callee, id: id, by: caller, in: store).found.conversation.id
    }

    /// Whether calls of the caller that name the user silently do not reach them: if the caller is not a friend and the
    /// user refuses messages of such people, or has declined the caller's request. While a request waits, calls do
    /// reach them.
    package func refusesCalls(
        of caller: UserID, _ user: UserID, in store: some MessagingStore
    ) throws -> Bool {
        guard caller != user else { return false }
        let known = try store.conversation(of: ConversationPair(caller, user))
        switch try known.flatMap({ try store.member(user, of: $0.id)?.state }) {
        case .member: return false
        case .left: return try !store.areFriends(caller, user)
        case .invited, nil:
            return try store.messageRequests(of: user) == .refuse && !store.areFriends(caller, user)
        }
    }

    /// Whether the user may join calls of the conversation: members may, without having been invited to the call.
    package func callStanding(
        of user: UserID, in id: ConversationID, store: some MessagingStore
    ) throws -> CallStanding {
        do {
            let found = try get(id, by: user, for: .joinCall, in: store)
            return found.access.role >= .admin ? .administrator : .member
        } catch let problem as Problem where problem.kind == .notFound || problem.kind == .forbidden {
            return .outside
        }
    }

    /// Adds the message of a new call, in the transaction that stores the call.
    ///
    /// - Returns: the message's number; nil if there is no such conversation.
    package func follow(
        new call: FollowedCall, in id: ConversationID, store: some MessagingStore
    ) throws -> Int64? {
        guard var conversation = try store.conversation(id) else { return nil }
        try admit(joined: call.joined, to: &conversation, in: store)
        guard let message = try insertMessage(of: call, in: &conversation, store: store) else { return nil }
        try finish(call, message, &conversation, in: store)
        return message.number
    }

    /// Has the message of a call follow it, in the transaction that changes the call.
    ///
    /// - Parameter number: of the message.
    package func follow(
        _ call: FollowedCall, replacing earlier: FollowedCall, _ number: Int64, in id: ConversationID,
        store: some MessagingStore
    ) throws {
        guard var conversation = try store.conversation(id) else { return }
        try admit(joined: call.joined, to: &conversation, in: store)
        guard var message = try store.message(number, in: id) else { return }
        if message.deletedAt == nil {
            if message.call != call.record {
                message.call = call.record
                message.change(to: conversation.change(), isWithheld: false)
                message.textVersion = message.version
                try store.update(message)
            }
            if call.missed != earlier.missed { try noteMissed(call, message, in: store) }
        }
        try finish(call, message, &conversation, in: store)
    }

    /// The conversation shows the call while it is live, to its caller alone if it is withheld.
    private func finish(
        _ call: FollowedCall, _ message: Message, _ conversation: inout Conversation, in store: some MessagingStore
    ) throws {
        let isLive = call.record.state != .ended
        let live = LiveCall(
            id: call.record.id, kind: call.record.kind, startedAt: call.record.startedAt, number: message.number,
            onlyFor: message.isWithheld ? message.author : nil)
        // A user who has blocked the caller may call meanwhile.
        let isBehind = live.onlyFor != nil && conversation.liveCall.map { $0.onlyFor == nil } ?? false
        if isLive, !isBehind, conversation.liveCall?.id != live.id {
            let wasSeen = conversation.liveCall.map { $0.onlyFor == nil } ?? false
            conversation.liveCall = live
            conversation.changeDocument(for: wasSeen ? nil : live.onlyFor)
        } else if !isLive, conversation.liveCall?.id == live.id {
            let reader = conversation.liveCall?.onlyFor
            conversation.liveCall = nil
            conversation.changeDocument(for: reader)
        }
        try store.update(conversation)
    }

    private func insertMessage(
        of call: FollowedCall, in conversation: inout Conversation, store: some MessagingStore
    ) throws -> Message? {
        guard let clientID = ClientID(call.record.id.text) else { return nil }
        let isWithheld = try isWithheld(from: call.caller, conversation, in: store)
        conversation.addMessage(by: call.caller, isWithheld: isWithheld, at: max(conversation.lastSentAt, store.now))
        let version = conversation.change()
        var message = Message(
            conversation: conversation.id, number: conversation.lastNumber, clientID: clientID, author: call.caller,
            sentAt: conversation.lastSentAt, kind: .call, text: nil, version: version, textVersion: version,
            isWithheld: isWithheld)
        message.call = call.record
        try store.insert(message, digest: [])
        if !call.missed.isEmpty { try noteMissed(call, message, in: store) }
        return message
    }

    private func noteMissed(_ call: FollowedCall, _ message: Message, in store: some MessagingStore) throws {
        try store.setMissed(
            by: message.isWithheld ? [] : call.missed, message.number, in: message.conversation)
    }

    /// A user who calls or answers accepts the request of a direct conversation by that.
    private func admit(
        joined users: [UserID], to conversation: inout Conversation, in store: some MessagingStore
    ) throws {
        guard conversation.kind == .direct, conversation.memberCount < 2 else { return }
        for user in users {
            guard let member = try store.member(user, of: conversation.id), member.state != .member else { continue }
            try admit(user, to: &conversation, in: store)
        }
    }

    private func others(
        than user: UserID, in id: ConversationID, count: Int, _ store: some MessagingStore
    ) throws -> [UserID] {
        var others: [UserID] = []
        var last: UserID?
        while others.count < count - 1 {
            let page = try store.members(of: id, after: last, limit: limits.page)
            others += page.filter { $0.state == .member && $0.user != user }.map(\.user)
            guard page.count == limits.page else { break }
            last = page.last?.user
        }
        return others
    }
}
