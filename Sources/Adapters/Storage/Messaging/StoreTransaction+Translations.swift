package import Languages
package import Messaging
package import Model

// The rows of translations.
extension StoreTransaction {
    private static let translationColumns = """
        conversation_id, number, language, tone, of_version, status, reason, text, engine, kind, level, terms, touched
        """

    package func languageChoices(of user: UserID) throws -> (choices: LanguageChoices, since: Int64) {
        let row = try sql.first(
            """
            SELECT translation_mode, translation_into, translation_tone, intelligence, hints, choices_since FROM users
            WHERE id = ?1
            """, [.id(user)])
        guard let row else { return (LanguageChoices(), 0) }
        var reader = ColumnReader(row)
        return (try Self.choices(&reader), try reader.integer())
    }

    /// Reads `translation_mode, translation_into, translation_tone, intelligence, hints`.
    static func choices(_ reader: inout ColumnReader) throws -> LanguageChoices {
        let (mode, into, tone) = (
            try reader.textIfPresent(), try reader.textIfPresent(), try reader.textIfPresent()
        )
        let (level, hints) = (try reader.textIfPresent(), try reader.textIfPresent())
        return LanguageChoices(
            translation: mode.flatMap { TranslationMode(rawValue: $0) }.map {
                TranslationSettings(
                    mode: $0, into: into.flatMap { LanguageTag(wellFormed: $0) },
                    tone: tone.flatMap { TranslationTone(rawValue: $0) })
            }, intelligence: level.flatMap { IntelligenceLevel(rawValue: $0) },
            hints: hints.flatMap { TranslationMode(rawValue: $0) })
    }

    static func values(of choices: LanguageChoices) -> [SQLValue] {
        [
            .text(choices.translation?.mode.rawValue), .text(choices.translation?.into?.string),
            .text(choices.translation?.tone?.rawValue), .text(choices.intelligence?.rawValue),
            .text(choices.hints?.rawValue),
        ]
    }

    package func translations(
        of numbers: [Int64], into target: TranslationTarget, in conversation: ConversationID
    ) throws -> [MessageTranslation] {
        try numbers.batches.flatMap { batch in
            try sql.query(
                """
                SELECT \(Self.translationColumns) FROM translations
                WHERE conversation_id = ?1 AND language = ?2 AND tone = ?3
                    AND number IN \(Placeholders.list(batch.count, from: 4))
                """, [.id(conversation)] + Self.values(of: target) + batch.map { .integer($0) }
            ).map { try Self.translation($0) }
        }
    }

    package func translations(
        in conversation: ConversationID, into target: TranslationTarget, touchedAfter counter: Int64, limit: Int
    ) throws -> [MessageTranslation] {
        try sql.query(
            """
            SELECT \(Self.translationColumns) FROM translations
            WHERE conversation_id = ?1 AND language = ?2 AND tone = ?3 AND touched > ?4 ORDER BY touched LIMIT ?5
            """, [.id(conversation)] + Self.values(of: target) + [.integer(counter), .integer(limit)]
        ).map { try Self.translation($0) }
    }

    package func translations(
        of number: Int64, in conversation: ConversationID
    ) throws -> [MessageTranslation] {
        try sql.query(
            "SELECT \(Self.translationColumns) FROM translations WHERE conversation_id = ?1 AND number = ?2",
            [.id(conversation), .integer(number)]
        ).map { try Self.translation($0) }
    }

    package func translation(
        of number: Int64, textVersion: Int64, into target: TranslationTarget, in conversation: ConversationID
    ) throws -> MessageTranslation? {
        try sql.first(
            """
            SELECT \(Self.translationColumns) FROM translations
            WHERE conversation_id = ?1 AND language = ?2 AND tone = ?3 AND number = ?4 AND of_version = ?5
            """, [.id(conversation)] + Self.values(of: target) + [.integer(number), .integer(textVersion)]
        ).map { try Self.translation($0) }
    }

    package func save(_ translation: MessageTranslation, for audience: TranslationAudience) throws {
        if translation.text == nil, !hasErasedTexts,
            let known = try self.translation(
                of: translation.number, textVersion: translation.of, into: translation.target,
                in: translation.conversation)
        {
            hasErasedTexts = known.text != nil
        }
        try sql.execute(
            """
            INSERT INTO translations (\(Self.translationColumns))
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
            ON CONFLICT (conversation_id, number, language, tone, of_version)
            DO UPDATE SET status = ?6, reason = ?7, text = ?8, engine = ?9, kind = ?10, level = ?11, terms = ?12,
                touched = ?13
            """,
            [
                .id(translation.conversation), .integer(translation.number), .text(translation.language.string),
                .text(translation.target.tone?.rawValue ?? ""), .integer(translation.of),
                .text(translation.status.rawValue), .text(translation.reason?.rawValue),
                .text(translation.text), .text(translation.engine), .text(translation.kind?.rawValue),
                .text(translation.level.rawValue), .text(translation.terms), .integer(translation.touched),
            ])
        touched.save(translation, for: audience)
    }

