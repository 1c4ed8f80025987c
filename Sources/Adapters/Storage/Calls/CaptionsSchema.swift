extension Schema {
    /// Who wanted the captions of a call that are being made, and why there are none at the moment.
    static let captions: [Migration] = [
        Migration(
            11, "captions",
            [
                "ALTER TABLE calls ADD COLUMN captions_by TEXT",
                "ALTER TABLE calls ADD COLUMN captions_at BIGINT",
                "ALTER TABLE calls ADD COLUMN captions_failure TEXT",
            ])
    ]
}
