import Foundation
import LanguageEngines
import Languages
import Logging
import Messaging

/// What finds out about the languages of texts.
struct LanguageParts: Sendable {
    let analyzer: TextAnalyzer

    /// - Throws: `ConfigurationError` if there is no such library.
    init(_ configuration: ServerConfiguration, logger: Logger) throws {
        let engine: (any LanguageEngine)?
        switch configuration[\.languages.identification] {
        case .none: engine = nil
        case .cld2: engine = CLD2Engine()
        case .eldc:
            let path = configuration[\.languages.eldcLibrary]
            do {
                engine = try EldcEngine(path: path)
            } catch {
                let key = SettingsTable.key(of: \.languages.eldcLibrary)
                throw ConfigurationError(
                    "\(key): cannot open \(path.isEmpty ? "a library without a path" : path): \(error.description)")
            }
        }
        analyzer = TextAnalyzer(engine: engine)
        if let engine { logger.info("languages are identified", metadata: ["engine": "\(engine.name)"]) }
    }
}
