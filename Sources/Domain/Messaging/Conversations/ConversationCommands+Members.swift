package import Model

// Members.
extension ConversationCommands {
    /// Adds people to a group: friends at once, others as invited. Who is in it already, or invited, stays as they are.
    package func add(
        _ users: [UserID], to id: ConversationID, by user: UserID, in store: some MessagingStore
    ) throws -> MemberConversation {
        var found = try get(id, by: user, for: .addMember, in: store)
        let others = try added(users, by: user, in: store)
        try add(others, to: &found.conversation, by: user, in: store)
        try store.update(found.conversation)
        return found
    }

    /// Accepts an invitation. Accepting twice changes nothing.
    package func accept(
        _ id: ConversationID, by user: UserID, in store: some MessagingStore
    ) throws -> MemberConversation {
        var found = try get(id, by: user, for: .acceptInvitation, in: store)
        guard found.member.state == .invited else { return found }
        found.conversation.memberCount += 1
        found.conversation.version = found.conversation.change()
        try enter(user, found.member.role, .member, found.conversation, in: store)
        try store.update(found.conversation)
        return try get(id, by: user, in: store)
    }

    /// Leaves a group, or declines its invitation. Leaving twice changes nothing. A departed owner is succeeded.
    package func leave(_ id: ConversationID, by user: UserID, in store: some MessagingStore) throws {
        let found = try get(id, by: user, for: .leave, in: store)
        guard found.member.state != .left else { return }
        guard found.conversation.kind == .group else {
            throw Problem(.conflict, "Only a group can be left: clear the conversation instead.")
        }
        try remove(found.member, from: found.conversation, in: store)
    }

    /// Removes somebody from a group. Removing twice changes nothing.
    package func remove(
        _ other: UserID, from id: ConversationID, by user: UserID, in store: some MessagingStore
    ) throws {
        if other == user { return try leave(id, by: user, in: store) }
        let (found, member) = try get(id, other, by: user, in: store)
        try found.access.check(.removeMember(member.role))
        guard member.state != .left else { return }
        try remove(member, from: found.conversation, in: store)
    }

    /// Makes a member an administrator, or an administrator a member.
    ///
    /// - Parameter version: of the member that the decision was based on; nil for any.
    package func change(
        role: MemberRole, of other: UserID, in id: ConversationID, basedOn version: Int64? = nil, by user: UserID,
        store: some MessagingStore
    ) throws -> Member {
        var (found, member) = try get(id, other, by: user, in: store)
        try found.access.check(.changeRole(member.role, role))
        guard member.state == .member else {
            throw Problem(.conflict, "Only members have roles: this person is not in the group.", field: "user")
        }
        try Self.check(version, against: member.version)
        guard member.role != role else { return member }
        member.role = role
        member.version = found.conversation.change()
        try store.save(member, of: id)
        try store.update(found.conversation)
        return member
    }

    /// Makes another member the owner; who was stays an administrator.
    package func handOver(
        _ id: ConversationID, to other: UserID, by user: UserID, in store: some MessagingStore
    ) throws -> MemberConversation {
        var (found, member) = try get(id, other, by: user, in: store)
        // A repetition after the first has done it.
        if member.role == .owner, other != user, found.member.role == .admin { return found }
        try found.access.check(.handOver)
        guard other != user else { return found }
        guard member.state == .member else {
            throw Problem(.conflict, "The next owner has to be in the group.", field: "user")
        }
        member.role = .owner
        found.member.role = .admin
        found.access.role = .admin
        let version = found.conversation.change()
        (member.version, found.member.version) = (version, version)
        try store.save(member, of: id)
        try store.save(found.member, of: id)
        try store.update(found.conversation)
        return found
    }

    /// Members of all states in the order of their ids, after `cursor`. The invited and former see nobody.
    package func members(
        of id: ConversationID, after cursor: UserID?, limit: Int, by user: UserID, in store: some MessagingStore
    ) throws -> (members: [Member], next: UserID?) {
        let found = try get(id, by: user, in: store)
        guard found.member.state == .member || found.conversation.kind == .direct else {
            throw Problem(.forbidden, "Only members see who is in a group.")
        }
        let limit = min(limits.page, max(1, limit))
        let page = try store.members(of: id, after: cursor, limit: limit + 1)
        guard page.count > limit else { return (page, nil) }
        return (Array(page.prefix(limit)), page[limit - 1].user)
    }
}

