extension DatabaseSchema {
    /// Media files, and the voice messages that some of them belong to.
    ///
    /// A file in the media directory without a row here was left over by a crash. `pair` is the two users in the order
    /// of their ids (`A:B`), so that one index scan finds the messages between them. For a message that is withheld
    /// from its recipient it is `sender>recipient`, which the recipient's scan does not find.
    static let voice: [Migration] = [
        Migration(
            6, "voice messages",
            [
                """
                CREATE TABLE media_files (
                    id TEXT PRIMARY KEY, kind TEXT NOT NULL, resource TEXT NOT NULL, content_type TEXT NOT NULL,
                    byte_count BIGINT NOT NULL, created_at BIGINT NOT NULL)
                """,
                """
                CREATE TABLE voice_messages (
                    id TEXT PRIMARY KEY, pair TEXT NOT NULL, sender TEXT NOT NULL, recipient TEXT NOT NULL,
                    file_id TEXT NOT NULL, created_at BIGINT NOT NULL, duration BIGINT NOT NULL, waveform BLOB NOT NULL,
                    level BIGINT NOT NULL)
                """,
                "CREATE UNIQUE INDEX voice_messages_pair ON voice_messages (pair, id)",
            ])
    ]

    /// Transcripts of media files, as JSON.
    static let transcripts: [Migration] = [
        Migration(
            8, "transcripts",
            [
                "CREATE TABLE transcripts (file_id TEXT PRIMARY KEY, status TEXT NOT NULL, data TEXT NOT NULL)",
                "CREATE INDEX transcripts_pending ON transcripts (status) WHERE status = 'pending'",
            ])
    ]
}
