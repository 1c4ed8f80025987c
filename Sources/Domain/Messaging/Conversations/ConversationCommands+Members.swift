package import Model

// Members.
extension ConversationCommands {
    /// Adds people to a group: friends at once, others as invited. For users who are members already, or invited,
    /// nothing changes.
    package func add(
        _ users: [UserID], to id: ConversationID, by user: UserID, in store: some MessagingStore
    ) throws -> MemberConversation {
        var found = try get(id, by: user, for: .addMember, in: store)
        let others = try added(users, by: user, in: store)
        let entered = try add(others, to: &found.conversation, by: user, in: store)
        if !entered.isEmpty {
            try note(Notice(.added, users: entered), by: user, in: &found.conversation, store: store)
        }
        try store.update(found.conversation)
        return found
    }

    /// Accepts an invitation. Accepting twice changes nothing.
    package func accept(
        _ id: ConversationID, by user: UserID, in store: some MessagingStore
    ) throws -> MemberConversation {
        var found = try get(id, by: user, for: .acceptInvitation, in: store)
        guard found.member.state == .invited else { return found }
        // What was left is counted already.
        if found.member.conversationAtLeaving == nil { try checkCount(of: user, in: store) }
        found.conversation.memberCount += 1
        found.conversation.version = found.conversation.change()
        try enter(user, found.member.role, .member, found.conversation, in: store)
        if found.conversation.kind == .group { try noteJoined(user, via: .invitation, &found.conversation, store) }
        try store.update(found.conversation)
        return try get(id, by: user, in: store)
    }

    /// Declines an invitation. Declining twice changes nothing.
    package func decline(_ id: ConversationID, by user: UserID, in store: some MessagingStore) throws {
        let found = try get(id, by: user, for: .leave, in: store)
        guard found.member.state != .member else {
            throw Problem(.conflict, "You are in this conversation: an invitation that was accepted is left.")
        }
        guard found.conversation.kind == .direct, found.member.state == .invited else {
            return try leave(id, by: user, in: store)
        }
        try noteDecline(of: found.member, in: found.conversation, store)
        // Nobody is told, since others see no change.
        var member = found.member
        (member.state, member.invitedBy) = (.left, nil)
        try store.save(member, of: id)
        try store.save(MembershipSpans(), of: user, in: id)
    }

    /// Leaves a group, or declines its invitation. Leaving twice changes nothing. A departed owner is succeeded.
    package func leave(_ id: ConversationID, by user: UserID, in store: some MessagingStore) throws {
        let found = try get(id, by: user, for: .leave, in: store)
        guard found.member.state != .left else { return }
        guard found.conversation.kind == .group else {
            throw Problem(.conflict, "Only a group can be left: clear the conversation instead.")
        }
        if found.member.state == .invited { try noteDecline(of: found.member, in: found.conversation, store) }
        try remove(found.member, from: found.conversation, noting: Notice(.left), by: user, in: store)
    }

    /// Removes somebody from a group, or keeps out a user who has left it. Removing twice changes nothing.
    package func remove(
        _ other: UserID, from id: ConversationID, by user: UserID, in store: some MessagingStore
    ) throws {
        if other == user { return try leave(id, by: user, in: store) }
        let (found, member) = try get(id, other, by: user, in: store)
        try found.access.check(.removeMember(member.role))
        try keepOut(member, of: found.conversation, noting: Notice(.removed, users: [other]), by: user, in: store)
    }

    /// Links that were made until now do not let the member return. For a user who has left already, nothing else
    /// changes, and nobody is told.
    func keepOut(
        _ member: Member, of conversation: Conversation, noting notice: Notice, by author: UserID,
        in store: some MessagingStore
    ) throws {
        var (member, conversation) = (member, conversation)
        guard member.state == .left, !member.isInvitationSilent else {
            // As the removal counts it.
            member.removedAt = conversation.sequence + 1
            return try remove(member, from: conversation, noting: notice, by: author, in: store)
        }
        // Only if one would lead them back: that from now on has the new sequence.
        let links = try store.groupLinks(of: conversation.id)
        guard links.contains(where: { $0.sequence >= member.removedAt ?? 0 }) else { return }
        member.removedAt = conversation.change()
        try store.save(member, of: conversation.id)
        try store.update(conversation)
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
        var notice = Notice(.role, users: [other])
        notice.role = role
        try note(notice, by: user, in: &found.conversation, store: store)
        try store.update(found.conversation)
        try endLinks(of: found.conversation, in: store)
        return member
    }

