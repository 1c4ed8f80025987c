import Foundation
import Logging
import Synchronization

/// Writes log lines to standard error, for people (`console`) or programs (`json`), each line in one write.
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
    private static let output = Mutex(FileHandle.standardError)

    init(label: String, level: SharedLogLevel, isJSON: Bool, metadataProvider: Logger.MetadataProvider? = nil) {
        self.label = label
        self.metadataProvider = metadataProvider
        shared = level
        self.isJSON = isJSON
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let all = metadata.merging(metadataProvider?.get() ?? [:]) { _, new in new }
            .merging(event.metadata ?? [:]) { _, new in new }.sorted { $0.key < $1.key }
        let time = Date().ISO8601Format(.iso8601(timeZone: .gmt, includingFractionalSeconds: true))
        let line: String
        if isJSON {
            var members = [
                "\"time\":\(Self.quoted(time))", "\"level\":\(Self.quoted(event.level.rawValue))",
                "\"label\":\(Self.quoted(label))", "\"message\":\(Self.quoted(event.message.description))",
            ]
            members += all.map { "\(Self.quoted($0.key)):\(Self.quoted($0.value.description))" }
            line = "{" + members.joined(separator: ",") + "}\n"
        } else {
            let details = all.map { " \($0.key)=\($0.value)" }.joined()
            let printable = "\(event.message)\(details)".map { $0.isNewline ? " " : String($0) }.joined()
            line = "\(time) \(event.level.rawValue.uppercased()) \(label): \(printable)\n"
        }
        Self.output.withLock { try? $0.write(contentsOf: Data(line.utf8)) }
    }

    private static func quoted(_ text: String) -> String {
        guard let data = try? JSONEncoder().encode(text) else { return "\"\"" }
        return String(decoding: data, as: UTF8.self)
    }
}
