extension Schema {
    /// Media files, and the voice messages that some of them belong to.
    ///
    /// A file in the directory of media without a row here is what a crash left. `pair` is the two users in the order of
    /// their ids (`A:B`), so that what lies between them is found in one walk. Of a message that is withheld from its
    /// recipient it is `sender>recipient`, which the recipient's walk does not come across.
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

    /// What was said in media files, as JSON.
    static let transcripts: [Migration] = [
        Migration(
            8, "transcripts",
            [
                "CREATE TABLE transcripts (file_id TEXT PRIMARY KEY, status TEXT NOT NULL, data TEXT NOT NULL)",
                "CREATE INDEX transcripts_pending ON transcripts (status) WHERE status = 'pending'",
            ])
    ]
}
