extension DatabaseSchema {
    /// The search index of messages.
    ///
    /// `postings` says which messages have a term, block by block: so the newest messages of a conversation are found
    /// without those before them, and the prefix of one letter visits a block and no more. Conversations are named by a
    /// short `index_key`: against their ids, an index of 300,000 messages was measured at 57 MB instead of 168.
    static let search: [Migration] = [
        Migration(
            38, "search",
            [
                """
                CREATE TABLE search_indexes (
                    conversation_id TEXT PRIMARY KEY, index_key BIGINT NOT NULL, indexed_to BIGINT NOT NULL,
                    terms_version BIGINT NOT NULL) WITHOUT ROWID
                """,
                "CREATE UNIQUE INDEX search_indexes_key ON search_indexes (index_key)",
                """
                CREATE TABLE postings (
                    index_key BIGINT NOT NULL, block BIGINT NOT NULL, term TEXT NOT NULL, number BIGINT NOT NULL,
                    PRIMARY KEY (index_key, block, term, number)) WITHOUT ROWID
                """,
            ])
    ]

    /// What the index has of each message, so that a text need not be known to be removed from it, and the messages of which it
    /// has another text than they have now. `terms` are separated by line feeds.
    static let messageTerms: [Migration] = [
        Migration(
            66, "terms of messages",
            [
                """
                CREATE TABLE message_terms (
                    index_key BIGINT NOT NULL, number BIGINT NOT NULL, terms TEXT NOT NULL,
                    PRIMARY KEY (index_key, number)) WITHOUT ROWID
                """,
                """
                CREATE TABLE changed_texts (
                    conversation_id TEXT NOT NULL, number BIGINT NOT NULL, PRIMARY KEY (conversation_id, number))
                    WITHOUT ROWID
                """,
            ])
    ]
}
