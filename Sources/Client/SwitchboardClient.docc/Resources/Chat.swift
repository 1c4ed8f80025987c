import Observation
import SwitchboardClient

/// A conversation on the screen.
@MainActor @Observable
final class Chat {
    private(set) var state: Messages.State?
    var text = ""

    private let messages: Messages

    init(_ messages: Messages) { self.messages = messages }

    /// Keeps the conversation up to date, as long as it is on the screen.
    func follow() async {
        for await state in messages {
            if self.state == nil, text.isEmpty { text = state.draft ?? "" }
            self.state = state
        }
    }

    /// Sends what was written. It is stored when this returns, and sent when there is a connection.
    func send() async throws {
        guard !text.isEmpty else { return }
        try await messages.send(text)
        text = ""
        try await messages.keepDraft(nil)
    }

    /// Keeps what was written for later.
    func leave() async throws {
        try await messages.keepDraft(text)
    }

    func scrolledToTop() async throws {
        guard state?.hasEarlier == true else { return }
        try await messages.loadEarlier()
    }

    func retry(_ message: ChatMessage) async throws { try await messages.retry(message.id) }

    func discard(_ message: ChatMessage) async throws { try await messages.discard(message.id) }
}
