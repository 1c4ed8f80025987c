extension DatabaseSchema {
    /// What a language model has written of 64 numbers of a conversation (`block`, from 0), as JSON in `items`, for readers of
    /// a language. `fingerprint` is that of the messages that it was made of, and `level` what they have to allow.
    static let summaries = [
        Migration(
            57, "summaries",
            [
                """
                CREATE TABLE summary_blocks (
                    conversation_id TEXT NOT NULL, block BIGINT NOT NULL, language TEXT NOT NULL, engine TEXT NOT NULL,
                    level TEXT NOT NULL, fingerprint BIGINT NOT NULL, items TEXT NOT NULL,
                    PRIMARY KEY (conversation_id, block, language))
                """
            ]),
        // What a service says that it used, and what that costs, by the prices that the operator has set.
        Migration(
            59, "tokens of hosted services",
            ["input_tokens", "cached_tokens", "output_tokens", "micro_dollars", "estimated"].map { column in
                "ALTER TABLE provider_calls ADD COLUMN \(column) BIGINT NOT NULL DEFAULT 0"
            }),
        // Of speech.
        Migration(
            73, "speech for hosted services",
            ["provider_calls", "provider_usage"].map { table in
                "ALTER TABLE \(table) ADD COLUMN milliseconds BIGINT NOT NULL DEFAULT 0"
            }),
        // The numbers of the messages that a model was given to explain a later one. Of hints that there are nobody knows them.
        Migration(
            74, "what hints rest on",
            ["ALTER TABLE hints ADD COLUMN earlier TEXT", "DELETE FROM hints WHERE kind = 'model'"]),
        // Whether the levels of a conversation are to be looked at once more when that has ended.
        Migration(
            76, "levels looked at again",
            ["ALTER TABLE level_checks ADD COLUMN again BIGINT NOT NULL DEFAULT 0"]),
    ]
}
