import SwitchboardClient

/// The example of the article on the assistant: it is compiled here. `show` is given the lines of an answer.
func ask(_ switchboard: Switchboard, show: (_ lines: [String]) -> Void) async throws {
    // docs:begin
    let answer = try await switchboard.assistant.ask("Who brings the tent?")
    for try await state in answer {
        switch state.run.status {
        case .running:
            show([state.text, state.tool == nil ? "" : "Looking it up…"])
        case .done:
            show(
                state.run.sentences.map { sentence in
                    let links = sentence.citations.map { "[\($0.conversation) \($0.number)]" }.joined()
                    return sentence.text + (links.isEmpty ? " (no source)" : links)
                })
        default:
            show(["There is no answer: \(state.run.reason?.rawValue ?? "")"])
        }
    }
    // docs:end
}
