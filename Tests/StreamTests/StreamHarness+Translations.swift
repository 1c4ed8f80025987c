import Accounts
import Assistant
import Languages
import Messaging
import Model
import Storage
import TestSupport

@testable import Services

// What is translated. Engines respond when a command says so: a test does the worker's work in its steps, so that anything
// may happen between them.
extension StreamHarness {
    /// Asks for the translation of one of the last messages.
    func translate(_ command: StreamCommand, by user: UserID, in id: ConversationID) async throws {
        let last = try await store.read { try $0.conversation(id)?.lastNumber ?? 1 }
        let targets: [LanguageTag?] = [nil, nil, LanguageTag(wellFormed: "uk"), LanguageTag(wellFormed: "de")]
        _ = try await translations.request(
            [max(1, last + 1 - command.number)], into: targets[command.value % targets.count], in: id, by: user)
    }

    /// What an engine or a model was given.
    enum ClaimedWork: Sendable {
        case translation(TranslationWork)
        case hints(HintWork, PendingHints)
    }

    /// Begins the work of what is due.
    func claimWork(_ value: Int) async throws {
        let (commands, isHosted) = (commands, value % 2 == 0)
        let works = try await store.write { [self] store in
            let claims = try store.claimJobs(limit: 3, until: store.now.adding(seconds: 60))
            let works: [ClaimedWork]
            var claimed: Set<Int64>
            if claims.first?.job.purpose == .hints {
                let hints = try claims.compactMap { try commands.hintWork(for: $0, isHosted: isHosted, in: store) }
                works = try hints.map { .hints($0, try PendingHints($0, isHosted: isHosted, in: store)) }
                claimed = Set(hints.map(\.claim.id))
                let wrong = try hints.flatMap { try wrongSources(of: $0, isHosted: isHosted, in: store) }
                violations.update { $0 += wrong }
            } else {
                let translations = try commands.work(for: claims, in: store)
                works = translations.map { .translation($0) }
                claimed = Set(translations.map(\.claim.id))
            }
            for claim in claims where claimed.insert(claim.id).inserted { _ = try store.finish(claim) }
            return works
        }.value
        claims.update { $0 += works }
    }

    /// An engine or a model responds to a text that it was given some time ago.
    func completeWork(_ value: Int) async throws {
        let work = claims.update { $0.isEmpty ? nil : $0.remove(at: value % $0.count) }
        switch work {
        case .translation(let work): try await complete(work, value)
        case .hints(let work, let pending): try await complete(work, pending, value)
        case nil: break
        }
    }

    private func complete(_ work: TranslationWork, _ value: Int) async throws {
        let (commands, job) = (commands, work.claim.job)
        let engine = TranslationEngines.ofTests.engine(
            from: job.source, into: job.target.language, allowsHosted: work.level.allowsTranslation(byHosted: true))
        _ = try await store.write { store in
            guard let engine else {
                return try commands.complete(work.claim, .unavailable(.consentRequired), in: store)
            }
            switch value {
            case 0: return try commands.complete(work.claim, .failed(.providerFailed), in: store)
            case 1: return try commands.complete(work.claim, .unavailable(.unknownWords), in: store)
            case 2:
                try commands.postpone(work.claim, until: store.now.adding(seconds: 5), in: store)
                return false
            default:
                let text = Self.translation(
                    of: work.text.original, from: job.source, into: job.target.language, by: engine.name)
                return try commands.complete(
                    work.claim, .translated(text, engine: engine.name, kind: engine.kind, isHosted: engine.isHosted),
                    in: store)
            }
        }
    }

    /// As the engines of tests translate.
    static func translation(
        of text: String, from source: LanguageTag, into target: LanguageTag, by engine: String
    ) -> String { "[\(source.string) \(target.string) \(engine)] \(text)" }

