package import Model

/// A conversation of two people or of a group, or the notes of one user.
///
/// It counts its messages densely from 1, which is the order that every reader sees; and it counts its changes:
/// `sequence` rises with each, and becomes the `version` of what has changed. So a client with two copies keeps the one
/// with the higher version, whichever came first.
package struct Conversation: Hashable, Sendable {
    package let id: ConversationID
    package let kind: ConversationKind
    package var name: String?
    package var createdAt: Timestamp
    /// The number of the last message; 0 without any.
    package var lastNumber: Int64
    /// When the last message was sent, which no later one is before.
    package var lastSentAt: Timestamp
    package var sequence: Int64
    /// The members, without invited users.
    package var memberCount: Int
    package var settings: ConversationSettings
    /// Seconds after which a message that is sent now disappears; nil if they stay.
    package var disappearAfter: Int64?
    /// Where one of two people has changed it while being blocked by the other, and sees it so alone.
    package var withheldTimers: [WithheldTimer] = []
    /// The newest first.
    package var pins: [PinnedMessage] = []
    /// The call that is on.
    package var liveCall: LiveCall?
    /// When the last member left a group. After that, only a server key can add somebody. The messages are erased some
    /// days later.
    package var endedAt: Timestamp?
    /// The sequence of the last change of the properties above, except `lastNumber`, `lastSentAt` and `sequence`.
    package var version: Int64
    /// The last changes that one of two people sees alone, since the other has blocked them.
    package var withheldVersions: [WithheldVersion] = []
    /// The end of the conversation, if only one of two people sees the last message; nil if both see it.
    package var withheldEnd: WithheldEnd?

    package init(
        id: ConversationID, kind: ConversationKind, name: String? = nil, createdAt: Timestamp, lastNumber: Int64 = 0,
        lastSentAt: Timestamp? = nil, sequence: Int64 = 1, memberCount: Int = 0,
        settings: ConversationSettings = ConversationSettings(), version: Int64 = 1
    ) {
        self.id = id
        self.kind = kind
        self.name = name
        self.createdAt = createdAt
        self.lastNumber = lastNumber
        self.lastSentAt = lastSentAt ?? createdAt
        self.sequence = sequence
        self.memberCount = memberCount
        self.settings = settings
        self.version = version
    }

    /// Counts a change, and returns its sequence.
    package mutating func change() -> Int64 {
        sequence += 1
        return sequence
    }

    /// Counts a change of the document.
    ///
    /// - Parameter user: the only user who sees it; nil if all do.
    mutating func changeDocument(for user: UserID?) {
        let sequence = change()
        guard let user else { return version = sequence }
        withheldVersions.removeAll { $0.user == user }
        withheldVersions.append(WithheldVersion(user: user, version: sequence))
    }

    /// Counts a message that is written now: its number and time are those of the conversation then.
    ///
    /// - Parameters:
    ///   - isWithheld: whether its author alone sees it.
    ///   - time: not before the last one.
    package mutating func addMessage(by author: UserID, isWithheld: Bool, at time: Timestamp) {
        let last = LastMessage(number: lastNumber, sentAt: lastSentAt)
        lastNumber += 1
        lastSentAt = time
        guard isWithheld else { return withheldEnd = nil }
        var end = withheldEnd ?? WithheldEnd(shared: last)
        end.own.removeAll { $0.author == author }
        end.own.append(.init(author: author, last: LastMessage(number: lastNumber, sentAt: lastSentAt)))
        withheldEnd = end
    }

    /// The last message that the user sees; of nil, the last one.
    package func last(for user: UserID?) -> LastMessage {
        guard let user, let withheldEnd else { return LastMessage(number: lastNumber, sentAt: lastSentAt) }
        return withheldEnd.own.first { $0.author == user }?.last ?? withheldEnd.shared
    }

    /// The sequence of the last change that the user sees; of nil, that all see.
    package func version(for user: UserID?) -> Int64 {
        max(version, withheldVersions.first { $0.user == user }?.version ?? 0)
    }
}

package struct WithheldVersion: Hashable, Sendable, Codable {
    package let user: UserID
    package let version: Int64
}

/// The number of a message, 0 for none, and when it was sent.
package struct LastMessage: Hashable, Sendable, Codable {
    package let number: Int64
    package let sentAt: Timestamp
}

/// The end of a conversation of two people, if at least one has blocked the other. Only its author sees a message that
/// is written then, and it becomes the last message for its author alone.
package struct WithheldEnd: Hashable, Sendable, Codable {
    /// What a person has written since the last message that both see.
    struct Own: Hashable, Sendable, Codable {
        let author: UserID
        let last: LastMessage
    }

    /// What both see.
    let shared: LastMessage
    var own: [Own] = []
}

extension Conversation {
    /// Whether everybody has left a group.
    package var hasEnded: Bool { endedAt != nil }
}

/// A member of a conversation, as all of its members see them. Users who left stay in it, so that clients can correct
/// the lists that they hold.
package struct Member: Hashable, Sendable {
    package let user: UserID
    package var role: MemberRole
    package var state: MemberState
    package var joinedAt: Timestamp
    /// The conversation's sequence at the last change.
    package var version: Int64
    /// The conversation when the member left, as which they have it from then on.
    package var conversationAtLeaving: Conversation?
    /// The user who invited them, while the state is `invited`.
    package var invitedBy: UserID?
    /// The conversation's sequence when somebody removed them, or kept them out after they had left. Links that were
    /// made before do not let them return.
    package var removedAt: Int64?
    /// The user left or declined and was invited again too soon, or has blocked the user who invited them. Others see
    /// an invitation; this user is not told of it.
    package var isInvitationSilent = false
    /// What the member has, where others see an invitation that is silent.
    package var partAtLeaving: OwnMembership?

    package init(
        user: UserID, role: MemberRole, state: MemberState, joinedAt: Timestamp, version: Int64,
        conversationAtLeaving: Conversation? = nil
    ) {
        self.conversationAtLeaving = conversationAtLeaving
        self.user = user
        self.role = role
        self.state = state
        self.joinedAt = joinedAt
        self.version = version
    }
}

/// What of a membership changes with each invitation.
package struct OwnMembership: Hashable, Sendable {
    package let joinedAt: Timestamp
    package let version: Int64

    package init(joinedAt: Timestamp, version: Int64) {
        self.joinedAt = joinedAt
        self.version = version
    }
}

extension Member {
    /// The state as this user sees it, who is not told of a silent invitation.
    package var own: OwnMembership { partAtLeaving ?? OwnMembership(joinedAt: joinedAt, version: version) }

    /// The state as others see it. They cannot tell whether a request was declined, or an invitation does not arrive,
    /// from one that waits.
    package func shown(in kind: ConversationKind) -> Member {
        guard state == .left, kind == .direct || isInvitationSilent else { return self }
        var shown = self
        shown.state = .invited
        return shown
    }
}

/// The pair of a direct conversation, or the one of notes: there is one conversation of it.
package struct ConversationPair: Hashable, Sendable {
    /// Both ids, the lower one first, or one.
    package let text: String

    package init(_ one: UserID, _ other: UserID) {
        text = one == other ? one.text : [one.text, other.text].sorted().joined(separator: " ")
    }
}
