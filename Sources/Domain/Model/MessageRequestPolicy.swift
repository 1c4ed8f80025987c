/// What becomes of a conversation of two that somebody begins who is no friend.
package enum MessageRequestPolicy: String, Codable, Hashable, Sendable, CaseIterable {
    /// It is a request, which the user accepts or declines.
    case ask
    /// The user is in it at once.
    case accept
    /// Nothing of it reaches the user, which the other cannot tell from a request that waits; nor do invitations to groups.
    case refuse
}
