internal import Accounts
package import Assistant
package import Model

// The rows of questions and answers.
extension StoreTransaction: AssistantStore {
    private static let threadColumns =
        "t.id, t.user_id, t.title, t.created_at, t.updated_at, "
        + "(SELECT COUNT(*) FROM assistant_runs r WHERE r.thread_id = t.id)"
    private static let runColumns =
        "id, thread_id, user_id, question, conversation_id, audience, asked_at, status, reason, tools, model, is_hosted, "
        + "calls, characters, ended_at"
    /// In which the rest of a thread or run is.
    private static let parts = ["assistant_sentences", "assistant_citations", "assistant_sources"]

    package func displayName(of user: UserID) throws -> String? { try self.user(user)?.displayName }

    // MARK: Threads

    package func assistantThread(_ id: AssistantThreadID) throws -> AssistantThread? {
        try sql.first("SELECT \(Self.threadColumns) FROM assistant_threads t WHERE t.id = ?1", [.id(id)])
            .map { try Self.thread($0) }
    }

    package func assistantThreads(
        of user: UserID, after cursor: ThreadCursor?, limit: Int
    ) throws -> [AssistantThread] {
        let after = cursor.map { [SQLValue.time($0.updatedAt), .id($0.id)] }
        return try sql.query(
            """
            SELECT \(Self.threadColumns) FROM assistant_threads t
            WHERE t.user_id = ?1 \(after == nil ? "" : "AND (t.updated_at, t.id) < (?3, ?4)")
            ORDER BY t.updated_at DESC, t.id DESC LIMIT ?2
            """, [.id(user), .integer(limit)] + (after ?? [])
        ).map { try Self.thread($0) }
    }

    package func insert(_ thread: AssistantThread) throws {
        try sql.execute(
            "INSERT INTO assistant_threads (id, user_id, title, created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?5)",
            [.id(thread.id), .id(thread.user), .text(thread.title), .time(thread.createdAt), .time(thread.updatedAt)])
    }

    package func update(_ thread: AssistantThread) throws {
        try sql.execute(
            "UPDATE assistant_threads SET updated_at = ?2 WHERE id = ?1", [.id(thread.id), .time(thread.updatedAt)])
    }

    package func removeAssistantThread(_ id: AssistantThreadID) throws {
        hasErasedTexts = true
        for table in Self.parts {
            try sql.execute(
                "DELETE FROM \(table) WHERE run_id IN (SELECT id FROM assistant_runs WHERE thread_id = ?1)", [.id(id)])
        }
        try sql.execute("DELETE FROM assistant_runs WHERE thread_id = ?1", [.id(id)])
        try sql.execute("DELETE FROM assistant_threads WHERE id = ?1", [.id(id)])
        try forgetClientIDs(scope: id.text)
    }

    private static func thread(_ row: SQLRow) throws -> AssistantThread {
        var reader = ColumnReader(row)
        var thread = AssistantThread(
            id: try reader.id(), user: try reader.id(), title: try reader.text(), createdAt: try reader.time())
        thread.updatedAt = try reader.time()
        thread.runs = try reader.int()
        return thread
    }

    // MARK: Runs

    package func assistantRun(_ id: AssistantRunID) throws -> AssistantRun? {
        try sql.first("SELECT \(Self.runColumns) FROM assistant_runs WHERE id = ?1", [.id(id)]).map { try run($0) }
    }

    package func assistantRuns(of thread: AssistantThreadID) throws -> [AssistantRun] {
        try sql.query(
            "SELECT \(Self.runColumns) FROM assistant_runs WHERE thread_id = ?1 ORDER BY position", [.id(thread)]
        ).map { try run($0) }
    }

    package func runningAssistantRuns() throws -> [AssistantRunID] {
        try sql.query("SELECT id FROM assistant_runs WHERE status = 'running'", []).map { try $0.id(0) }
    }

