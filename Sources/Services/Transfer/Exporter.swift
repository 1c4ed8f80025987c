package import Messaging
import Model
package import Storage
import Transfer

/// Exports in pages, each of which is read in one snapshot. What is written meanwhile may be in it.
package struct Exporter: Sendable {
    /// Rows of a page.
    static let limit = 100
    /// The source that the lines name.
    package static let source = "switchboard"

    private let store: Store
    private let commands: ConversationCommands

    package init(store: Store, commands: ConversationCommands = ConversationCommands()) {
        self.store = store
        self.commands = commands
    }

    /// - Throws: `not_found` of a conversation or a user, if the member may not read it any more, too.
    package func page(of scope: ExportScope, after cursor: ExportCursor?) async throws -> ExportPage {
        let commands = commands
        return try await store.longRead { store in
            let (records, next) = try ExportReader(store: store, commands: commands, scope: scope).page(after: cursor)
            return ExportPage(lines: records.map { $0.json(source: Self.source) }, next: next)
        }
    }
}