extension ConversationCommands {
    static func check(_ version: Int64?, against current: Int64) throws {
        guard let version, version != current else { return }
        throw Problem(
            .conflict, "It has changed since version \(version): look at it again.", field: "version",
            members: ["version": "\(current)"])
    }

    /// Those to be added, without duplicates and the user.
    func added(_ users: [UserID], by user: UserID, in store: some MessagingStore) throws -> [UserID] {
        guard users.count <= limits.addedAtOnce else {
            throw Problem.invalid("members", "At most \(limits.addedAtOnce) people can be added at once.")
        }
        var seen: Set<UserID> = [user]
        let others = users.filter { seen.insert($0).inserted }
        for other in others {
            // Who has blocked the user cannot be told from who does not exist.
            guard try store.isActive(other), try !store.isBlocked(user, by: other) else {
                throw Problem.notFound("user", field: "members")
            }
        }
        return others
    }

    func add(
        _ others: [UserID], to conversation: inout Conversation, by user: UserID, in store: some MessagingStore
    ) throws {
        var count = try store.memberCount(of: conversation.id)
        for other in others {
            let known = try store.member(other, of: conversation.id)
            guard known == nil || known?.state == .left else { continue }
            count += 1
            guard count <= limits.members else {
                throw Problem(.conflict, "A group has at most \(limits.members) members.", field: "members")
            }
            let state: MemberState = try store.areFriends(user, other) ? .member : .invited
            if state == .member { conversation.memberCount += 1 }
            conversation.version = conversation.change()
            try enter(other, .member, state, conversation, in: store)
        }
    }

    /// The first members of a conversation that is new.
    func join(
        _ user: UserID, _ role: MemberRole, _ state: MemberState, _ conversation: Conversation,
        in store: some MessagingStore
    ) throws { try enter(user, role, state, conversation, in: store) }

    /// The user is in the conversation from now on, or invited. In a direct conversation the invited see what is written.
    private func enter(
        _ user: UserID, _ role: MemberRole, _ state: MemberState, _ conversation: Conversation,
        in store: some MessagingStore
    ) throws {
        let member = Member(user: user, role: role, state: state, joinedAt: store.now, version: conversation.sequence)
        try store.save(member, of: conversation.id)
        guard state == .member || conversation.kind == .direct else { return }
        var spans = try store.spans(of: user, in: conversation.id)
        spans.join(after: conversation.lastNumber)
        try store.save(spans, of: user, in: conversation.id)
    }

    func remove(_ member: Member, from conversation: Conversation, in store: some MessagingStore) throws {
        var (member, conversation) = (member, conversation)
        let (wasMember, wasOwner) = (member.state == .member, member.role == .owner)
        if wasMember { conversation.memberCount -= 1 }
        conversation.version = conversation.change()
        (member.state, member.role, member.version) = (.left, .member, conversation.sequence)
        try store.save(member, of: conversation.id)
        var spans = try store.spans(of: member.user, in: conversation.id)
        spans.leave(after: conversation.lastNumber, sequence: conversation.sequence)
        try store.save(spans, of: member.user, in: conversation.id)
        if wasOwner, var next = try store.nextOwner(of: conversation.id) {
            (next.role, next.version) = (.owner, conversation.sequence)
            try store.save(next, of: conversation.id)
        }
        try store.update(conversation)
    }

    private func get(
        _ id: ConversationID, _ other: UserID, by user: UserID, in store: some MessagingStore
    ) throws -> (found: MemberConversation, member: Member) {
        let found = try get(id, by: user, in: store)
        guard found.member.state == .member else { throw Problem(.forbidden, "You are not in this conversation.") }
        guard let member = try store.member(other, of: id) else { throw Problem.notFound("member", field: "user") }
        return (found, member)
    }
}