    /// Says how the user reads, in one conversation or in all.
    func changeTranslationChoices(_ command: StreamCommand, of user: UserID, in id: ConversationID) async throws {
        let into = [nil, LanguageTag(wellFormed: "uk"), LanguageTag(wellFormed: "de")][command.value % 3]
        let mode = TranslationMode.allCases[Int(command.salt) % TranslationMode.allCases.count]
        let tone = [nil, TranslationTone.formal, nil][command.value % 7 % 3]
        let choice = command.value == 0 ? nil : TranslationSettings(mode: mode, into: into, tone: tone)
        if command.value & 8 == 0 {
            let commands = commands
            var change = MembershipChange()
            change.translation = .some(choice)
            _ = try await store.write { [change] in
                try commands.change(id, membership: change, by: user, in: $0)
            }
            return
        }
        _ = try await store.write { store in
            guard var record = try store.user(user) else { return }
            record.choices.translation = choice
            try store.update(record)
        }
        publish(.translations(user))
    }

    /// Says what may be made of messages: of the group's, of the user's here, or of theirs everywhere.
    func changeLevel(_ command: StreamCommand, of user: UserID, in id: ConversationID) async throws {
        let level = [nil, .off, .local, .translate, .full][command.value % 5] as IntelligenceLevel?
        let commands = commands
        switch command.salt % 3 {
        case 0:
            _ = try await store.write { store in
                guard var settings = try store.conversation(id)?.settings else { return }
                settings.intelligence = level
                _ = try commands.change(id, settings: settings, by: user, in: store)
            }
        case 1:
            var change = MembershipChange()
            change.intelligence = .some(level)
            _ = try await store.write { [change] in
                try commands.change(id, membership: change, by: user, in: $0)
            }
        default:
            _ = try await store.write { store in
                guard var record = try store.user(user) else { return }
                record.choices.intelligence = level
                try store.update(record)
            }
        }
    }

    /// What happens by itself after each commit: what may not be there any more is erased, and who reads automatically has
    /// new and changed messages demanded.
    func followMessages() async throws {
        let (commands, assistant) = (commands, assistant)
        while let id = try await store.read({ try $0.conversationWithChangedLevels(after: nil) }) {
            var number: Int64? = 0
            while let after = number {
                number = try await store.write { store in
                    let next = [
                        try commands.enforceLevels(in: id, after: after, limit: 8, store: store),
                        try assistant.enforceLevels(in: id, after: after, limit: 8, store: store),
                    ].compactMap(\.self).min()
                    if next == nil { try store.endLevelCheck(of: id) }
                    return next
                }.value
            }
        }
        try await compareVectors()
        let changed = texts.update { exchange(&$0, with: [:]) }
        for id in conversations {
            await translations.follow(id)
            await hints[0].follow(id)
            guard let numbers = changed[id]?.sorted(by: >) else { continue }
            await translations.follow(id, numbers)
            await hints[0].follow(id, numbers)
        }
    }
}

extension TranslationEngines {
    /// A hosted service for all languages, and dictionaries of the server's own into Ukrainian.
    static let ofTests = TranslationEngines([
        NamedEngine(name: StreamHarness.hosted, kind: .model, isHosted: true, target: nil),
        NamedEngine(name: StreamHarness.local, kind: .rules, isHosted: false, target: LanguageTag(wellFormed: "uk")),
    ])
}

/// It says what it could translate; commands say what becomes of it.
private struct NamedEngine: TranslationEngine {
    let name: String
    let kind: TranslationKind
    let isHosted: Bool
    /// Nil for all.
    let target: LanguageTag?

    func translates(from source: LanguageTag, into target: LanguageTag) -> Bool { self.target ?? target == target }

    func translate(
        _ request: TranslationRequest, deadline: ContinuousClock.Instant
    ) async throws(TranslationFailure) -> [TranslationResult] { throw .unavailable("no command has come") }
}

/// Every text is English, until its author says something else.
struct EnglishIdentification: LanguageEngine {
    let name = "english"

    func scores(of text: IdentifiableText) -> LanguageScores? {
        LanguageTag(wellFormed: "en").map {
            LanguageScores([LanguageScores.Score(code: $0, value: 1)], isReliable: true, text: text)
        }
    }
}
