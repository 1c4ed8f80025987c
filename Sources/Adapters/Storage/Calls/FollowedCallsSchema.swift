extension DatabaseSchema {
    /// Messages that follow calls, and the older calls of two people as such messages.
    ///
    /// `calls.number` is that of the message in `calls.conversation_id`; `is_open` says that the conversation is a group, which
    /// has one live call. Of two people `pair` sees to that, since a call that is withheld from one of them does not keep that
    /// one from calling. `missed_calls` are unread for those who missed them.
    static let followedCalls: [Migration] = [
        Migration(
            45, "calls in conversations",
            [
                "ALTER TABLE messages ADD COLUMN call TEXT",
                "ALTER TABLE conversations ADD COLUMN live_call TEXT",
                "ALTER TABLE calls ADD COLUMN is_open BIGINT NOT NULL DEFAULT 0",
                "ALTER TABLE calls ADD COLUMN number BIGINT",
                "DROP INDEX calls_live_conversation",
                """
                CREATE INDEX calls_live_conversation ON calls (conversation_id)
                WHERE status <> 'ended' AND conversation_id IS NOT NULL
                """,
                """
                CREATE UNIQUE INDEX calls_live_group ON calls (conversation_id)
                WHERE status <> 'ended' AND is_open = 1
                """,
                """
                CREATE TABLE missed_calls (
                    conversation_id TEXT NOT NULL, number BIGINT NOT NULL, user_id TEXT NOT NULL,
                    PRIMARY KEY (conversation_id, number, user_id)) WITHOUT ROWID
                """,
                "CREATE INDEX missed_calls_user ON missed_calls (user_id, conversation_id, number)",
            ] + OlderCalls.preparation, work: OlderCalls.move)
    ]
}

/// The older calls of two people.
private enum OlderCalls {
    private static let columns = "pair, at, call_id, caller, callee, withheld, answered"

    static let preparation = moving.preparation(
        """
        call_id TEXT NOT NULL, caller TEXT NOT NULL, callee TEXT NOT NULL, withheld BIGINT NOT NULL,
        answered BIGINT NOT NULL
        """,
        filling: [
            """
            INSERT INTO all_older_calls (\(columns))
            SELECT CASE WHEN a.user_id < b.user_id THEN a.user_id || ' ' || b.user_id
                    ELSE b.user_id || ' ' || a.user_id END,
                c.created_at, c.id, a.user_id, b.user_id, b.withheld, CASE WHEN b.joined_at IS NULL THEN 0 ELSE 1 END
            FROM calls c JOIN participants a ON a.call_id = c.id AND a.place = 0
            JOIN participants b ON b.call_id = c.id AND b.place = 1
            WHERE c.conversation_id IS NULL AND a.user_id <> b.user_id
                AND NOT EXISTS (SELECT 1 FROM participants d WHERE d.call_id = c.id AND d.place = 2)
            """
        ], epoch: "c")

    static let move: @Sendable (any SQLTransaction) throws -> Bool = { try moving.move(in: $0) }

    private static let moving = OlderMessages(
        all: "all_older_calls", part: "older_calls", pairs: "older_pairs", numbers: "call_numbers", moved: "moved",
        columns: columns, id: "call_id", author: "caller", other: "callee", messages: messages, results: results,
        finish: [imported])

    /// `born` never falls as the number rises. The text is that of `text(of: CallRecord)`.
    private static let messages = [
        """
        INSERT INTO messages (
            conversation_id, number, client_id, author, sent_at, kind, version, text_version, withheld, text_withheld,
            digest, imported, born, call)
        SELECT conversation_id, number, call_id, caller, at, 'call', born, born, withheld, 0, X'', 0, born, call
        FROM (
            SELECT k.conversation_id, k.before_number + k.place AS number, k.call_id, p.caller, p.at, p.withheld,
                COALESCE((
                    SELECT m.born FROM messages m
                    WHERE m.conversation_id = k.conversation_id AND m.number > k.before_number + k.place
                    ORDER BY m.number LIMIT 1),
                    v.sequence + 1) AS born,
                '{"id":"' || c.id || '","kind":"' || c.kind || '","state":"' || c.status || '","startedAt":'
                    || c.created_at || COALESCE(',"answeredAt":' || c.answered_at, '')
                    || COALESCE(',"endedAt":' || c.ended_at, '')
                    || COALESCE(',"reason":"' || c.end_reason || '"', '')
                    || COALESCE(',"endedBy":"' || c.ended_by || '"', '')
                    || ',"participants":[{"user":"' || p.caller || '","state":"' || a.state || '"},{"user":"'
                    || p.callee || '","state":"' || b.state || '"}]}' AS call
            FROM call_numbers k CROSS JOIN older_calls p CROSS JOIN calls c CROSS JOIN participants a
            CROSS JOIN participants b CROSS JOIN conversations v
            WHERE p.call_id = k.call_id AND c.id = k.call_id AND a.call_id = k.call_id AND a.place = 0
                AND b.call_id = k.call_id AND b.place = 1 AND v.id = k.conversation_id) made
        """
    ]

    private static let results = [
        """
        UPDATE calls SET
            conversation_id = (SELECT k.conversation_id FROM call_numbers k WHERE k.call_id = calls.id),
            number = (SELECT k.before_number + k.place FROM call_numbers k WHERE k.call_id = calls.id)
        WHERE id IN (SELECT call_id FROM older_calls)
        """,
        """
        UPDATE conversations SET live_call = (
            SELECT '{"id":"' || c.id || '","kind":"' || c.kind || '","startedAt":' || c.created_at || ',"number":'
                || c.number || '}'
            FROM calls c JOIN older_calls p ON p.call_id = c.id
            WHERE c.conversation_id = conversations.id AND c.status <> 'ended' AND p.withheld = 0
            ORDER BY c.id DESC LIMIT 1)
        WHERE id IN (SELECT conversation_id FROM older_pairs)
        """,
    ]

    /// An imported conversation that has other messages than its calls has them up to this one.
    private static let imported = """
        UPDATE imported SET last_number = COALESCE((
            SELECT MAX(m.number) FROM messages m WHERE m.conversation_id = imported.entity AND m.imported = 1), 0)
        WHERE kind = 'conversation' AND last_number > 0
            AND entity IN (SELECT h.conversation_id FROM calls h WHERE h.number IS NOT NULL)
        """
}
