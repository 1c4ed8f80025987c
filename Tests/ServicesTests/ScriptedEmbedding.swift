import Languages
import Logging
import Synchronization
import TestSupport

/// Gives each text a vector of its own, until the test says that it is away, which it is for passages alone.
final class ScriptedEmbeddingEngine: EmbeddingEngine {
    private struct State {
        var texts: [String] = []
        var isAway = false
        var dimensions = 16
    }

    private let state = Mutex(State())
    let model = "scripted"
    let isHosted = false

    /// Of passages.
    var texts: [String] { state.withLock { $0.texts } }
    var isAway: Bool {
        get { state.withLock { $0.isAway } }
        set { state.withLock { $0.isAway = newValue } }
    }
    var dimensions: Int {
        get { state.withLock { $0.dimensions } }
        set { state.withLock { $0.dimensions = newValue } }
    }

    func embed(
        _ request: EmbeddingRequest, deadline: ContinuousClock.Instant
    ) async throws(EmbeddingFailure) -> [EmbeddingVector?] {
        let (isAway, dimensions) = state.withLock { state in
            if request.purpose == .passage, !state.isAway { state.texts += request.texts }
            return (state.isAway && request.purpose == .passage, state.dimensions)
        }
        if isAway { throw .unavailable("away") }
        return request.texts.map { Self.vector($0, dimensions: dimensions) }
    }

    static func vector(_ text: String, dimensions: Int = 16) -> EmbeddingVector? {
        var values = [Float](repeating: 0.1, count: dimensions)
        for (index, byte) in text.utf8.enumerated() { values[(index + Int(byte)) % dimensions] += Float(byte % 7) }
        return EmbeddingVector(values)
    }
}

/// Keeps lines with their metadata.
struct RecordingLogHandler: LogHandler {
    let lines: Shared<[String]>
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let values = (event.metadata ?? [:]).map { "\($0)=\($1)" }.sorted()
        lines.update { $0.append(([event.message.description] + values).joined(separator: " ")) }
    }
}
