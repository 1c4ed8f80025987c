/// A transcript: text with times and a language.
///
/// Segments are ordered by their start. They overlap where several people speak at once. There is at least one when
/// there is any text. The type is `Codable` so that it can be stored as it is.
package struct Transcript: Hashable, Sendable, Codable {
    package struct Segment: Hashable, Sendable, Codable {
        /// Milliseconds since the beginning of the audio.
        package var start: Int64
        package var end: Int64
        package var text: String
        /// The speaker's name, where there are several.
        package var speaker: String?

        package init(start: Int64, end: Int64, text: String, speaker: String? = nil) {
            self.start = start
            self.end = end
            self.text = text
            self.speaker = speaker
        }
    }

    /// A BCP 47 tag such as `en`, if the provider reported a language; an unknown name stays as it was reported.
    package var language: String?
    package var text: String
    package var segments: [Segment]

    package init(language: String?, text: String, segments: [Segment]) {
        self.language = language
        self.text = text
        self.segments = segments
    }

    /// Joins the transcripts of parts, each with its start in milliseconds.
    ///
    /// The language is that of most of the text.
    package init(joining parts: [(start: Int64, transcript: Transcript)]) {
        let parts = parts.sorted { $0.start < $1.start }
        var lengths: [String: Int] = [:]
        for part in parts {
            if let language = part.transcript.language { lengths[language, default: 0] += part.transcript.text.count }
        }
        language = lengths.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key
        text = parts.map(\.transcript.text).filter { !$0.isEmpty }.joined(separator: " ")
        segments =
            parts
            .flatMap { part in
                part.transcript.segments.map {
                    Segment(start: $0.start &+ part.start, end: $0.end &+ part.start, text: $0.text)
                }
            }
            .sorted { ($0.start, $0.end) < ($1.start, $1.end) }
    }
}
