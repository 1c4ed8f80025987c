/// What is known of an answer while it is written, as a state machine without I/O: what its stream delivers goes in.
struct AnswerProgress: Sendable {
    /// What a delivery has led to.
    enum Effect: Hashable, Sendable {
        case nothing
        case changed
        /// The state is the last.
        case ended
        /// Text was lost: a snapshot is needed.
        case gap
    }

    private(set) var state: AssistantAnswer.State

    init(_ run: AssistantRun) {
        state = AssistantAnswer.State(text: run.text, run: run)
    }

    /// Takes what has been written so far. It may be behind what is known, of which the events follow again.
    mutating func apply(_ snapshot: RunSnapshot) -> Effect {
        guard !state.isOver else { return .nothing }
        guard snapshot.run.status == .running else { return end(snapshot.run) }
        let before = state
        state.run = snapshot.run
        if state.text != snapshot.text {
            state.text = snapshot.text
            state.tool = nil
        }
        return state == before ? .nothing : .changed
    }

    mutating func apply(_ event: RunEvent) -> Effect {
        guard !state.isOver else { return .nothing }
        switch event {
        case .text(let start, let text):
            let length = state.text.utf16.count
            guard start >= 0, start <= length else { return start < 0 ? .nothing : .gap }
            let before = state
            if start < length {
                let index = state.text.utf16.index(state.text.startIndex, offsetBy: start)
                state.text = String(state.text[..<index])
            }
            state.text += text
            state.tool = nil
            return state == before ? .nothing : .changed
        case .tool(let tool):
            guard state.tool != tool else { return .nothing }
            state.tool = tool
            return .changed
        case .done(let run): return end(run)
        case .unknown: return .nothing
        }
    }

    private mutating func end(_ run: AssistantRun) -> Effect {
        state = AssistantAnswer.State(text: run.text, run: run)
        return .ended
    }
}