    package func removeTranslations(of number: Int64, in conversation: ConversationID) throws {
        messagesWithChangedTexts[conversation, default: []].insert(number)
        for table in ["translations", "hints", "jobs"] {
            try sql.execute(
                "DELETE FROM \(table) WHERE conversation_id = ?1 AND number = ?2",
                [.id(conversation), .integer(number)])
        }
        try removeSummaries(with: number, in: conversation)
        try removeOutdatedVectors(of: number, in: conversation)
        try withdrawSentences(restingOn: number, in: conversation)
    }

    private static func translation(_ row: SQLRow) throws -> MessageTranslation {
        var reader = ColumnReader(row)
        return MessageTranslation(
            conversation: try reader.id(), number: try reader.integer(), target: try target(&reader),
            of: try reader.integer(), status: try reader.enumCase(),
            reason: try reader.textIfPresent().flatMap { MessageTranslation.Reason(rawValue: $0) },
            text: try reader.textIfPresent(), engine: try reader.textIfPresent(),
            kind: try reader.textIfPresent().flatMap { TranslationKind(rawValue: $0) },
            level: try reader.enumCase(), terms: try reader.text(), touched: try reader.integer())
    }

    /// Of `language, tone`.
    fileprivate static func target(_ reader: inout ColumnReader) throws -> TranslationTarget {
        let language = try language(&reader)
        return TranslationTarget(language, tone: TranslationTone(rawValue: try reader.text()))
    }

    fileprivate static func values(of target: TranslationTarget) -> [SQLValue] {
        [.text(target.language.string), .text(target.tone?.rawValue ?? "")]
    }

    static func language(_ reader: inout ColumnReader) throws -> LanguageTag {
        guard let tag = LanguageTag(wellFormed: try reader.text()) else {
            throw SQLError(.unexpectedValue, "A row has a language that is no tag.")
        }
        return tag
    }
}

// What may be made of messages, when that changes.
extension StoreTransaction {
    package func translations(
        in conversation: ConversationID, after number: Int64, limit: Int
    ) throws -> [MessageTranslation] {
        try sql.query(
            """
            SELECT \(Self.translationColumns) FROM translations WHERE conversation_id = ?1 AND number > ?2
            ORDER BY number LIMIT ?3
            """, [.id(conversation), .integer(number), .integer(limit)]
        ).map { try Self.translation($0) }
    }

    package func checkLevels(in conversation: ConversationID) throws {
        try sql.execute(
            "INSERT INTO level_checks (conversation_id) VALUES (?1) ON CONFLICT (conversation_id) DO UPDATE SET again = 1",
            [.id(conversation)])
        try checkVectors(in: conversation)
        hasDemandedJobs = true
    }

    /// Of all conversations of the user, and of those to which somebody has forwarded what they wrote.
    func checkLevels(of user: UserID) throws {
        try sql.execute(
            """
            INSERT INTO level_checks (conversation_id)
            SELECT conversation_id FROM (
                SELECT conversation_id FROM members WHERE user_id = ?1
                UNION SELECT conversation_id FROM messages WHERE forwarded_from = ?1) affected
            WHERE 1 = 1 ON CONFLICT (conversation_id) DO UPDATE SET again = 1
            """, [.id(user)])
        try checkVectors(of: user)
        hasDemandedJobs = true
    }

    package func checkLevels(above ceiling: IntelligenceLevel) throws {
        let above = IntelligenceLevel.allCases.filter { $0 > ceiling }
        guard !above.isEmpty else { return }
        try sql.execute(
            """
            INSERT INTO level_checks (conversation_id) SELECT DISTINCT conversation_id FROM (
                SELECT conversation_id, level FROM translations WHERE text IS NOT NULL
                UNION ALL SELECT conversation_id, level FROM hints WHERE items IS NOT NULL
                UNION ALL SELECT s.conversation_id, CASE WHEN r.is_hosted THEN 'full' ELSE 'local' END
                    FROM assistant_sources s JOIN assistant_runs r ON r.id = s.run_id
                UNION ALL SELECT conversation_id, level FROM summary_blocks) made
            WHERE level IN \(Placeholders.list(above.count)) ON CONFLICT (conversation_id) DO UPDATE SET again = 1
            """, above.map { .text($0.rawValue) })
    }