    package func insert(_ run: AssistantRun) throws {
        try sql.execute(
            """
            INSERT INTO assistant_runs (\(Self.runColumns), position)
            SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15,
                COALESCE((SELECT MAX(position) FROM assistant_runs WHERE thread_id = ?2), 0) + 1
            """,
            [
                .id(run.id), .id(run.thread), .id(run.user), .text(run.question), .id(run.scope.conversation),
                .text(run.scope.audience.rawValue), .time(run.askedAt), .text(run.status.rawValue),
                .text(run.reason?.rawValue), .text(Self.text(run.tools)), .text(run.model), .bool(run.isHosted),
                .integer(run.calls), .integer(run.characters), .time(run.endedAt),
            ])
    }

    package func update(_ run: AssistantRun, shown: [AnswerCitation]) throws {
        try sql.execute(
            """
            UPDATE assistant_runs SET status = ?2, reason = ?3, tools = ?4, calls = ?5, characters = ?6, ended_at = ?7
            WHERE id = ?1
            """,
            [
                .id(run.id), .text(run.status.rawValue), .text(run.reason?.rawValue), .text(Self.text(run.tools)),
                .integer(run.calls), .integer(run.characters), .time(run.endedAt),
            ])
        for table in Self.parts { try sql.execute("DELETE FROM \(table) WHERE run_id = ?1", [.id(run.id)]) }
        for (position, sentence) in run.sentences.enumerated() {
            try sql.execute(
                """
                INSERT INTO assistant_sentences
                    (run_id, position, user_id, text, starts_line, is_cited, is_withdrawn)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
                """,
                [
                    .id(run.id), .integer(position), .id(run.user), .text(sentence.text),
                    .bool(sentence.startsLine), .bool(!sentence.citations.isEmpty), .bool(sentence.isWithdrawn),
                ])
            for (rank, citation) in sentence.citations.enumerated() {
                try sql.execute(
                    """
                    INSERT INTO assistant_citations
                        (conversation_id, number, run_id, position, rank, of_version, user_id)
                    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO NOTHING
                    """,
                    [
                        .id(citation.conversation), .integer(citation.number), .id(run.id), .integer(position),
                        .integer(rank), .integer(citation.of), .id(run.user),
                    ])
            }
        }
        for citation in shown {
            try sql.execute(
                """
                INSERT INTO assistant_sources (conversation_id, number, run_id, of_version, user_id)
                VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING
                """,
                [
                    .id(citation.conversation), .integer(citation.number), .id(run.id), .integer(citation.of),
                    .id(run.user),
                ])
        }
    }

    package func assistantSources(of run: AssistantRunID) throws -> [AnswerCitation] {
        try sql.query(
            "SELECT conversation_id, number, of_version FROM assistant_sources WHERE run_id = ?1", [.id(run)]
        ).map { row in
            var reader = ColumnReader(row)
            return AnswerCitation(
                conversation: try reader.id(), number: try reader.integer(), of: try reader.integer())
        }
    }

    package func removeAssistantRun(_ id: AssistantRunID) throws {
        hasErasedTexts = true
        for table in Self.parts { try sql.execute("DELETE FROM \(table) WHERE run_id = ?1", [.id(id)]) }
        try sql.execute("DELETE FROM assistant_runs WHERE id = ?1", [.id(id)])
    }

    private func run(_ row: SQLRow) throws -> AssistantRun {
        var reader = ColumnReader(row)
        let (id, thread, user) = try (
            reader.id(of: Entities.AssistantRun.self), reader.id(of: Entities.AssistantThread.self),
            reader.id(of: Entities.User.self)
        )
        let question = try reader.text()
        let scope = AssistantScope(conversation: try reader.idIfPresent(), audience: try reader.enumCase())
        let askedAt = try reader.time()
        let status: AssistantRun.Status = try reader.enumCase()
        let reason = try reader.textIfPresent().flatMap { AssistantRun.Reason(rawValue: $0) }
        let tools = try reader.text().split(separator: ",").compactMap { AssistantTool(rawValue: String($0)) }
        var run = AssistantRun(
            id: id, thread: thread, user: user, question: question, scope: scope, askedAt: askedAt,
            model: try reader.text(), isHosted: try reader.bool())
        (run.status, run.reason, run.tools) = (status, reason, tools)
        run.calls = try reader.int()
        run.characters = try reader.integer()
        run.endedAt = try reader.timeIfPresent()
        run.sentences = try sentences(of: id)
        return run
    }

