extension DatabaseSchema {
    /// What lets others see presence has the word of what lets them see the last time.
    static let presenceWords: [Migration] = [
        Migration(
            49, "everybody sees presence",
            [
                "UPDATE users SET presence = 'everybody' WHERE presence = 'everyone'",
                """
                UPDATE changes SET data = REPLACE(data, '"presence":"everyone"', '"presence":"everybody"')
                WHERE stream LIKE 'user:%' AND data LIKE '%"presence":"everyone"%'
                """,
            ])
    ]
}