    package func conversationWithChangedLevels(after last: ConversationID?) throws -> ConversationID? {
        let next = try sql.first(
            "SELECT conversation_id FROM level_checks WHERE conversation_id > ?1 ORDER BY conversation_id LIMIT 1",
            [.text(last?.text ?? "")])
        // By turns.
        return try (next ?? sql.first("SELECT conversation_id FROM level_checks ORDER BY conversation_id LIMIT 1"))
            .map { try $0.id(0) }
    }

    package func endLevelCheck(of conversation: ConversationID) throws {
        let again = try sql.execute(
            "UPDATE level_checks SET again = 0 WHERE conversation_id = ?1 AND again = 1", [.id(conversation)])
        guard again == 0 else { return }
        try sql.execute("DELETE FROM level_checks WHERE conversation_id = ?1", [.id(conversation)])
    }
}

// What hosted services were given.
extension StoreTransaction {
    package func providerUsage(of user: UserID?, in period: String) throws -> ProviderUsage {
        let row = try sql.first(
            "SELECT characters, milliseconds FROM provider_usage WHERE scope = ?1 AND period = ?2",
            [.text(user?.text ?? ""), .text(period)])
        return ProviderUsage(characters: try row?.integer(0) ?? 0, milliseconds: try row?.integer(1) ?? 0)
    }

    package func addProviderUsage(_ usage: ProviderUsage, of user: UserID?, in period: String) throws {
        try sql.execute(
            """
            INSERT INTO provider_usage (scope, period, characters, milliseconds) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT (scope, period) DO UPDATE SET characters = provider_usage.characters + ?3,
                milliseconds = provider_usage.milliseconds + ?4
            """,
            [
                .text(user?.text ?? ""), .text(period), .integer(usage.characters), .integer(usage.milliseconds),
            ])
    }

    package func insert(_ call: ProviderCall) throws -> Int64 {
        let row = try sql.first(
            """
            INSERT INTO provider_calls (
                at, payer, purpose, engine, texts, characters, input_tokens, cached_tokens, output_tokens,
                micro_dollars, estimated, milliseconds)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) RETURNING id
            """,
            [
                .time(call.at), .id(call.payer), .text(call.purpose), .text(call.engine), .integer(call.texts),
                .integer(call.given.characters), .integer(call.tokens.input), .integer(call.tokens.cached),
                .integer(call.tokens.output), .integer(call.microDollars), .integer(call.isEstimated ? 1 : 0),
                .integer(call.given.milliseconds),
            ])
        return try row?.integer(0) ?? 0
    }

    package func update(_ call: ProviderCall) throws {
        try sql.execute(
            """
            UPDATE provider_calls SET characters = ?2, outcome = ?3, input_tokens = ?4, cached_tokens = ?5,
                output_tokens = ?6, micro_dollars = ?7, estimated = ?8, milliseconds = ?9
            WHERE id = ?1
            """,
            [
                .integer(call.id), .integer(call.given.characters), .text(call.outcome?.rawValue),
                .integer(call.tokens.input), .integer(call.tokens.cached), .integer(call.tokens.output),
                .integer(call.microDollars), .integer(call.isEstimated ? 1 : 0), .integer(call.given.milliseconds),
            ])
    }

    /// Removes up to `limit` calls that are older, and what was counted of those times. Returns how many.
    package func removeProviderCalls(before time: Timestamp, limit: Int) throws -> Int {
        try sql.execute("DELETE FROM provider_usage WHERE period < ?1", [.text(String(time.text.prefix(7)))])
        return try sql.execute(
            "DELETE FROM provider_calls WHERE id IN (SELECT id FROM provider_calls WHERE at < ?1 ORDER BY at LIMIT ?2)",
            [.time(time), .integer(limit)])
    }
}

// The rows of what is to be translated.
extension StoreTransaction {
    private static let jobColumns = """
        id, fence, attempts, created_at, conversation_id, number, language, tone, of_version, author, source, payer, purpose
        """

