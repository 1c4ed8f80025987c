/// What somebody does in a conversation now.
package enum TypingState: String, Hashable, Sendable, CaseIterable, Codable {
    case typing
    /// Recording a voice message.
    case recording
    /// Neither any more.
    case stopped
}
