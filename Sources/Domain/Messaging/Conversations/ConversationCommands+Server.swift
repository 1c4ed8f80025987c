package import Model

// What an app's own back end can do with a server key. It is not a member, and nobody invites or blocks it.
extension ConversationCommands {
    /// A new group of these users, who are members at once. The first is its owner.
    package func createServerGroup(
        name: String?, members: [UserID], id: ConversationID, disappearAfter: Int64? = nil,
        in store: some MessagingStore
    ) throws -> Conversation {
        try Disappearing.check(disappearAfter)
        guard let owner = members.first else { throw Problem.invalid("members", "A group has at least one member.") }
        var conversation = Conversation(id: id, kind: .group, name: name, createdAt: store.now, memberCount: 1)
        conversation.disappearAfter = disappearAfter
        try store.insert(conversation, pair: nil)
        try checkActive(owner, in: store)
        try join(owner, .owner, .member, conversation, in: store)
        _ = try addToGroup(Array(members.dropFirst()), &conversation, in: store)
        return conversation
    }

    /// The conversation of two users, who may write at once: the one that exists, or a new one.
    package func createServerDirect(
        of one: UserID, and other: UserID, id: ConversationID, disappearAfter: Int64? = nil,
        in store: some MessagingStore
    ) throws -> (conversation: Conversation, isNew: Bool) {
        try Disappearing.check(disappearAfter)
        guard one != other else { throw Problem.invalid("members", "A direct conversation has two members.") }
        let pair = ConversationPair(one, other)
        for user in [one, other] { try checkActive(user, in: store) }
        guard var known = try store.conversation(of: pair) else {
            var conversation = Conversation(id: id, kind: .direct, createdAt: store.now, memberCount: 2)
            conversation.disappearAfter = disappearAfter
            try store.insert(conversation, pair: pair)
            for user in [one, other] { try join(user, .member, .member, conversation, in: store) }
            return (conversation, true)
        }
        for user in [one, other] where try store.member(user, of: known.id)?.state != .member {
            try admit(user, to: &known, in: store)
        }
        return (known, false)
    }

    /// Adds users to a group, who are members at once. For users who are members already, nothing changes. If everybody
    /// has left the group, the first one becomes its owner.
    package func addByServer(
        _ users: [UserID], to id: ConversationID, in store: some MessagingStore
    ) throws -> Conversation {
        var conversation = try serverGroup(id, in: store)
        let entered = try addToGroup(users, &conversation, in: store)
        if let first = entered.first {
            var notice = Notice(.added, users: entered)
            notice.isByServer = true
            try note(notice, by: first, in: &conversation, store: store)
            try store.update(conversation)
        }
        return conversation
    }

    /// Removes a user from a group, or keeps out who has left it. Removing twice changes nothing.
    package func removeByServer(
        _ user: UserID, from id: ConversationID, in store: some MessagingStore
    ) throws {
        let conversation = try serverGroup(id, in: store)
        guard let member = try store.member(user, of: id) else { throw Problem.notFound("member", field: "user") }
        var notice = Notice(.removed, users: [user])
        notice.isByServer = true
        try keepOut(member, of: conversation, noting: notice, by: user, in: store)
    }

    /// Sets after how many seconds messages disappear that are sent from now on; with nil they stay.
    package func changeByServer(
        _ id: ConversationID, disappearAfter seconds: Int64?, in store: some MessagingStore
    ) throws -> Conversation {
        try Disappearing.check(seconds)
        var conversation = try serverConversation(id, in: store)
        guard conversation.disappearAfter != seconds else { return conversation }
        conversation.disappearAfter = seconds
        conversation.version = conversation.change()
        var notice = Notice(.disappearing)
        (notice.disappearAfter, notice.isByServer) = (seconds, true)
        // It concerns all of them.
        if let owner = try store.nextOwner(of: id) {
            try note(notice, by: owner.user, in: &conversation, store: store)
        }
        try store.update(conversation)
        return conversation
    }

    /// Any conversation.
    package func serverConversation(
        _ id: ConversationID, in store: some MessagingStore
    ) throws -> Conversation {
        guard let conversation = try store.conversation(id) else {
            throw Problem.notFound("conversation", field: "conversation")
        }
        return conversation
    }

    /// Any conversation's messages, but for those that a block withholds.
    package func serverPage(
        _ anchor: PageAnchor, of id: ConversationID, limit: Int, in store: some MessagingStore
    ) throws -> MessagePage {
        let conversation = try serverConversation(id, in: store)
        var spans = MembershipSpans()
        spans.join(after: 0)
        // As a member would see it who joined at the beginning.
        let reader = UserID.make(at: store.now)
        let found = MemberConversation(
            conversation: conversation,
            member: Member(user: reader, role: .member, state: .member, joinedAt: conversation.createdAt, version: 0),
            access: ConversationAccess(
                kind: conversation.kind, settings: conversation.settings, state: .member, role: .member, spans: spans))
        return try page(anchor, of: found, limit: limit, in: store)
    }

    private func serverGroup(_ id: ConversationID, in store: some MessagingStore) throws -> Conversation {
        let conversation = try serverConversation(id, in: store)
        guard conversation.kind == .group else {
            throw Problem(.conflict, "Only a group's members can be changed.", field: "conversation")
        }
        return conversation
    }

    private func addToGroup(
        _ users: [UserID], _ conversation: inout Conversation, in store: some MessagingStore
    ) throws -> [UserID] {
        var entered: [UserID] = []
        guard users.count <= limits.addedAtOnce else {
            throw Problem.invalid("members", "At most \(limits.addedAtOnce) people can be added at once.")
        }
        var count = try store.memberCount(of: conversation.id)
        for user in users {
            let known = try store.member(user, of: conversation.id)
            guard known?.state != .member else { continue }
            try checkActive(user, in: store)
            if known?.state != .invited { count += 1 }
            guard count <= limits.members else {
                throw Problem(.conflict, "A group has at most \(limits.members) members.", field: "members")
            }
            try admit(user, as: conversation.hasEnded ? .owner : .member, to: &conversation, in: store)
            entered.append(user)
        }
        try store.update(conversation)
        return entered
    }
}
