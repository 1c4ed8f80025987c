package import Model

/// A conversation as one of its members has it.
package struct MemberConversation: Hashable, Sendable {
    package var conversation: Conversation
    package var member: Member
    package var access: ConversationAccess
    /// The numbers of pinned messages that the member sees, the newest pin first.
    package var pins: [Int64] = []

    /// How the member reads messages. A user who is invited to a group reads it as it was when they left it. If they
    /// were never a member, there is nothing to read.
    var asRead: MemberConversation {
        guard member.state == .invited, conversation.kind == .group else { return self }
        var read = self
        if let former = member.conversationAtLeaving {
            read.conversation = former
        } else {
            (read.conversation.lastNumber, read.conversation.sequence) = (0, member.version)
        }
        return read
    }
}

/// The operations on conversations and their messages, as functions over a store's transaction. Each authorizes its
/// principal itself, by `ConversationAccess`.
package struct ConversationCommands: Sendable {
    package let limits: ConversationLimits
    package let analyzer: TextAnalyzer
    /// What machines may make of messages.
    package let intelligence: IntelligenceRules
    let findings = TextFindings()

    /// Makes the client id of a notice by its number.
    let noticeID: @Sendable (ConversationID, Int64, Timestamp) -> ClientID

    /// - Parameter noticeID: users who write in the conversation must not be able to guess it.
    package init(
        limits: ConversationLimits = ConversationLimits(), analyzer: TextAnalyzer = TextAnalyzer(),
        intelligence: IntelligenceRules = IntelligenceRules(),
        noticeID: @escaping @Sendable (ConversationID, Int64, Timestamp) -> ClientID = { .make(at: $2) }
    ) {
        self.limits = limits
        self.analyzer = analyzer
        self.intelligence = intelligence
        self.noticeID = noticeID
    }

    /// The conversation, for a user who is or was a member. For all others it does not exist.
    package func get(
        _ id: ConversationID, by user: UserID, in store: some MessagingStore
    ) throws -> MemberConversation { try get(id, by: user, for: .read, in: store) }

    func get(
        _ id: ConversationID, by user: UserID, for action: ConversationAction, in store: some MessagingStore
    ) throws -> MemberConversation {
        guard var conversation = try store.conversation(id), var member = try store.member(user, of: id) else {
            throw Problem.notFound("conversation", field: "conversation")
        }
        // Nobody is left in the group to which they were invited.
        if conversation.hasEnded, member.state == .invited { (member.state, member.invitedBy) = (.left, nil) }
        // A user who left writes nothing: they have only what was there before.
        if member.state == .left, let former = member.conversationAtLeaving { conversation = former }
        let access = ConversationAccess(
            kind: conversation.kind, settings: conversation.settings, state: member.state, role: member.role,
            spans: try store.spans(of: user, in: id))
        try access.check(action)
        var found = MemberConversation(conversation: conversation, member: member, access: access)
        // An invited user is not told which messages are pinned.
        if access.isSeenByNumber { found.pins = try pins(of: found, in: store) }
        return found
    }

    /// The two users are friends now: the one who had received a request has accepted it by that.
    package func acceptRequest(
        between one: UserID, and other: UserID, in store: some MessagingStore
    ) throws {
        guard var conversation = try store.conversation(of: ConversationPair(one, other)) else { return }
        for user in [one, other] where try store.member(user, of: conversation.id)?.state == .invited {
            try admit(user, to: &conversation, in: store)
        }
    }

    /// The conversation of two people: the existing one, or a new one. If they are not friends, it is a request.
    package func createDirect(
        with other: UserID, id: ConversationID, disappearAfter: Int64? = nil, by user: UserID,
        in store: some MessagingStore
    ) throws -> (found: MemberConversation, isNew: Bool) {
        guard other != user else {
            throw Problem.invalid("members", "A direct conversation has another member: for notes use the kind self.")
        }
        try Disappearing.check(disappearAfter)
        let pair = ConversationPair(user, other)
        if var known = try store.conversation(of: pair) {
            if try store.member(user, of: known.id)?.state == .left {
                try checkActive(user, in: store)
                try admit(user, to: &known, in: store)
            }
            return (try get(known.id, by: user, in: store), false)
        }
        try checkActive(user, in: store)
        guard try store.isActive(other) else { throw Problem.notFound("user", field: "members") }
        try checkCount(of: user, in: store)
        // The invited user sees the messages, but is not notified until they accept. For the user who asks, it looks
        // the same if the other has blocked them.
        let policy = try store.areFriends(user, other) ? .accept : store.messageRequests(of: other)
        var conversation = Conversation(
            id: id, kind: .direct, createdAt: store.now, memberCount: policy == .accept ? 2 : 1)
        conversation.version = conversation.sequence
        conversation.disappearAfter = disappearAfter
        try store.insert(conversation, pair: pair)
        try join(user, .member, .member, conversation, in: store)
        switch policy {
        case .accept: try join(other, .member, .member, conversation, in: store)
        case .ask:
            try join(other, .member, .invited, conversation, invitedBy: user, in: store)
            try dropOldestInvitations(of: other, in: store)
        case .refuse: try refuse(conversation, for: other, in: store)
        }
        return (try get(id, by: user, in: store), true)
    }

    /// The user's notes: those that exist, or new ones.
    package func createNotes(
        id: ConversationID, disappearAfter: Int64? = nil, by user: UserID, in store: some MessagingStore
    ) throws -> (found: MemberConversation, isNew: Bool) {
        try Disappearing.check(disappearAfter)
        let pair = ConversationPair(user, user)
        if let known = try store.conversation(of: pair) { return (try get(known.id, by: user, in: store), false) }
        try checkActive(user, in: store)
        var conversation = Conversation(id: id, kind: .ownNotes, createdAt: store.now, memberCount: 1)
        conversation.disappearAfter = disappearAfter
        try store.insert(conversation, pair: pair)
        try join(user, .member, .member, conversation, in: store)
        return (try get(id, by: user, in: store), true)
    }

    /// A new group, whose owner is the user. Friends are in it at once, and others are invited.
    package func createGroup(
        name: String?, members: [UserID], id: ConversationID, disappearAfter: Int64? = nil, by user: UserID,
        in store: some MessagingStore
    ) throws -> MemberConversation {
        try Disappearing.check(disappearAfter)
        try checkActive(user, in: store)
        try checkCount(of: user, in: store)
        let others = try added(members, by: user, in: store)
        var conversation = Conversation(id: id, kind: .group, name: name, createdAt: store.now, memberCount: 1)
        conversation.disappearAfter = disappearAfter
        try store.insert(conversation, pair: nil)
        try join(user, .owner, .member, conversation, in: store)
        try add(others, to: &conversation, by: user, in: store)
        try store.update(conversation)
        return try get(id, by: user, in: store)
    }

    /// Renames a group; nil removes the name.
    package func rename(
        _ id: ConversationID, to name: String?, by user: UserID, in store: some MessagingStore
    ) throws -> MemberConversation {
        var found = try get(id, by: user, for: .rename, in: store)
        guard found.conversation.name != name else { return found }
        found.conversation.name = name
        found.conversation.version = found.conversation.change()
        var notice = Notice(.renamed)
        notice.name = name
        try note(notice, by: user, in: &found.conversation, store: store)
        try store.update(found.conversation)
        return found
    }

    package func change(
        _ id: ConversationID, settings: ConversationSettings, by user: UserID, in store: some MessagingStore
    ) throws -> MemberConversation {
        try MessageRetention.check(settings.keepDays)
        var found = try get(id, by: user, for: .changeSettings, in: store)
        guard found.conversation.settings != settings else { return found }
        if found.conversation.settings.intelligence != settings.intelligence { try store.checkLevels(in: id) }
        found.conversation.settings = settings
        found.access.settings = settings
        found.conversation.version = found.conversation.change()
        var notice = Notice(.settings)
        notice.settings = settings
        try note(notice, by: user, in: &found.conversation, store: store)
        try store.update(found.conversation)
        try endLinks(of: found.conversation, in: store)
        return found
    }

    func checkActive(_ user: UserID, in store: some MessagingStore) throws {
        guard try store.isActive(user) else { throw Problem(.forbidden, "This account is disabled.") }
    }

    func checkCount(of user: UserID, in store: some MessagingStore) throws {
        guard try store.conversationCount(of: user) < limits.conversations else {
            throw Problem(
                .conflict,
                "You are in \(limits.conversations) conversations, or were: the most one may be. Delete some that you have left."
            )
        }
    }
}
