package import Model

/// What an event tells the app's own server about.
package enum EventType: String, Hashable, Sendable, CaseIterable {
    case userCreated = "user.created"
    case userDisabled = "user.disabled"
    case userDeleted = "user.deleted"
    case callRinging = "call.ringing"
    case callAnswered = "call.answered"
    case callMissed = "call.missed"
    case callEnded = "call.ended"
    case friendRequested = "friend.requested"
    case friendAccepted = "friend.accepted"
    case friendRemoved = "friend.removed"
    case conversationCreated = "conversation.created"
    case conversationUpdated = "conversation.updated"
    case conversationMember = "conversation.member"
    case messageCreated = "message.created"
    case messageEdited = "message.edited"
    case messageDeleted = "message.deleted"
    case recordingReady = "recording.ready"
    case transcriptReady = "transcript.ready"
    /// Made by `switchboard webhook test`, for one webhook. Nobody subscribes to it.
    case webhookTest = "webhook.test"
}

extension EventType {
    /// The types that a webhook may subscribe to.
    package static let subscribable: [Self] = allCases.filter { $0 != .webhookTest }

    package static var names: String { subscribable.map(\.rawValue).joined(separator: ", ") }

    /// - Throws: `invalid_request` of the field `events`, with the list of the types.
    package static func subscribable(_ text: String) throws(Problem) -> Self {
        guard let type = Self(rawValue: text), type != .webhookTest else {
            throw .invalid("events", "There is no event \(text.prefix(32)). The events are \(names).")
        }
        return type
    }
}