    package func demand(_ job: TranslationJob) throws {
        try sql.execute(
            """
            INSERT INTO jobs (
                conversation_id, number, language, tone, of_version, author, source, payer, created_at, demanded_at,
                not_before, fence, attempts, purpose)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9, ?9, 0, 0, ?10)
            ON CONFLICT (conversation_id, number, language, tone, of_version, purpose) DO UPDATE SET
                demanded_at = ?9, source = ?7,
                not_before = CASE WHEN source = ?7 THEN not_before ELSE ?9 END,
                fence = CASE WHEN source = ?7 THEN fence ELSE fence + 1 END
            """,
            [.id(job.conversation), .integer(job.number)] + Self.values(of: job.target) + [
                .integer(job.of), .id(job.author), .text(job.source.string), .id(job.payer), .time(now),
                .text(job.purpose.rawValue),
            ])
        hasDemandedJobs = true
    }

    package func claimJobs(limit: Int, until lease: Timestamp) throws -> [ClaimedJob] {
        let newest = try sql.first(
            """
            SELECT \(Self.jobColumns) FROM jobs WHERE not_before <= ?1 ORDER BY demanded_at DESC, id DESC LIMIT 1
            """, [.time(now)]
        ).map { try Self.claim($0) }
        guard let first = newest?.job else { return [] }
        let due = try sql.query(
            """
            SELECT \(Self.jobColumns) FROM jobs
            WHERE conversation_id = ?1 AND author = ?2 AND source = ?3 AND language = ?4 AND tone = ?5
                AND purpose = ?6 AND not_before <= ?7
            ORDER BY demanded_at DESC, number DESC LIMIT ?8
            """,
            [.id(first.conversation), .id(first.author), .text(first.source.string)] + Self.values(of: first.target)
                + [.text(first.purpose.rawValue), .time(now), .integer(first.purpose == .hints ? 1 : limit)]
        ).map { try Self.claim($0) }
        return try due.compactMap { claim in
            var claim = claim
            let claimed = try sql.execute(
                "UPDATE jobs SET not_before = ?3, fence = fence + 1, attempts = attempts + 1 WHERE id = ?1 AND fence = ?2",
                [.integer(claim.id), .integer(claim.fence), .time(lease)])
            guard claimed == 1 else { return nil }
            (claim.fence, claim.attempts) = (claim.fence + 1, claim.attempts + 1)
            return claim
        }
    }

    package func finish(_ claim: ClaimedJob) throws -> Bool {
        try sql.execute("DELETE FROM jobs WHERE \(Self.isClaimed)", Self.values(of: claim)) == 1
    }

    package func postpone(_ claim: ClaimedJob, until time: Timestamp) throws -> Bool {
        try sql.execute(
            "UPDATE jobs SET not_before = ?9, fence = fence + 1 WHERE \(Self.isClaimed)",
            Self.values(of: claim) + [.time(time)]) == 1
    }

    /// A later job may have the id of one that is gone, and its fence.
    private static let isClaimed = """
        id = ?1 AND fence = ?2 AND conversation_id = ?3 AND number = ?4 AND language = ?5 AND tone = ?6
        AND of_version = ?7 AND purpose = ?8
        """

    private static func values(of claim: ClaimedJob) -> [SQLValue] {
        let job = claim.job
        return [.integer(claim.id), .integer(claim.fence), .id(job.conversation), .integer(job.number)]
            + values(of: job.target) + [.integer(job.of), .text(job.purpose.rawValue)]
    }

    package func nextJobDue() throws -> Timestamp? {
        try sql.first("SELECT not_before FROM jobs ORDER BY not_before LIMIT 1")?.time(0)
    }

    package func oldestJobs(beyond count: Int, limit: Int) throws -> [ClaimedJob] {
        let total = try sql.first("SELECT COUNT(*) FROM jobs")?.int(0) ?? 0
        guard total > count else { return [] }
        return try sql.query(
            "SELECT \(Self.jobColumns) FROM jobs ORDER BY demanded_at, id LIMIT ?1",
            [.integer(min(limit, total - count))]
        ).map { try Self.claim($0) }
    }

    private static func claim(_ row: SQLRow) throws -> ClaimedJob {
        var reader = ColumnReader(row)
        let (id, fence, attempts, createdAt) = (
            try reader.integer(), try reader.integer(), try reader.int(), try reader.time()
        )
        let job = TranslationJob(
            conversation: try reader.id(), number: try reader.integer(), target: try target(&reader),
            of: try reader.integer(), author: try reader.id(), source: try language(&reader), payer: try reader.id(),
            purpose: try reader.enumCase())
        return ClaimedJob(id: id, fence: fence, attempts: attempts, firstDemandedAt: createdAt, job: job)
    }
}
