package import Model

/// What two users are to each other, as far as presence asks.
package struct PresenceRelation: Hashable, Sendable {
    /// Whether one of them has blocked the other.
    package var isBlocked: Bool
    package var isFriend: Bool
    /// Whether both are members of the same conversation.
    package var sharesConversation: Bool

    package init(isBlocked: Bool, isFriend: Bool, sharesConversation: Bool) {
        self.isBlocked = isBlocked
        self.isFriend = isFriend
        self.sharesConversation = sharesConversation
    }
}

// Who sees whether somebody is there: their friends, and those with whom they share a conversation. All others see them
// offline for ever, so that strangers, the declined and the blocked cannot be told from each other.
extension UserRecord {
    /// What the reader sees of this user's presence. Who does not show when they were last seen to the reader does not see
    /// when the reader was.
    package func presence(seenBy reader: UserRecord, _ relation: PresenceRelation) -> PresenceView {
        if id == reader.id { return .full }
        guard disabledAt == nil, !relation.isBlocked, relation.isFriend || relation.sharesConversation else {
            return .nothing
        }
        return showsLastSeen(relation) && reader.showsLastSeen(relation) ? .full : .online
    }

    private func showsLastSeen(_ relation: PresenceRelation) -> Bool {
        guard presence == .everybody else { return false }
        return switch lastSeen {
        case .everybody: true
        case .friends: relation.isFriend
        case .nobody: false
        }
    }
}
