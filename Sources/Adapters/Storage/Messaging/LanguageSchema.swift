extension DatabaseSchema {
    /// In which language a text is, and whether that is sure. Older texts have none.
    static let messageLanguages = [
        Migration(
            50, "languages of messages",
            ["messages", "edits"].flatMap { table in
                [
                    "ALTER TABLE \(table) ADD COLUMN language TEXT",
                    "ALTER TABLE \(table) ADD COLUMN language_is_sure BIGINT NOT NULL DEFAULT 0",
                ]
            })
    ]
}
