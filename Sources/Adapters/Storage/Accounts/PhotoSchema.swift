extension Schema {
    /// Photos lie on this server. Addresses elsewhere, which tell whoever has them who looks at them and when, are
    /// forgotten: in users and participants, and in the log. The streams whose changes have one begin
    /// anew, in another epoch.
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
