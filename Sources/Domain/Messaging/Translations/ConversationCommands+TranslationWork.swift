package import Languages
package import Model

/// What an engine is given for a claimed job.
package struct TranslationWork: Hashable, Sendable {
    package var claim: ClaimedJob
    package var text: MaskedText
    /// What may be made of it.
    package var level: IntelligenceLevel
    /// Of glossaries, those that stand in it.
    package var terms: [GlossaryTerm]
    /// Whether one of them, or of those that they stand for, is the conversation's own.
    package var hasOwnTerms = false
}

/// What became of it.
package enum TranslationOutcome: Hashable, Sendable {
    case translated(String, engine: String, kind: TranslationKind, isHosted: Bool)
    case failed(MessageTranslation.Reason)
    /// Nothing can make it as things are.
    case unavailable(MessageTranslation.Reason)
}

// The work for workers that make translations.
extension ConversationCommands {
    /// The texts to translate for these claims. A claim whose message has changed, or is no longer demanded, has none.
    package func work(for claims: [ClaimedJob], in store: some MessagingStore) throws -> [TranslationWork] {
        // A batch is of one conversation, into one language.
        var glossaries: [TranslationTarget: (all: Glossary, own: Glossary)] = [:]
        return try claims.compactMap { claim in
            let job = claim.job
            guard let conversation = try store.conversation(job.conversation),
                let message = try store.message(job.number, in: job.conversation),
                try isDemanded(job, in: store), let text = try text(of: job, message, in: store)
            else { return nil }
            var levels = MessageLevels(conversation, rules: intelligence, in: store)
            // Messages of a deleted user are about to be erased: no engine gets them.
            let level = try levels.level(of: message)
            let glossary =
                try glossaries[job.target] ?? (
                    all: self.glossary(of: job.conversation, into: job.target.language, in: store),
                    own: Glossary(store.glossary(of: job.conversation), into: job.target.language)
                )
            glossaries[job.target] = glossary
            return TranslationWork(
                claim: claim, text: text, level: level, terms: glossary.all.terms(in: text),
                hasOwnTerms: !glossary.own.terms(in: text).isEmpty)
        }
    }

    /// Stores the result of a claim, unless another worker has claimed it since, or the message has changed: what is
    /// derived from a text that is gone is never stored.
    ///
    /// - Parameter terms: that it was made with.
    /// - Returns: whether it was stored.
    @discardableResult
    package func complete(
        _ claim: ClaimedJob, _ outcome: TranslationOutcome, with terms: [GlossaryTerm] = [],
        in store: some MessagingStore
    ) throws -> Bool {
        let job = claim.job
        guard try store.finish(claim), let message = try store.message(job.number, in: job.conversation),
            let conversation = try store.conversation(job.conversation),
            var row = try store.translation(
                of: job.number, textVersion: job.of, into: job.target, in: job.conversation), row.status == .queued
        else { return false }
        row.terms = GlossaryTerm.fingerprint(of: terms)
        switch outcome {
        case .translated(let text, let engine, let kind, let isHosted):
            row.level = isHosted ? .translate : .local
            var levels = MessageLevels(conversation, rules: intelligence, in: store)
            if try levels.level(of: message).allowsTranslation(byHosted: isHosted) {
                (row.status, row.reason, row.text, row.engine, row.kind) = (.done, nil, text, engine, kind)
            } else {
                (row.status, row.reason) = (.unavailable, .consentRequired)
            }
        case .failed(let reason): (row.status, row.reason) = (.failed, reason)
        case .unavailable(let reason): (row.status, row.reason) = (.unavailable, reason)
        }
        row.touched = try store.nextCounter()
        try store.save(row, for: audience(ofTranslationOf: job.of, message))
        return true
    }

    /// Gives the oldest of too many up.
    ///
    /// - Returns: how many.
    package func dropOldJobs(beyond count: Int, limit: Int, in store: some MessagingStore) throws -> Int {
        let oldest = try store.oldestJobs(beyond: count, limit: limit)
        for claim in oldest {
            switch claim.job.purpose {
            case .translation: try complete(claim, .failed(.queueFull), in: store)
            case .hints: try completeHints(claim, .failed(.queueFull), in: store)
            }
        }
        return oldest.count
    }

    /// The claim waits for another attempt.
    package func postpone(
        _ claim: ClaimedJob, until time: Timestamp, in store: some MessagingStore
    ) throws { _ = try store.postpone(claim, until: time) }

    private func isDemanded(_ job: TranslationJob, in store: some MessagingStore) throws -> Bool {
        try store.translation(
            of: job.number, textVersion: job.of, into: job.target, in: job.conversation)?.status == .queued
    }

    /// The text of the demanded version. A withheld text has an earlier one, which everybody else reads.
    func text(
        of job: TranslationJob, _ message: Message, in store: some MessagingStore
    ) throws -> MaskedText? {
        guard message.deletedAt == nil else { return nil }
        if message.textVersion == job.of { return message.translatableText }
        guard message.isTextWithheld else { return nil }
        return try store.edits(of: job.number, in: job.conversation).first { $0.textVersion == job.of }
            .map { MaskedText($0.text, ranges: RangeFinder.ranges(in: $0.text).ranges) }
    }
}

// What changes under translations.
extension ConversationCommands {
    /// Erases results that machines may no longer derive from messages. Listeners are told.
    ///
    /// - Parameter limit: how many translations are looked at.
    /// - Returns: the number after which to go on; nil if that was all.
    package func enforceLevels(
        in id: ConversationID, after number: Int64, limit: Int, store: some MessagingStore
    ) throws -> Int64? {
        guard let conversation = try store.conversation(id) else { return nil }
        var levels = MessageLevels(conversation, rules: intelligence, in: store)
        let rows = try store.translations(in: id, after: number, limit: limit)
        let nextHints = try enforceHintLevels(in: conversation, after: number, limit: limit, store)
        let nextSummaries = try enforceSummaryLevels(in: conversation, after: number, store)
        // Those of the last message may be cut: it is looked at again.
        let next = rows.count < limit ? nil : rows.last.map { max($0.number - 1, number + 1) }
        for var row in rows where row.status == .done || row.status == .queued {
            guard let message = try store.message(row.number, in: id),
                row.seen(at: try levels.level(of: message)).status != row.status
            else { continue }
            row = row.seen(at: .off)
            row.level = .local
            row.touched = try store.nextCounter()
            try store.save(row, for: audience(ofTranslationOf: row.of, message))
        }
        return [next, nextHints, nextSummaries].compactMap(\.self).min()
    }

    /// The message is in another language than the server had found: what was derived from it is made again.
    func retranslate(_ message: Message, in store: some MessagingStore) throws {
        guard let source = message.language?.code else { return }
        for var row in try store.translations(of: message.number, in: message.conversation)
        where row.of == message.textVersion {
            let job = TranslationJob(
                conversation: message.conversation, number: message.number, target: row.target, of: row.of,
                author: message.author, source: source, payer: message.author)
            (row.text, row.engine, row.kind, row.reason) = (nil, nil, nil, nil)
            row.status = .queued
            if source.isReadable(knowing: [row.language]) {
                (row.status, row.reason) = (.unavailable, .sameLanguage)
            } else {
                try store.demand(job)
            }
            row.touched = try store.nextCounter()
            try store.save(row, for: audience(ofTranslationOf: row.of, message))
        }
    }
}