    /// Makes another member the owner. The former owner becomes an administrator.
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
        try note(Notice(.owner, users: [other]), by: user, in: &found.conversation, store: store)
        try store.update(found.conversation)
        return found
    }

    /// Members of all states in the order of their ids, after `cursor`. Invited and former members see nobody.
    package func members(
        of id: ConversationID, after cursor: UserID?, limit: Int, by user: UserID, in store: some MessagingStore
    ) throws -> (members: [Member], next: UserID?) {
        let found = try get(id, by: user, in: store)
        guard found.member.state == .member || found.conversation.kind == .direct else {
            throw Problem(.forbidden, "Only members see who is in a group.")
        }
        let limit = min(limits.page, max(1, limit))
        let page = try store.members(of: id, after: cursor, limit: limit + 1).map {
            $0.shown(in: found.conversation.kind)
        }
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
        // A user who has blocked this user is invited like any other user who is not a friend, but the invitation does
        // not arrive. So nobody can detect the block.
        for other in others where try !store.isActive(other) { throw Problem.notFound("user", field: "members") }
        return others
    }

    /// - Returns: the users who are members now. The others are invited.
    @discardableResult
    func add(
        _ others: [UserID], to conversation: inout Conversation, by user: UserID, in store: some MessagingStore
    ) throws -> [UserID] {
        var entered: [UserID] = []
        var count = try store.memberCount(of: conversation.id)
        for other in others {
            let known = try store.member(other, of: conversation.id)
            guard known.map({ $0.state == .left && !$0.isInvitationSilent }) ?? true else { continue }
            count += 1
            guard count <= limits.members else {
                throw Problem(.conflict, "A group has at most \(limits.members) members.", field: "members")
            }
            let enters =
                try store.areFriends(user, other) && !store.isBlocked(user, by: other)
                && store.conversationCount(of: other) < limits.conversations
            if enters { conversation.memberCount += 1 }
            conversation.version = conversation.change()
            if enters {
                try enter(other, .member, .member, conversation, in: store)
                entered.append(other)
            } else {
                try invite(other, known, to: conversation, by: user, in: store)
            }
        }
        return entered
    }

    func noteJoined(
        _ user: UserID, via: Notice.Via, _ conversation: inout Conversation, _ store: some MessagingStore
    ) throws {
        var notice = Notice(.joined)
        notice.via = via
        try note(notice, by: user, in: &conversation, store: store)
    }

    /// The user accepts a request that they had declined, or the two have become friends, or a user joins a group by a
    /// link or a server key.
    func admit(
        _ user: UserID, as role: MemberRole = .member, to conversation: inout Conversation,
        in store: some MessagingStore
    ) throws {
        conversation.memberCount += 1
        conversation.endedAt = nil
        conversation.version = conversation.change()
        try enter(user, role, .member, conversation, in: store)
        try store.update(conversation)
    }

    /// The first members of a conversation that is new.
    func join(
        _ user: UserID, _ role: MemberRole, _ state: MemberState, _ conversation: Conversation,
        invitedBy inviter: UserID? = nil, in store: some MessagingStore
    ) throws { try enter(user, role, state, conversation, invitedBy: inviter, in: store) }

    /// The user is invited for all others to see, and learns nothing of it.
    func refuse(_ conversation: Conversation, for user: UserID, in store: some MessagingStore) throws {
        var member = Member(
            user: user, role: .member, state: .left, joinedAt: store.now, version: conversation.sequence)
        member.isInvitationSilent = true
        try store.save(member, of: conversation.id)
    }

    /// The user is a member from now on, or invited. Invited users see the messages of a direct conversation.
    private func enter(
        _ user: UserID, _ role: MemberRole, _ state: MemberState, _ conversation: Conversation,
        invitedBy inviter: UserID? = nil, in store: some MessagingStore
    ) throws {
        var member = Member(user: user, role: role, state: state, joinedAt: store.now, version: conversation.sequence)
        member.invitedBy = inviter
        try store.save(member, of: conversation.id)
        guard state == .member || conversation.kind == .direct else { return }
        var spans = try store.spans(of: user, in: conversation.id)
        spans.join(after: conversation.lastNumber)
        try store.save(spans, of: user, in: conversation.id)
        // Users who began to listen while the member was gone do not have the member's marks.
        if var marks = try store.marks(of: user, in: conversation.id) {
            marks.counter = try store.nextCounter()
            try store.save(marks, in: conversation.id)
        }
    }

    private func invite(
        _ user: UserID, _ known: Member?, to conversation: Conversation, by inviter: UserID,
        in store: some MessagingStore
    ) throws {
        guard try !isInvitationSilent(for: user, to: conversation.id, by: inviter, in: store) else {
            var member = Member(
                user: user, role: .member, state: .left, joinedAt: store.now, version: conversation.sequence,
                conversationAtLeaving: known?.conversationAtLeaving)
            (member.isInvitationSilent, member.removedAt) = (true, known?.removedAt)
            if known?.conversationAtLeaving != nil { member.partAtLeaving = known?.own }
            return try store.save(member, of: conversation.id)
        }
        var member = Member(
            user: user, role: .member, state: .invited, joinedAt: store.now, version: conversation.sequence,
            conversationAtLeaving: known?.conversationAtLeaving)
        member.invitedBy = inviter
        try store.save(member, of: conversation.id)
        try dropOldestInvitations(of: user, in: store)
    }

    /// A user with many invitations keeps the newest ones. For others it looks as if the user had not answered.
    func dropOldestInvitations(of user: UserID, in store: some MessagingStore) throws {
        for id in try store.invitations(of: user, beyond: limits.invitations) {
            guard let conversation = try store.conversation(id), var member = try store.member(user, of: id),
                member.state == .invited
            else { continue }
            (member.state, member.invitedBy) = (.left, nil)
            member.isInvitationSilent = conversation.kind == .group
            try store.save(member, of: id)
            try store.save(MembershipSpans(), of: user, in: id)
        }
    }

    /// - Parameter notice: the notice for the members who stay, with `author` as its author; nil for none.
    func remove(
        _ member: Member, from conversation: Conversation, noting notice: Notice? = nil, by author: UserID? = nil,
        in store: some MessagingStore
    ) throws {
        var (member, conversation) = (member, conversation)
        let (wasMember, wasOwner) = (member.state == .member, member.role == .owner)
        if wasMember { conversation.memberCount -= 1 }
        conversation.version = conversation.change()
        (member.state, member.role, member.version) = (.left, .member, conversation.sequence)
        (member.invitedBy, member.isInvitationSilent, member.partAtLeaving) = (nil, false, nil)
        var spans = try store.spans(of: member.user, in: conversation.id)
        spans.leave(after: conversation.lastNumber, sequence: conversation.sequence)
        if wasMember {
            // Of one in which they have seen nothing, nothing is left to them.
            member.conversationAtLeaving = spans.spans.isEmpty ? nil : conversation
            // The call that is on is none that they may join.
            member.conversationAtLeaving?.liveCall = nil
        }
        try store.save(member, of: conversation.id)
        try store.save(spans, of: member.user, in: conversation.id)
        try removeScheduled(by: member.user, in: conversation.id, store)
        if wasMember, let notice, let author {
            try note(notice, by: author, in: &conversation, store: store)
        }
        if wasOwner, var next = try store.nextOwner(of: conversation.id) {
            (next.role, next.version) = (.owner, conversation.sequence)
            try store.save(next, of: conversation.id)
            if notice != nil, let author {
                try note(Notice(.owner, users: [next.user]), by: author, in: &conversation, store: store)
            }
        }
        // The messages are erased later, in parts: see `eraseOldMessages`.
        if wasMember, conversation.memberCount <= 0, try store.nextOwner(of: conversation.id) == nil {
            conversation.endedAt = store.now
        }
        try store.update(conversation)
        if wasMember { try endLinks(of: conversation, in: store) }
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
