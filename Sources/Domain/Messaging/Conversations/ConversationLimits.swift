/// How much there may be of everything.
package struct ConversationLimits: Hashable, Sendable {
    /// Members of a group, the invited too.
    package var members = 10_000
    /// People added by one request.
    package var addedAtOnce = 100
    /// Conversations of one user, those left too.
    package var conversations = 10_000
    /// Messages to a stranger before the request is accepted.
    package var requestMessages = 3
    /// Versions of a message; the last may not be edited.
    package var edits = 100
    /// Messages on a page.
    package var page = 100

    package init() {}
}
