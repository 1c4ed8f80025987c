package import Model

/// Rows of an inbox have moved, up to a counter of the store.
package struct InboxNotice: Sendable, Hashable {
    package var user: UserID
    package var conversations: Set<ConversationID>
    package var position: Position

    package init(user: UserID, conversations: Set<ConversationID>, position: Position) {
        self.user = user
        self.conversations = conversations
        self.position = position
    }
}
