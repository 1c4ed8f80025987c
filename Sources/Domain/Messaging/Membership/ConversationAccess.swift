package import Model

/// What somebody wants to do in a conversation.
package enum ConversationAction: Hashable, Sendable {
    /// The conversation's document and what their spans have of it.
    case read
    /// Receive changes from now on, and mark what was read.
    case listen
    /// Write, react and type.
    case write
    /// Call the others.
    case call
    /// Join the call that is on, invited to it or not.
    case joinCall
    /// Pin a message for everybody.
    case pin
    case rename
    /// Who may write, add and rename.
    case changeSettings
    /// How long messages stay.
    case changeDisappearing
    case addMember
    case makeLink
    /// Of somebody else, with that role.
    case removeMember(MemberRole)
    /// Of somebody else: from the first role to the second.
    case changeRole(MemberRole, MemberRole)
    case handOver
    case leave
    /// A message of somebody else, for all.
    case deleteOthersMessage
    case acceptInvitation
}

/// Decides what somebody may do in a conversation. Every command, read, search and event asks here.
///
/// Users who were never members do not learn that the conversation exists.
package struct ConversationAccess: Hashable, Sendable {
    package var kind: ConversationKind
    package var settings: ConversationSettings
    package var state: MemberState
    package var role: MemberRole
    package var spans: MembershipSpans

    package init(
        kind: ConversationKind, settings: ConversationSettings, state: MemberState, role: MemberRole,
        spans: MembershipSpans
    ) {
        self.kind = kind
        self.settings = settings
        self.state = state
        self.role = role
        self.spans = spans
    }

    /// - Throws: why not.
    package func check(_ action: ConversationAction) throws(Problem) {
        if let problem = problem(action) { throw problem }
    }

    /// Why not; nil if it is allowed.
    package func problem(_ action: ConversationAction) -> Problem? {
        switch state {
        case .invited: return problemOfInvited(action)
        case .left: return problemOfFormer(action)
        case .member: return problemOfMember(action)
        }
    }

    /// Whether a message may be seen by its number. Each number of a page, quote, pin, thread or search is asked about.
    /// A request of a stranger is seen before it is accepted; of a group the invited see what they saw when they left
    /// it.
    package func sees(_ number: Int64) -> Bool { isSpanSeen && spans.contains(number) }

    /// The numbers of `range` that may be seen, in order.
    func visible(in range: ClosedRange<Int64>) -> [ClosedRange<Int64>] { isSpanSeen ? spans.visible(in: range) : [] }

    private var isSpanSeen: Bool { state != .invited || kind == .direct || !spans.isOpen }

    /// Whether what refers to messages by their numbers is shown: not in an invitation to a group.
    var isSeenByNumber: Bool { state != .invited || kind == .direct }

    private func problemOfInvited(_ action: ConversationAction) -> Problem? {
        switch action {
        case .read, .acceptInvitation, .leave: nil
        case .listen where kind == .direct: nil
        default: Problem(.forbidden, "You were invited to this conversation: accept the invitation first.")
        }
    }

    private func problemOfFormer(_ action: ConversationAction) -> Problem? {
        switch action {
        // Leaving twice is harmless.
        case .leave: return nil
        // A user who has declined an invitation, or has cleared their messages, sees nothing of it.
        case _ where spans.spans.isEmpty: return .notFound("conversation", field: "conversation")
        case .read: return nil
        default: return Problem(.forbidden, "You are no longer in this conversation.")
        }
    }

    private func problemOfMember(_ action: ConversationAction) -> Problem? {
        switch action {
        case .read, .listen, .joinCall: return nil
        // Accepting twice is harmless.
        case .acceptInvitation: return nil
        case .write:
            return kind != .group || settings.allowsWriting(role)
                ? nil : Problem(.forbidden, "Only administrators may write in this group.")
        case .pin: return problem(.write)
        case .call where kind == .ownNotes: return Problem(.conflict, "In notes to oneself there is nobody to call.")
        case .call: return problem(.write)
        case .changeDisappearing: return kind == .group ? problem(.changeSettings) : nil
        default: break
        }
        if kind == .direct, action == .leave {
            return Problem(
                .conflict,
                "A conversation of two people cannot be left: delete it for yourself, or block the other person.")
        }
        guard kind == .group else {
            return Problem(
                .conflict,
                kind == .direct
                    ? "A conversation of two people has no name, settings, roles or other members: make a group."
                    : "Notes to oneself have no name, settings or members: make a group.")
        }
        switch action {
        case .rename:
            return settings.allowsRenaming(role)
                ? nil : Problem(.forbidden, "Only administrators may rename this group.")
        case .addMember, .makeLink:
            return settings.allowsAdding(role)
                ? nil : Problem(.forbidden, "Only administrators may add people to this group.")
        case .changeSettings:
            return role >= .admin ? nil : Problem(.forbidden, "Only administrators may change the settings of a group.")
        case .deleteOthersMessage:
            return role >= .admin ? nil : Problem(.forbidden, "Only administrators may delete messages of others.")
        case .removeMember(let other):
            return role > other && role >= .admin
                ? nil : Problem(.forbidden, "Administrators may remove members, and the owner everybody else.")
        case .changeRole(let old, let new):
            return problem(ofRole: old, to: new)
        case .handOver:
            return role == .owner ? nil : Problem(.forbidden, "Only the owner may hand a group over.")
        default: return nil
        }
    }

    private func problem(ofRole old: MemberRole, to new: MemberRole) -> Problem? {
        guard new != .owner, old != .owner else {
            return Problem(.conflict, "A group has one owner, who hands it over by POST …/owner.", field: "role")
        }
        guard role == .owner || role == .admin && old == .member else {
            return Problem(.forbidden, "Administrators may make others administrators; only the owner may undo that.")
        }
        return nil
    }
}

/// The next owner of a group after its owner has left: the administrator who joined first, or else the member who
/// joined first. Nil if nobody is left.
package func successor<ID: Hashable & Comparable>(
    among members: some Sequence<(user: ID, role: MemberRole, joinedAt: Timestamp)>
) -> ID? {
    members.min { left, right in
        if left.role != right.role { return left.role > right.role }
        return (left.joinedAt.milliseconds, left.user) < (right.joinedAt.milliseconds, right.user)
    }?.user
}
