/// What a server key may do.
package enum ServerKeyScope: String, Hashable, Sendable, CaseIterable {
    /// Read, create, change, disable and sign out users.
    case users
    /// Issue access tokens for users.
    case tokens
    case callsRead = "calls:read"
    /// Place and end calls.
    case callsWrite = "calls:write"
    /// Read conversations, their members and messages.
    case conversationsRead = "conversations:read"
    /// Create conversations, add and remove members, and write in the name of a member.
    case conversationsWrite = "conversations:write"
    /// Read recordings and their files.
    case recordings
    /// Read events.
    case events
    /// The operator's requests, on the operator's port only.
    case `operator`
}

extension ServerKeyScope {
    /// The names of all scopes, for messages.
    package static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }
}
