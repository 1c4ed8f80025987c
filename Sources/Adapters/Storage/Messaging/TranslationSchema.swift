extension DatabaseSchema {
    /// What is derived from messages, and what is to be derived.
    ///
    /// A translation belongs to one `textVersion` of a message (`of_version`), and `touched` is the store's counter of its
    /// last change. The newest demand of a job is served first; `not_before` is also the end of a claim's lease, and only
    /// the latest claim (`fence`) may end it. `choices_since` is the counter when a user last chose how to read. `level_checks` are the conversations whose
    /// translations may be more than is allowed now.
    static let translations = [
        Migration(
            51, "translations",
            [
                """
                CREATE TABLE translations (
                    conversation_id TEXT NOT NULL, number BIGINT NOT NULL, language TEXT NOT NULL,
                    of_version BIGINT NOT NULL, status TEXT NOT NULL, reason TEXT, text TEXT, engine TEXT, kind TEXT,
                    level TEXT NOT NULL, touched BIGINT NOT NULL,
                    PRIMARY KEY (conversation_id, number, language, of_version))
                """,
                "CREATE INDEX translations_touched ON translations (conversation_id, language, touched)",
                """
                CREATE TABLE jobs (
                    id INTEGER PRIMARY KEY, conversation_id TEXT NOT NULL, number BIGINT NOT NULL,
                    language TEXT NOT NULL, of_version BIGINT NOT NULL, author TEXT NOT NULL, source TEXT NOT NULL,
                    payer TEXT NOT NULL, created_at BIGINT NOT NULL, demanded_at BIGINT NOT NULL,
                    not_before BIGINT NOT NULL, fence BIGINT NOT NULL, attempts BIGINT NOT NULL,
                    UNIQUE (conversation_id, number, language, of_version))
                """,
                "CREATE TABLE level_checks (conversation_id TEXT PRIMARY KEY)",
                "CREATE INDEX jobs_demanded ON jobs (demanded_at)",
                "CREATE INDEX jobs_due ON jobs (not_before)",
                "ALTER TABLE conversations ADD COLUMN intelligence TEXT",
            ]
                + ["users", "memberships"].flatMap { table in
                    [
                        "ALTER TABLE \(table) ADD COLUMN translation_mode TEXT",
                        "ALTER TABLE \(table) ADD COLUMN translation_into TEXT",
                        "ALTER TABLE \(table) ADD COLUMN intelligence TEXT",
                        "ALTER TABLE \(table) ADD COLUMN choices_since BIGINT NOT NULL DEFAULT 0",
                    ]
                }),
        // Without texts. `scope` is a user, or empty for all; `period` is a day for users, and a month for all.
        Migration(
            52, "calls of hosted services",
            [
                """
                CREATE TABLE provider_calls (
                    id INTEGER PRIMARY KEY, at BIGINT NOT NULL, payer TEXT NOT NULL, purpose TEXT NOT NULL,
                    engine TEXT NOT NULL, texts BIGINT NOT NULL, characters BIGINT NOT NULL, outcome TEXT)
                """,
                "CREATE INDEX provider_calls_at ON provider_calls (at)",
                "CREATE INDEX provider_calls_payer ON provider_calls (payer)",
                """
                CREATE TABLE provider_usage (
                    scope TEXT NOT NULL, period TEXT NOT NULL, characters BIGINT NOT NULL, PRIMARY KEY (scope, period))
                """,
            ]),
        // The counter when an operator last erased translations.
        Migration(
            53, "erased translations", ["ALTER TABLE log ADD COLUMN translations_since BIGINT NOT NULL DEFAULT 0"]),
        // How readers are spoken to (`tone`, empty as the text is), and what terms are translated to. `terms` is the
        // fingerprint of those that a translation was made with.
        Migration(
            54, "tones and glossaries",
            [
                """
                CREATE TABLE glossary_terms (
                    conversation_id TEXT NOT NULL, position BIGINT NOT NULL, source TEXT NOT NULL, target TEXT NOT NULL,
                    language TEXT NOT NULL, PRIMARY KEY (conversation_id, position))
                """,
                "ALTER TABLE users ADD COLUMN translation_tone TEXT",
                "ALTER TABLE memberships ADD COLUMN translation_tone TEXT",
                "ALTER TABLE translations RENAME TO older_translations",
                """
                CREATE TABLE translations (
                    conversation_id TEXT NOT NULL, number BIGINT NOT NULL, language TEXT NOT NULL,
                    tone TEXT NOT NULL DEFAULT '', of_version BIGINT NOT NULL, status TEXT NOT NULL, reason TEXT, text TEXT,
                    engine TEXT, kind TEXT, level TEXT NOT NULL, terms TEXT NOT NULL DEFAULT '', touched BIGINT NOT NULL,
                    PRIMARY KEY (conversation_id, number, language, tone, of_version))
                """,
                """
                INSERT INTO translations (
                    conversation_id, number, language, of_version, status, reason, text, engine, kind, level, touched)
                SELECT conversation_id, number, language, of_version, status, reason, text, engine, kind, level, touched
                FROM older_translations
                """,
                "DROP TABLE older_translations",
                "CREATE INDEX translations_touched ON translations (conversation_id, language, tone, touched)",
                // Those that wait are demanded again by who reads.
                "DROP TABLE jobs",
                "DELETE FROM translations WHERE status = 'queued'",
                """
                CREATE TABLE jobs (
                    id INTEGER PRIMARY KEY, conversation_id TEXT NOT NULL, number BIGINT NOT NULL,
                    language TEXT NOT NULL, tone TEXT NOT NULL, of_version BIGINT NOT NULL, author TEXT NOT NULL,
                    source TEXT NOT NULL, payer TEXT NOT NULL, created_at BIGINT NOT NULL, demanded_at BIGINT NOT NULL,
                    not_before BIGINT NOT NULL, fence BIGINT NOT NULL, attempts BIGINT NOT NULL,
                    UNIQUE (conversation_id, number, language, tone, of_version))
                """,
                "CREATE INDEX jobs_demanded ON jobs (demanded_at)",
                "CREATE INDEX jobs_due ON jobs (not_before)",
            ]),
        // What readers may not understand: `items` is a list of hints as JSON. Jobs are also for these (`purpose`).
        Migration(
            55, "hints",
            [
                """
                CREATE TABLE hints (
                    conversation_id TEXT NOT NULL, number BIGINT NOT NULL, language TEXT NOT NULL,
                    of_version BIGINT NOT NULL, status TEXT NOT NULL, reason TEXT, items TEXT, engine TEXT, kind TEXT,
                    level TEXT NOT NULL, touched BIGINT NOT NULL,
                    PRIMARY KEY (conversation_id, number, language, of_version))
                """,
                "CREATE INDEX hints_touched ON hints (conversation_id, language, touched)",
                "ALTER TABLE users ADD COLUMN hints TEXT",
                "ALTER TABLE memberships ADD COLUMN hints TEXT",
                // Those that wait are demanded again by who reads.
                "DROP TABLE jobs",
                "DELETE FROM translations WHERE status = 'queued'",
                """
                CREATE TABLE jobs (
                    id INTEGER PRIMARY KEY, conversation_id TEXT NOT NULL, number BIGINT NOT NULL,
                    language TEXT NOT NULL, tone TEXT NOT NULL, of_version BIGINT NOT NULL, purpose TEXT NOT NULL,
                    author TEXT NOT NULL, source TEXT NOT NULL, payer TEXT NOT NULL, created_at BIGINT NOT NULL,
                    demanded_at BIGINT NOT NULL, not_before BIGINT NOT NULL, fence BIGINT NOT NULL,
                    attempts BIGINT NOT NULL,
                    UNIQUE (conversation_id, number, language, tone, of_version, purpose))
                """,
                "CREATE INDEX jobs_demanded ON jobs (demanded_at)",
                "CREATE INDEX jobs_due ON jobs (not_before)",
            ]),
    ]
}
