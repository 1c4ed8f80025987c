import SwitchboardClient

/// The example of the article on reading in one's own language: it is compiled here, and run where a server is. `show` is
/// given the lines of a chat.
func read(
    _ switchboard: Switchboard, _ conversation: ConversationID, show: (_ lines: [String]) -> Void
) async throws {
    // docs:begin
    try await switchboard.changeProfile(
        ProfileChange(languages: ["pt", "en"], translation: TranslationSettings(mode: .automatic)))
    let messages = switchboard.messages(in: conversation)
    for await state in messages {
        var lines: [String] = []
        for message in state.messages {
            lines.append(message.text ?? "")
            guard let translation = message.translation else { continue }
            switch translation.status {
            case .done: lines.append("\(translation.text ?? "") (\(translation.engine ?? "?"))")
            case .queued: lines.append("…")
            case .failed: lines.append("It could not be translated.")
            default: continue
            }
        }
        show(lines)
    }
    // docs:end
}
