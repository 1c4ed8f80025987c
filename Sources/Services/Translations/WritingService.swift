package import Languages
package import Messaging
package import Model
package import Storage

/// Helps who writes: checks drafts, rewrites them, and suggests replies. Nothing of it is stored.
package struct WritingService: Sendable {
    private let store: Store
    private let commands: ConversationCommands
    private let models: ModelCalls
    private let templates: TemplateReplies?

    /// - Parameter templates: what suggests replies where there is no language model; nil if nothing understands texts.
    package init(store: Store, commands: ConversationCommands, models: ModelCalls, templates: TemplateReplies?) {
        self.store = store
        self.commands = commands
        self.models = models
        self.templates = templates
    }

    /// The language model, as its users are told of it.
    package var model: (name: String, isHosted: Bool)? { models.model.map { ($0.name, $0.isHosted) } }

    /// Whether anything suggests replies.
    package var suggestsReplies: Bool { models.model != nil || templates != nil }

    package struct Checked: Hashable, Sendable {
        package var report: DraftReport
        package var language: LanguageTag?
        package var engine: String
        package var kind: MessageHints.Kind
    }

    /// By rules, and by the model too if that is asked for.
    package func check(
        _ text: String, language: LanguageTag?, usesModel: Bool, in id: ConversationID, by user: UserID
    ) async throws -> Checked {
        let context = try await context(ofDraft: text, language: language, in: id, by: user)
        let rules = DraftCheck.report(
            on: context.text.original, keeping: context.text.keptRanges, language: context.language,
            expected: context.register, knowsAbbreviations: context.knowsAbbreviations)
        guard usesModel else {
            return Checked(report: rules, language: context.language, engine: HintLexicon.name, kind: .lexicon)
        }
        let prompt = DraftCheckPrompt(
            context.text, language: context.language, reader: context.reader, earlier: context.earlier)
        let (report, name) = try await ask(prompt.request, for: .draftCheck, context, by: user) {
            response throws(TranslationFailure) in try prompt.report(response)
        }
        var findings = report.findings
        // What rules know for certain stays.
        for finding in rules.findings
        where findings.count < DraftFinding.maxCount
            && !findings.contains(where: { $0.start == finding.start && $0.length == finding.length })
        { findings.append(finding) }
        return Checked(
            report: DraftReport(tone: report.tone, findings: findings.sorted { $0.start < $1.start }),
            language: context.language, engine: name, kind: .model)
    }

    /// Another way to write a draft.
    package func rewrite(
        _ text: String, as style: DraftStyle, language: LanguageTag?, in id: ConversationID, by user: UserID
    ) async throws -> (text: String, engine: String) {
        let context = try await context(ofDraft: text, language: language, in: id, by: user)
        let prompt = RewritePrompt(
            context.text, style: style, language: context.language, earlier: context.earlier)
        let original = context.text.original
        return try await ask(prompt.request, for: .rewrite, context, by: user) {
            response throws(TranslationFailure) in
            let text = try prompt.text(response)
            guard !RangeFinder.adds(targetsOf: text, to: original) else {
                throw .invalidResponse("a link that the draft has not")
            }
            return text
        }
    }

    package struct SuggestedReplies: Hashable, Sendable {
        package enum Kind: String, Hashable, Sendable, CaseIterable {
            case model
            /// They are the same for all messages of a class, which the engine has told.
            case template
        }

        package var replies: [String]
        package var engine: String
        package var kind: Kind
    }

    /// Replies to a message that its reader may send as they are: by the language model, and without one by templates for
    /// what the message asks.
    package func replies(to number: Int64, in id: ConversationID, by user: UserID) async throws -> SuggestedReplies {
        let (commands, isHosted) = (commands, models.model?.isHosted)
        let context = try await store.read { store in
            try commands.context(ofReplyTo: number, in: id, by: user, isHosted: isHosted, store: store)
        }
        if models.model == nil, let templates { return try await templates.replies(context, by: user) }
        let prompt = ReplyPrompt(context.text, language: context.language, earlier: context.earlier)
        let (replies, engine) = try await ask(prompt.request, for: .replies, context, by: user) {
            response throws(TranslationFailure) in try prompt.replies(response)
        }
        return SuggestedReplies(replies: replies, engine: engine, kind: .model)
    }

    private func context(
        ofDraft text: String, language: LanguageTag?, in id: ConversationID, by user: UserID
    ) async throws -> WritingContext {
        let (commands, isHosted) = (commands, models.model?.isHosted)
        return try await store.read { store in
            try commands.context(
                ofDraft: text, in: id, by: user, language: language, isHosted: isHosted, store: store)
        }
    }

    private func ask<Result: Sendable>(
        _ request: ModelRequest, for purpose: ModelCalls.Purpose, _ context: WritingContext, by user: UserID,
        _ read: @Sendable ([UInt8]) throws(TranslationFailure) -> Result
    ) async throws -> (Result, String) {
        guard let model = models.model else { throw ModelCalls.isNotConfigured }
        guard context.level.allowsModel(isHosted: model.isHosted) else { throw ModelCalls.consentProblem(model) }
        do {
            return (try await models.ask(request, by: model, for: purpose, payer: user, read), model.name)
        } catch let failure as ModelCalls.Failure {
            throw failure.problem(model)
        }
    }
}
