import Assistant
internal import Model
import Synchronization

/// What happens while an answer is written, as JSON text.
enum AssistantEvent: Hashable, Sendable {
    case text(from: Int, String)
    case tool(AssistantTool)
    case done(AssistantRun)

    var json: String {
        var writer = JSONWriter(capacity: 256)
        writer.object { writer in
            switch self {
            case .text(let start, let text):
                writer.member("type", "text")
                writer.member("from", Int64(start))
                writer.member("text", text)
            case .tool(let tool):
                writer.member("type", "tool")
                writer.member("name", tool.rawValue)
            case .done(let run):
                writer.member("type", "done")
                writer.name("run")
                run.write(to: &writer)
            }
        }
        return writer.text
    }

    var name: String {
        switch self {
        case .text: "text"
        case .tool: "tool"
        case .done: "done"
        }
    }
}

/// A run that is worked on: what has been written, and who reads it.
final class LiveRun: Sendable {
    /// Text is passed on at most so often.
    private static let interval = Duration.milliseconds(40)
    /// Events that wait for one who reads slowly; the oldest are dropped.
    private static let maxWaiting = 512

    private struct Reader {
        let signIn: SignInID?
        let continuation: AsyncStream<AssistantEvent>.Continuation
    }

    private struct State {
        var stream: AnswerStream
        /// What readers were given, and what waits.
        var text = ""
        var waiting = ""
        var tools: [AssistantTool] = []
        var sentAt: ContinuousClock.Instant?
        var listenedAt = ContinuousClock.now
        var readers: [Int: Reader] = [:]
        var nextReader = 0
        var isDone = false
    }

    let run: AssistantRun
    private let publish: @Sendable (AssistantEvent) -> Void
    private let state: Mutex<State>

    init(_ run: AssistantRun, publish: @escaping @Sendable (AssistantEvent) -> Void) {
        self.run = run
        self.publish = publish
        state = Mutex(State(stream: AnswerStream(AssistantSources(question: run.question))))
    }

    /// What has been written so far.
    var text: String { state.withLock { $0.text + $0.waiting } }

    /// The tools that it has used so far.
    var tools: [AssistantTool] { state.withLock { $0.tools } }

    /// Somebody reads it now.
    func noteListener() { state.withLock { $0.listenedAt = .now } }

    /// How long nobody has read it.
    var silence: Duration {
        state.withLock { state in
            if !state.readers.isEmpty { state.listenedAt = .now }
            return .now - state.listenedAt
        }
    }

    /// The model writes anew.
    func begin(_ sources: AssistantSources) {
        state.withLock { state in
            state.stream = AnswerStream(sources)
            (state.text, state.waiting) = ("", "")
        }
    }

    func add(_ piece: String) {
        send { state in
            state.waiting += state.stream.add(piece)
            guard !state.waiting.isEmpty, state.sentAt.map({ .now - $0 >= Self.interval }) ?? true else { return nil }
            return Self.flush(&state)
        }
    }

    /// What waits is passed on.
    func flush() { send { Self.flush(&$0) } }

    /// The answer is written.
    func end() {
        send { state in
            state.waiting += state.stream.finish()
            return Self.flush(&state)
        }
    }

    func use(_ tool: AssistantTool) {
        send { state in
            state.tools.append(tool)
            return .tool(tool)
        }
    }

    func finish(_ run: AssistantRun) {
        let readers = state.withLock { state in
            state.isDone = true
            defer { state.readers = [:] }
            return Array(state.readers.values)
        }
        publish(.done(run))
        for reader in readers {
            reader.continuation.yield(.done(run))
            reader.continuation.finish()
        }
    }

    /// Ends what is streamed to a session that has ended; nil for all of them.
    func endReaders(signedInWith signIn: SignInID?) {
        let ended = state.withLock { state in
            let numbers = state.readers.filter { signIn == nil || $0.value.signIn == signIn }.keys
            return numbers.compactMap { state.readers.removeValue(forKey: $0)?.continuation }
        }
        for continuation in ended { continuation.finish() }
    }

    /// What happens from now on. It begins with the tools that were used, and with what has been written.
    ///
    /// - Parameter signIn: of who reads it.
    func events(signedInWith signIn: SignInID?) -> AsyncStream<AssistantEvent> {
        AsyncStream(bufferingPolicy: .bufferingNewest(Self.maxWaiting)) { continuation in
            let number = state.withLock { state -> Int? in
                guard !state.isDone else { return nil }
                for tool in state.tools { continuation.yield(.tool(tool)) }
                if !state.text.isEmpty { continuation.yield(.text(from: 0, state.text)) }
                state.nextReader += 1
                state.readers[state.nextReader] = Reader(signIn: signIn, continuation: continuation)
                return state.nextReader
            }
            guard let number else { return continuation.finish() }
            continuation.onTermination = { [weak self] _ in
                self?.state.withLock { state in
                    state.listenedAt = .now
                    state.readers[number] = nil
                }
            }
        }
    }

    private static func flush(_ state: inout State) -> AssistantEvent? {
        guard !state.waiting.isEmpty else { return nil }
        let event = AssistantEvent.text(from: state.text.utf16.count, state.waiting)
        state.text += state.waiting
        (state.waiting, state.sentAt) = ("", .now)
        return event
    }

    private func send(_ change: (inout sending State) -> AssistantEvent?) {
        state.withLock { state in
            guard !state.isDone, let event = change(&state) else { return }
            // Not after it, where another piece could come first.
            publish(event)
            for reader in state.readers.values { reader.continuation.yield(event) }
        }
    }
}
