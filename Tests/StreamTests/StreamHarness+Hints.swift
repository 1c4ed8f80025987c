import Accounts
import Languages
import Logging
import Messaging
import Model
import Storage
import TestSupport

@testable import Services

// What is explained: by the lexicon at once, and by a model when a command says so.
extension StreamHarness {
    /// Names of models and engines.
    static let (hosted, local) = ("hosted", "local")
    /// What the lexicon explains of the texts of commands.
    static let abbreviation = "brb"

    /// As on a server with a hosted model, with one of its own, and with none.
    static func hintServices(_ store: Store, _ commands: ConversationCommands) -> [HintService] {
        let models = [NamedModel(name: hosted, isHosted: true), NamedModel(name: local, isHosted: false), nil]
        return models.map { model in
            HintService(
                store: store, commands: commands,
                models: ModelCalls(store: store, commands: commands, model: model, logger: Logger(label: "model")),
                loadLexicon: { HintLexicon() }, isListened: { _ in true }, logger: Logger(label: "hints"))
        }
    }

    /// Asks for hints on one of the last messages.
    func explain(_ command: StreamCommand, by user: UserID, in id: ConversationID) async throws {
        let last = try await store.read { try $0.conversation(id)?.lastNumber ?? 1 }
        _ = try await hints[command.value % hints.count].request(max(1, last + 1 - command.number), in: id, by: user)
    }

    /// Says when the user wants hints, in one conversation or in all.
    func changeHintChoices(_ command: StreamCommand, of user: UserID, in id: ConversationID) async throws {
        let mode = [.automatic, .automatic, .onRequest, .off, nil][command.value % 5] as TranslationMode?
        if command.salt % 2 == 0 {
            let commands = commands
            var change = MembershipChange()
            change.hints = .some(mode)
            _ = try await store.write { [change] in
                try commands.change(id, membership: change, by: user, in: $0)
            }
            return
        }
        _ = try await store.write { store in
            guard var record = try store.user(user) else { return }
            record.choices.hints = mode
            try store.update(record)
        }
        publish(.translations(user))
    }

    /// A model responds, some time after it was asked.
    func complete(_ work: HintWork, _ pending: PendingHints, _ value: Int) async throws {
        let (commands, isHosted) = (commands, pending.isHosted)
        _ = try await store.write { store in
            guard work.level.allowsModel(isHosted: isHosted) else {
                return try commands.completeHints(work.claim, .unavailable(.consentRequired), in: store)
            }
            switch value {
            case 0: return try commands.completeHints(work.claim, .failed(.providerFailed), in: store)
            case 1: return try commands.completeHints(work.claim, .unavailable(.budgetExhausted), in: store)
            case 2:
                try commands.postpone(work.claim, until: store.now.adding(seconds: 5), in: store)
                return false
            default:
                let engine = isHosted ? Self.hosted : Self.local
                let hint = Self.hint(on: work.text.original, in: work.claim.job.target.language, by: engine)
                let hints = [hint] + pending.earlier.map { Self.hint(with: $0) }
                return try commands.completeHints(
                    work.claim, .explained(hints, engine: engine, isHosted: isHosted, sources: work.sources), in: store)
            }
        }
    }

    /// As the models of tests explain.
    static func hint(on text: String, in language: LanguageTag, by engine: String) -> Hint {
        Hint(start: 0, length: 1, kind: .reference, meaning: "[\(language.string) \(engine)] \(text)")
    }

    /// They also say what each of the earlier messages says.
    private static func hint(with earlier: TextReference) -> Hint {
        Hint(start: 0, length: 1, kind: .reference, meaning: TextReference.text(of: [earlier]))
    }

    /// What a model was shown with a message, and has not responded to.
    struct PendingHints: Sendable {
        let isHosted: Bool
        let earlier: [TextReference]

        init(_ work: HintWork, isHosted: Bool, in store: StoreTransaction) throws {
            self.isHosted = isHosted
            earlier = try work.sources.compactMap { try store.message($0.number, in: work.claim.job.conversation) }
                .map { TextReference($0) }
        }
    }

    /// What is wrong with the earlier messages that a model is shown: everybody who sees what is explained sees them in the
    /// same words, unless they have hidden them for themselves.
    func wrongSources(of work: HintWork, isHosted: Bool, in store: StoreTransaction) throws -> [String] {
        let job = work.claim.job
        var found: [String] = []
        if work.earlier.count != work.sources.count {
            found.append("hints on \(job.number): earlier ones without numbers")
        }
        for (earlier, source) in zip(work.earlier, work.sources) {
            guard let conversation = try store.conversation(job.conversation),
                let message = try store.message(source.number, in: job.conversation), message.expiresAt == nil,
                try ExpectedLevel.allowsModel(message, isHosted: isHosted, conversation, store)
            else {
                found.append("hints on \(job.number): a model may not be given \(source)")
                continue
            }
            let words = message.text ?? ""
            // Each text ends with a word of its own.
            if earlier.text.split(separator: " ").last != words.split(separator: " ").last {
                found.append("hints on \(job.number): \(source) is not \(earlier.text)")
            }
        }
        for user in users {
            let page = try? commands.page(.newest, of: job.conversation, limit: .max, by: user, in: store)
            let seen = Dictionary(uniqueKeysWithValues: (page?.messages ?? []).map { ($0.number, $0.textVersion) })
            guard seen[job.number] == job.of else { continue }
            for source in work.sources where seen[source.number] != source.of {
                let own = try store.ownRows(of: user, in: job.conversation, source.number...source.number)
                guard !own.contains(where: \.isHidden) else { continue }
                found.append("hints on \(job.number): rest on \(source), which \(user) does not see")
            }
        }
        return found
    }
}

/// It is there to be asked; commands say what it responds.
private struct NamedModel: LanguageModel {
    let name: String
    let isHosted: Bool

    func respond(
        to request: ModelRequest, deadline: ContinuousClock.Instant
    ) async throws(TranslationFailure) -> [UInt8] { throw .unavailable("no command has come") }
}
