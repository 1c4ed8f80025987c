import Foundation
import Logging

/// Makes log lines for people (`console`) or programs (`json`).
struct LineLogHandler: LogHandler {
    /// A logger with a level of its own keeps it; all others use the shared level.
    var logLevel: Logger.Level {
        get { own ?? shared.value }
        set { own = newValue }
    }
    var metadata: Logger.Metadata = [:]
    /// Adds what the current task knows, such as the id of its request.
    var metadataProvider: Logger.MetadataProvider?
    private var own: Logger.Level?
    private let shared: SharedLogLevel
    private let label: String
    private let isJSON: Bool
    private let output: LineWriter

    init(
        label: String, level: SharedLogLevel, isJSON: Bool, output: LineWriter,
        metadataProvider: Logger.MetadataProvider? = nil
    ) {
        self.label = label
        self.metadataProvider = metadataProvider
        shared = level
        self.isJSON = isJSON
        self.output = output
    }

    /// The writer to standard error.
    static func standardError(isJSON: Bool) -> LineWriter {
        LineWriter(STDERR_FILENO) { lost in
            line(
                .warning, "log", lost == 1 ? "1 line lost" : "\(lost) lines lost", [("lines", "\(lost)")],
                isJSON: isJSON)
        }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let all = metadata.merging(metadataProvider?.get() ?? [:]) { _, new in new }
            .merging(event.metadata ?? [:]) { _, new in new }.sorted { $0.key < $1.key }
        output.write(
            Self.line(
                event.level, label, event.message.description, all.map { ($0.key, $0.value.description) },
                isJSON: isJSON))
    }

    private static func line(
        _ level: Logger.Level, _ label: String, _ message: String, _ details: [(key: String, value: String)],
        isJSON: Bool
    ) -> String {
        let time = Date().ISO8601Format(.iso8601(timeZone: .gmt, includingFractionalSeconds: true))
        if isJSON {
            let members = [("time", time), ("level", level.rawValue), ("label", label), ("message", message)] + details
            return "{" + members.map { "\(quoted($0)):\(quoted($1))" }.joined(separator: ",") + "}\n"
        }
        let text = message + details.map { " \($0.key)=\($0.value)" }.joined()
        let printable = text.map { $0.isNewline ? " " : String($0) }.joined()
        return "\(time) \(level.rawValue.uppercased()) \(label): \(printable)\n"
    }

    private static func quoted(_ text: String) -> String {
        guard let data = try? JSONEncoder().encode(text) else { return "\"\"" }
        return String(decoding: data, as: UTF8.self)
    }
}
