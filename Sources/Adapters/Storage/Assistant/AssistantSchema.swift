extension DatabaseSchema {
    /// Questions to the assistant, and its answers. All of it is of one user.
    ///
    /// `assistant_sources` are the messages that the model of a run was shown, in one `textVersion` each (`of_version`), and
    /// `assistant_citations` those that one of its sentences rests on: by both, what rests on a message is found when that
    /// changes.
    static let assistant = [
        Migration(
            58, "assistant",
            [
                """
                CREATE TABLE assistant_threads (
                    id TEXT PRIMARY KEY, user_id TEXT NOT NULL, title TEXT NOT NULL, created_at BIGINT NOT NULL,
                    updated_at BIGINT NOT NULL)
                """,
                "CREATE INDEX assistant_threads_user ON assistant_threads (user_id, updated_at)",
                """
                CREATE TABLE assistant_runs (
                    id TEXT PRIMARY KEY, thread_id TEXT NOT NULL, user_id TEXT NOT NULL, position BIGINT NOT NULL,
                    question TEXT NOT NULL, conversation_id TEXT, audience TEXT NOT NULL, asked_at BIGINT NOT NULL,
                    status TEXT NOT NULL, reason TEXT, tools TEXT NOT NULL, model TEXT NOT NULL,
                    is_hosted BIGINT NOT NULL, calls BIGINT NOT NULL, characters BIGINT NOT NULL, ended_at BIGINT,
                    UNIQUE (thread_id, position))
                """,
                "CREATE INDEX assistant_runs_user ON assistant_runs (user_id)",
                "CREATE INDEX assistant_runs_running ON assistant_runs (id) WHERE status = 'running'",
                """
                CREATE TABLE assistant_sentences (
                    run_id TEXT NOT NULL, position BIGINT NOT NULL, user_id TEXT NOT NULL, text TEXT NOT NULL,
                    starts_line BIGINT NOT NULL, is_cited BIGINT NOT NULL, is_withdrawn BIGINT NOT NULL,
                    PRIMARY KEY (run_id, position)) WITHOUT ROWID
                """,
                "CREATE INDEX assistant_sentences_user ON assistant_sentences (user_id)",
                """
                CREATE TABLE assistant_citations (
                    conversation_id TEXT NOT NULL, number BIGINT NOT NULL, run_id TEXT NOT NULL,
                    position BIGINT NOT NULL, rank BIGINT NOT NULL, of_version BIGINT NOT NULL, user_id TEXT NOT NULL,
                    PRIMARY KEY (conversation_id, number, run_id, position)) WITHOUT ROWID
                """,
                "CREATE INDEX assistant_citations_run ON assistant_citations (run_id)",
                "CREATE INDEX assistant_citations_user ON assistant_citations (user_id)",
                """
                CREATE TABLE assistant_sources (
                    conversation_id TEXT NOT NULL, number BIGINT NOT NULL, run_id TEXT NOT NULL,
                    of_version BIGINT NOT NULL, user_id TEXT NOT NULL, PRIMARY KEY (conversation_id, number, run_id))
                    WITHOUT ROWID
                """,
                "CREATE INDEX assistant_sources_run ON assistant_sources (run_id)",
                "CREATE INDEX assistant_sources_user ON assistant_sources (user_id)",
            ])
    ]
}
