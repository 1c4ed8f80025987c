package import Model

/// A transcribed utterance in a call.
package struct Caption: Hashable, Sendable {
    package var user: UserID
    package var source: LegTrack.Source
    /// When the utterance began.
    package var startedAt: Timestamp
    /// In milliseconds.
    package var duration: Int64
    package var text: String
    /// As a BCP 47 tag, if the provider reported it.
    package var language: String?

    package init(
        user: UserID, source: LegTrack.Source, startedAt: Timestamp, duration: Int64, text: String,
        language: String? = nil
    ) {
        self.user = user
        self.source = source
        self.startedAt = startedAt
        self.duration = duration
        self.text = text
        self.language = language
    }

    /// An event of `captions:<call>`.
    package var json: String {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("user", user)
            writer.member("source", source.rawValue)
            writer.member("startedAt", startedAt)
            writer.member("durationMs", duration)
            writer.member("text", text)
            writer.member("language", language)
        }
        return writer.text
    }
}
