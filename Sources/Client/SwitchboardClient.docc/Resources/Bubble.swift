import SwitchboardClient

/// What a bubble says.
struct Bubble: Identifiable {
    let message: ChatMessage
    let author: String

    init(_ message: ChatMessage, in state: Messages.State) {
        self.message = message
        author = state.people[message.author]?.displayName ?? "Somebody"
    }

    var id: Message.ID { message.id }

    var text: String { message.text ?? "This message was deleted." }

    /// What stands below the text.
    var status: String {
        switch message.delivery {
        case .sending: "Sending…"
        case .sent: message.isEdited ? "Edited" : ""
        case .failed(let problem): "Not sent: \(problem.detail)"
        }
    }

    /// Whether to offer *Try again* and *Discard*.
    var hasFailed: Bool {
        if case .failed = message.delivery { true } else { false }
    }
}
