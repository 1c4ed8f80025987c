extension DatabaseSchema {
    /// Photos are stored on this server. URLs of other servers, which could log who loads them and when, are removed
    /// from users, participants and the log. Streams with such changes start again in a new epoch.
    static let photos: [Migration] = [
        Migration(
            20, "photos on this server",
            [
                "UPDATE users SET photo_url = NULL WHERE photo_url IS NOT NULL",
                "UPDATE participants SET photo_url = NULL WHERE photo_url IS NOT NULL",
                """
                DELETE FROM streams WHERE name IN (
                    SELECT stream FROM changes WHERE (stream LIKE 'user:%' OR stream LIKE 'call:%')
                        AND data LIKE '%"photoURL":"http%')
                """,
                "DELETE FROM changes WHERE NOT EXISTS (SELECT 1 FROM streams s WHERE s.name = changes.stream)",
                "UPDATE log SET epoch = epoch || 'p'",
            ])
    ]
}
