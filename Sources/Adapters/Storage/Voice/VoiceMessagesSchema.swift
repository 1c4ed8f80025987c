extension DatabaseSchema {
    /// Voice files, and the older voice messages of two people as messages of kind `voice`.
    ///
    /// `voice_files` has what was recorded or uploaded; once it is sent, with its message. `messages.voice` is what the message
    /// shows of it, and `own.listened_at` when its reader listened to it first.
    static let voiceMessages: [Migration] = [
        Migration(
            46, "voice messages in conversations",
            [
                "ALTER TABLE messages ADD COLUMN voice TEXT",
                "ALTER TABLE own ADD COLUMN listened_at BIGINT",
                """
                CREATE TABLE voice_files (
                    file_id TEXT PRIMARY KEY, author TEXT NOT NULL, created_at BIGINT NOT NULL, duration BIGINT NOT NULL,
                    waveform BLOB NOT NULL, level BIGINT NOT NULL, conversation_id TEXT, number BIGINT) WITHOUT ROWID
                """,
                """
                INSERT INTO voice_files (file_id, author, created_at, duration, waveform, level)
                SELECT file_id, sender, created_at, duration, waveform, level FROM voice_messages
                """,
                "CREATE INDEX voice_files_author ON voice_files (author) WHERE conversation_id IS NULL",
                "CREATE INDEX voice_files_unsent ON voice_files (created_at) WHERE conversation_id IS NULL",
                "CREATE INDEX voice_files_sent ON voice_files (created_at) WHERE conversation_id IS NOT NULL",
                "UPDATE media_files SET resource = id WHERE kind = 'voice'",
                // What was sent by users who are being erased are messages now.
                """
                UPDATE erasures SET step = 'messages', cursor = ''
                WHERE step IN ('reactions', 'conversations', 'calls', 'voice_messages')
                """,
                // For the moves.
                "CREATE INDEX calls_numbered ON calls (conversation_id) WHERE number IS NOT NULL",
            ] + OlderVoiceMessages.preparation + ["CREATE INDEX older_voice_file ON older_voice (file_id)"],
            work: OlderVoiceMessages.move)
    ]
}

/// The older voice messages of two people. Their client ids stay, so that a request that is repeated is told that it was sent.
private enum OlderVoiceMessages {
    private static let columns = "pair, at, voice_id, sender, recipient, withheld, answered, client_id, file_id"

    static let preparation = moving.preparation(
        """
        voice_id TEXT NOT NULL, sender TEXT NOT NULL, recipient TEXT NOT NULL, withheld BIGINT NOT NULL,
        answered BIGINT NOT NULL, client_id TEXT NOT NULL, file_id TEXT NOT NULL
        """,
        filling: [
            "CREATE INDEX client_ids_entity ON client_ids (entity)",
            """
            INSERT INTO all_older_voice (\(columns))
            SELECT CASE WHEN v.sender < v.recipient THEN v.sender || ' ' || v.recipient
                    ELSE v.recipient || ' ' || v.sender END,
                v.created_at, v.id, v.sender, v.recipient, CASE WHEN v.pair LIKE '%>%' THEN 1 ELSE 0 END, 0,
                COALESCE((
                    SELECT MIN(c.client_id) FROM client_ids c WHERE c.entity = v.id AND c.user_id = v.sender
                        AND NOT EXISTS (
                            SELECT 1 FROM messages m WHERE m.author = v.sender AND m.client_id = c.client_id)),
                    v.id), v.file_id
            FROM voice_messages v JOIN media_files f ON f.id = v.file_id WHERE v.sender <> v.recipient
            """,
            // The messages have them now.
            """
            DELETE FROM client_ids WHERE EXISTS (
                SELECT 1 FROM voice_messages v WHERE v.id = client_ids.entity AND v.sender = client_ids.user_id)
            """,
            "DROP INDEX client_ids_entity",
            "DROP TABLE voice_messages",
        ], epoch: "v")

    static let move: @Sendable (any SQLTransaction) throws -> Bool = { try moving.move(in: $0) }

