/// What was said, when, and in which language.
///
/// Segments are in the order in which they begin. They may touch, and where people speak at once they may overlap. There
/// is one at least when there is any text. It is `Codable`, so that it can be stored as it is.
package struct Transcript: Hashable, Sendable, Codable {
    package struct Segment: Hashable, Sendable, Codable {
        /// Milliseconds from the beginning of the sound.
        package var start: Int64
        package var end: Int64
        package var text: String
        /// The name of who says it, where several do.
        package var speaker: String?

        package init(start: Int64, end: Int64, text: String, speaker: String? = nil) {
            self.start = start
            self.end = end
            self.text = text
            self.speaker = speaker
        }
    }

    /// As BCP 47 writes it, such as `en`, where the provider told; a name that is not known here stays as it was told.
    package var language: String?
    package var text: String
    package var segments: [Segment]

    package init(language: String?, text: String, segments: [Segment]) {
        self.language = language
        self.text = text
        self.segments = segments
    }

    /// What was heard in parts of a longer sound, each beginning so many milliseconds after it did.
    ///
    /// The language is the one that most of the text is in.
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