    private func sentences(of run: AssistantRunID) throws -> [AnswerSentence] {
        var sentences = try sql.query(
            """
            SELECT text, starts_line, is_withdrawn FROM assistant_sentences WHERE run_id = ?1 ORDER BY position
            """, [.id(run)]
        ).map { row in
            var reader = ColumnReader(row)
            var sentence = AnswerSentence(try reader.text(), startsLine: try reader.bool())
            sentence.isWithdrawn = try reader.bool()
            return sentence
        }
        let citations = try sql.query(
            """
            SELECT position, conversation_id, number, of_version FROM assistant_citations WHERE run_id = ?1
            ORDER BY position, rank
            """, [.id(run)])
        for row in citations {
            var reader = ColumnReader(row)
            let position = try reader.int()
            let citation = AnswerCitation(
                conversation: try reader.id(), number: try reader.integer(), of: try reader.integer())
            if sentences.indices.contains(position) { sentences[position].citations.append(citation) }
        }
        return sentences
    }

    private static func text(_ tools: [AssistantTool]) -> String { tools.map(\.rawValue).joined(separator: ",") }

    // MARK: What they rest on

    package func withdrawSentences(restingOn number: Int64, in conversation: ConversationID) throws {
        // What is cited was shown: of most messages nothing was.
        let shown = try sql.first(
            "SELECT 1 FROM assistant_sources WHERE conversation_id = ?1 AND number = ?2 LIMIT 1",
            [.id(conversation), .integer(number)])
        guard shown != nil else { return }
        hasErasedTexts = true
        try sql.execute(
            """
            UPDATE assistant_sentences SET text = '', is_withdrawn = 1
            WHERE (run_id, position) IN
                (SELECT run_id, position FROM assistant_citations WHERE conversation_id = ?1 AND number = ?2)
            """, [.id(conversation), .integer(number)])
        // What rests on nothing may rest on it.
        try sql.execute(
            """
            UPDATE assistant_sentences SET text = '', is_withdrawn = 1
            WHERE is_cited = 0
                AND run_id IN (SELECT run_id FROM assistant_sources WHERE conversation_id = ?1 AND number = ?2)
            """, [.id(conversation), .integer(number)])
        try sql.execute(
            "DELETE FROM assistant_sources WHERE conversation_id = ?1 AND number = ?2",
            [.id(conversation), .integer(number)])
    }

    package func assistantSources(
        in conversation: ConversationID, after number: Int64, limit: Int
    ) throws -> [(number: Int64, isHosted: Bool)] {
        try sql.query(
            """
            SELECT s.number, r.is_hosted FROM assistant_sources s JOIN assistant_runs r ON r.id = s.run_id
            WHERE s.conversation_id = ?1 AND s.number > ?2 ORDER BY s.number LIMIT ?3
            """, [.id(conversation), .integer(number), .integer(limit)]
        ).map { (number: try $0.integer(0), isHosted: try $0.bool(1)) }
    }

    package func rememberQuestion(
        _ clientID: ClientID, of user: UserID, digest: [UInt8], run: AssistantRunID, in thread: AssistantThreadID
    ) throws -> QuestionMemory {
        switch try remember(
            clientID: clientID, user: user, bodyHash: digest, entity: run.text, scope: thread.text)
        {
        case .new: return .new
        case .reused: return .reused
        case .same(let entity): return AssistantRunID(entity).map { .same($0) } ?? .reused
        }
    }
}
