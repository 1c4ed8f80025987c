package import Languages
package import Logging
package import Messaging
package import Model
internal import ServiceLifecycle
package import Storage
import Synchronization

/// Answers who asks for translations, and demands those of new messages for who reads automatically.
package final class TranslationService: Service {
    package let engines: TranslationEngines
    private let store: Store
    private let commands: ConversationCommands
    package let counters: TranslationCounters
    private let logger: Logger
    private let reading: AutomaticReading

    /// - Parameter isListened: whether a session listens to a stream.
    package init(
        store: Store, commands: ConversationCommands, engines: TranslationEngines,
        counters: TranslationCounters = TranslationCounters(), isListened: @escaping @Sendable (StreamName) -> Bool,
        logger: Logger
    ) {
        self.store = store
        self.commands = commands
        self.engines = engines
        self.counters = counters
        self.logger = logger
        reading = AutomaticReading(of: store, isListened: isListened)
    }

    private var support: TranslationSupport {
        TranslationSupport { [engines] source, target, allowsHosted in
            if let engine = engines.engine(from: source, into: target, allowsHosted: allowsHosted) {
                return .supported(isHosted: engine.isHosted)
            }
            guard !allowsHosted, engines.engine(from: source, into: target, allowsHosted: true) != nil else {
                return .pairNotSupported
            }
            return .hostedOnly
        }
    }

    /// Translations of messages; those that are not made yet are `queued`, and follow on the stream.
    ///
    /// - Throws: `provider_not_configured` if there is no engine; `pair_not_supported` or `consent_required` if that is why
    ///   none of them can be made.
    package func request(
        _ numbers: [Int64], into language: LanguageTag?, in id: ConversationID, by user: UserID
    ) async throws -> [MessageTranslation] {
        let (commands, support) = (commands, support)
        let known = try await store.read { store in
            try commands.knownTranslations(
                of: numbers, into: language, in: id, by: user, support: support, store: store)
        }
        // Who may not see the messages does not learn what the server has.
        guard !engines.isEmpty else {
            throw Problem(.providerNotConfigured, "This server has nothing that translates.")
        }
        if let known {
            counters.count(known)
            try await check(known, by: user)
            return known
        }
        let rows = try await store.write { store in
            try commands.requestTranslations(
                of: numbers, into: language, in: id, by: user, support: support, store: store)
        }.value
        counters.count(rows)
        return rows
    }

    private func check(_ rows: [MessageTranslation], by user: UserID) async throws {
        let reasons = Set(rows.map(\.reason))
        guard reasons.count == 1, let reason = reasons.first else { return }
        switch reason {
        case .pairNotSupported:
            throw Problem(
                .pairNotSupported, "Nothing here translates from this language into \(rows[0].language.string).",
                field: "language")
        case .consentRequired:
            let (commands, row) = (commands, rows[0])
            throw try await store.read { store in
                try commands.consentProblem(
                    "machines translate this", of: row.number, in: row.conversation, levels: [.local, .translate],
                    by: user, field: "numbers", store: store)
            }
        case .budgetExhausted:
            let day: Int64 = 86_400_000
            throw Problem(
                .budgetExhausted, "What hosted services may translate is used up for today, or for this month.",
                retryAfter: Int64(day - Timestamp.systemClock().milliseconds % day))
        default: return
        }
    }

    package func glossary(of id: ConversationID, by user: UserID) async throws -> [GlossaryEntry] {
        let commands = commands
        return try await store.read { try commands.glossary(of: id, by: user, in: $0) }
    }

    package func setGlossary(
        _ entries: [GlossaryEntry], of id: ConversationID, by user: UserID
    ) async throws -> [GlossaryEntry] {
        let commands = commands
        try commands.check(entries)
        return try await store.write { store in
            try commands.setGlossary(entries, of: id, by: user, isChecked: true, in: store)
        }.value
    }

    /// Somebody listens to the translations of a conversation: who reads automatically has the newest demanded.
    package func listens(_ user: UserID, to id: ConversationID) async throws {
        guard !engines.isEmpty else { return }
        let commands = commands
        let found = try await store.read { store in
            let found = try commands.listen(id, by: user, in: store)
            return (try commands.translationReader(user, in: id, store), found.conversation.lastNumber)
        }
        let (reader, lastNumber) = found
        guard reader.mode == .automatic, let target = reader.target else {
            return reading.remove(user, in: id)
        }
        reading.add(user, target.text, in: id, upTo: lastNumber)
        try await demand(after: 0, in: id, for: user)
    }

    /// - Returns: whether something was demanded.
    @discardableResult
    private func demand(after number: Int64, in id: ConversationID, for user: UserID) async throws -> Bool {
        let (commands, support) = (commands, support)
        return try await demand(in: id, for: user) { store in
            try commands.untranslated(after: number, in: id, for: user, support: support, store: store)
        }
    }

    private func demand(
        in id: ConversationID, for user: UserID,
        _ untranslated: @escaping @Sendable (StoreTransaction) throws -> [Int64]
    ) async throws -> Bool {
        let (commands, support) = (commands, support)
        let numbers = try await store.read { try untranslated($0) }
        guard !numbers.isEmpty else { return false }
        _ = try await store.write { store in
            _ = try commands.requestTranslations(
                of: numbers, into: nil, in: id, by: user, support: support, isAutomatic: true, store: store)
        }
        return true
    }

    package func run() async {
        await reading.follow { id, numbers in await self.follow(id, numbers) }
    }

    /// - Parameter numbers: of messages with another text than before, or with a transcript; nil for new messages.
    func follow(_ id: ConversationID, _ numbers: [Int64]? = nil) async {
        let (commands, support) = (commands, support)
        do {
            try await reading.forEachLanguage(in: id, numbers) { user, after in
                try await self.demand(in: id, for: user) { store in
                    guard let numbers else {
                        return try commands.untranslated(
                            after: after, in: id, for: user, support: support, store: store)
                    }
                    return try commands.untranslated(of: numbers, in: id, for: user, support: support, store: store)
                }
            }
        } catch {
            logger.error("translations cannot be demanded", metadata: ["error": "\(error)"])
        }
    }
}
