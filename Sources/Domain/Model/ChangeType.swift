// The types of the changes in logs. The raw values are stored in the log and sent to clients; a change is appended only
// with one of them, and the realtime protocol's table describes each.

/// The types of the changes in `user:<user>`.
package enum UserChangeType: String, Hashable, Sendable, CaseIterable {
    /// The user's part in a call has changed, or the call has ended.
    case call
    /// The user's own profile or settings.
    case profile
    /// The user has blocked or unblocked somebody.
    case block
    /// A friend or a request is new or has changed.
    case friend
    /// A friendship or a request is over.
    case friendRemoved = "friend.removed"
    case signIn
    case signOut
    case recordingTranscribed = "recording.transcribed"
    case recordingMixed = "recording.mixed"
    case recordingRemoved = "recording.removed"
}

/// The types of the changes in `call:<call>`.
package enum CallChangeType: String, Hashable, Sendable, CaseIterable {
    /// The call's document without its participants.
    case call
    case participant
}

/// The types of the changes in `signals:<call>:<endpoint>`, the mailbox of an endpoint.
package enum SignalChangeType: String, Hashable, Sendable, CaseIterable {
    // From another endpoint.
    case offer
    case answer
    case candidates
    // From the gateway.
    case slots
    case renegotiate
    case legEnded
}