    private static let moving = OlderMessages(
        all: "all_older_voice", part: "older_voice", pairs: "older_voice_pairs", numbers: "voice_numbers",
        moved: "moved_by_voice", columns: columns, id: "voice_id", author: "sender", other: "recipient",
        renumberings: { $0.move("number", of: "calls") }, readMarks: [marks], messages: messages, results: results,
        finish: [imported, "DROP INDEX calls_numbered"])

    /// Who has read nothing has read those before the first that counts as unread: whether they were listened to was not
    /// known. The others have moved already.
    private static let marks = """
        INSERT INTO marks (conversation_id, user_id, read, delivered, counter)
        SELECT conversation_id, user_id, first, first, 0
        FROM (
            SELECT m.conversation_id, m.user_id, COALESCE((
                    SELECT MIN(o.number) - 1 FROM messages o
                    WHERE o.conversation_id = m.conversation_id AND (o.kind <> 'call' OR EXISTS (
                        SELECT 1 FROM missed_calls c
                        WHERE c.conversation_id = o.conversation_id AND c.number = o.number
                            AND c.user_id = m.user_id))),
                v.last_number + (
                    SELECT COUNT(*) FROM voice_numbers k WHERE k.conversation_id = m.conversation_id)) AS first
            FROM older_voice_pairs q CROSS JOIN conversations v CROSS JOIN members m
            WHERE v.id = q.conversation_id AND m.conversation_id = q.conversation_id AND NOT EXISTS (
                SELECT 1 FROM marks k WHERE k.conversation_id = m.conversation_id AND k.user_id = m.user_id)) found
        WHERE first > 0
        """

    /// `born` never falls as the number rises. The text is that of `StoredVoiceRecord`.
    private static let messages = [
        """
        INSERT INTO messages (
            conversation_id, number, client_id, author, sent_at, kind, version, text_version, withheld, text_withheld,
            digest, imported, born, voice)
        SELECT conversation_id, number, client_id, sender, at, 'voice', born, born, withheld, 0, X'', 0, born, voice
        FROM (
            SELECT k.conversation_id, k.before_number + k.place AS number, p.client_id, p.sender, p.at, p.withheld,
                COALESCE((
                    SELECT m.born FROM messages m
                    WHERE m.conversation_id = k.conversation_id AND m.number > k.before_number + k.place
                    ORDER BY m.number LIMIT 1),
                    v.sequence + 1) AS born,
                json_object(
                    'file', f.file_id, 'durationMs', f.duration, 'byteCount', s.byte_count, 'contentType', s.content_type,
                    'waveform', lower(hex(f.waveform)), 'level', f.level,
                    'transcript', json(json_remove(t.data, '$.segments'))) AS voice
            FROM voice_numbers k CROSS JOIN older_voice p CROSS JOIN voice_files f CROSS JOIN media_files s
            CROSS JOIN conversations v LEFT JOIN transcripts t ON t.file_id = p.file_id
            WHERE p.voice_id = k.voice_id AND f.file_id = p.file_id AND s.id = p.file_id AND v.id = k.conversation_id) made
        """
    ]

    private static let results = [
        """
        UPDATE voice_files SET
            conversation_id = (
                SELECT k.conversation_id FROM older_voice p CROSS JOIN voice_numbers k
                WHERE p.file_id = voice_files.file_id AND k.voice_id = p.voice_id),
            number = (
                SELECT k.before_number + k.place FROM older_voice p CROSS JOIN voice_numbers k
                WHERE p.file_id = voice_files.file_id AND k.voice_id = p.voice_id)
        WHERE file_id IN (SELECT file_id FROM older_voice)
        """
    ]

    /// An imported conversation that has other messages than these has them up to this one.
    private static let imported = """
        UPDATE imported SET last_number = COALESCE((
            SELECT MAX(m.number) FROM messages m WHERE m.conversation_id = imported.entity AND m.imported = 1), 0)
        WHERE kind = 'conversation' AND last_number > 0
            AND entity IN (SELECT f.conversation_id FROM voice_files f WHERE f.number IS NOT NULL)
        """
}
