/// An answer of the assistant while it is written, as a sequence of what there is of it: ``Assistant/ask(_:in:for:continuing:)``.
///
/// Iterating listens to the answer: what has been written comes first, and the last state has the run as it stays. When
/// the connection breaks, it goes on after the next one is opened. A reader who is slow misses states, never the last.
/// When nobody iterates any more, the server cancels the answer after a quarter of a minute.
public struct AssistantAnswer: AsyncSequence, Sendable {
    /// What there is of an answer.
    public struct State: Hashable, Sendable {
        /// What has been written so far: plain text, which may begin anew. Once the run is done, its
        /// ``AssistantRun/text``.
        public var text: String
        /// What the model looks up now.
        public var tool: AssistantRun.Tool?
        /// The question, and in the last state what became of it: show its ``AssistantRun/sentences`` then.
        public var run: AssistantRun

        /// Whether this is the last state.
        public var isOver: Bool { run.status != .running }
    }

    /// Iterates over the states.
    public struct Iterator: AsyncIteratorProtocol {
        let realtime: RealtimeEndpoint
        let run: AssistantRun
        var updates: AsyncStream<AnswerUpdate>?

        /// The next state; nil after the last.
        ///
        /// - Throws: ``SwitchboardError/refused(_:)`` with ``Problem/Kind/notFound`` for a run that was erased,
        ///   ``SwitchboardError`` if the user is signed out or the client is closed, and `CancellationError`.
        public mutating func next() async throws -> State? {
            let updates: AsyncStream<AnswerUpdate>
            if let opened = self.updates { updates = opened } else { updates = await realtime.updates(of: run) }
            self.updates = updates
            var iterator = updates.makeAsyncIterator()
            if let update = await iterator.next() { return try update.get() }
            try Task.checkCancellation()
            return nil
        }
    }

    /// The question as it was asked.
    public let run: AssistantRun
    let realtime: RealtimeEndpoint

    /// Iterates over the states.
    public func makeAsyncIterator() -> Iterator { Iterator(realtime: realtime, run: run) }

    /// Waits for the end of the answer.
    public func finished() async throws -> AssistantRun {
        for try await state in self where state.isOver { return state.run }
        throw SwitchboardError.streamClosed
    }
}

/// A new state, or why there are no more.
typealias AnswerUpdate = Result<AssistantAnswer.State, SwitchboardError>

/// The snapshot of a run's stream.
struct RunSnapshot: Decodable, Hashable, Sendable {
    var run: AssistantRun
    var text: String
}

/// An event of a run's stream.
enum RunEvent: Hashable, Sendable {
    /// `text` replaces what stands from there on, in UTF-16 code units.
    case text(from: Int, String)
    case tool(AssistantRun.Tool)
    case done(AssistantRun)
    case unknown(type: String)
}

extension RunEvent: Decodable {
    private enum Key: String, CodingKey { case type, from, text, name, run }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        self =
            switch try container.decode(String.self, forKey: .type) {
            case "text":
                .text(
                    from: try container.decode(Int.self, forKey: .from),
                    try container.decode(String.self, forKey: .text))
            case "tool": .tool(try container.decode(AssistantRun.Tool.self, forKey: .name))
            case "done": .done(try container.decode(AssistantRun.self, forKey: .run))
            case let type: .unknown(type: type)
            }
    }
}
