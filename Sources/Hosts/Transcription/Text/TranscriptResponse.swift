internal import Foundation

/// What a provider answered: JSON of the form that OpenAI calls `verbose_json`, of which all but `text` may be missing.
///
/// ```json
/// {"text": "Go on.", "language": "english", "segments": [{"start": 0.0, "end": 0.8, "text": " Go on."}]}
/// ```
/// It may lie. What has no sense is refused; what real engines do (segments that end after the sound did, that overlap a
/// little, that are empty) is put right.
struct TranscriptAnswer: Decodable {
    private static let mostSegments = 50_000

    struct Segment: Decodable {
        var start: Double
        var end: Double
        var text: String
    }

    var text: String?
    var language: String?
    var segments: [Segment]?

    static func read(_ bytes: [UInt8], soundOf length: Int64) throws(TranscriptionFailure) -> Transcript {
        let answer: TranscriptAnswer
        do {
            answer = try JSONDecoder().decode(TranscriptAnswer.self, from: Data(bytes))
        } catch DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context) {
            throw .badAnswer("\(path(context)) is of another type than it should be")
        } catch DecodingError.keyNotFound(let key, let context) {
            throw .badAnswer("\(path(context)) has no \(key.stringValue)")
        } catch {
            throw .badAnswer("no JSON")
        }
        return try answer.transcript(soundOf: length)
    }

    /// - Parameter length: of the sound, in milliseconds.
    func transcript(soundOf length: Int64) throws(TranscriptionFailure) -> Transcript {
        let told = segments ?? []
        guard text != nil || segments != nil else { throw .badAnswer("it has no text") }
        guard told.count <= Self.mostSegments else { throw .badAnswer("it has \(told.count) segments") }
        var checked: [Transcript.Segment] = []
        var begun = 0.0
        for (number, segment) in told.enumerated() {
            guard segment.start.isFinite, segment.end.isFinite, segment.start >= 0 else {
                throw .badAnswer("segment \(number) has times that are none")
            }
            guard segment.end >= segment.start, segment.start >= begun else {
                throw .badAnswer("the times of segment \(number) run backwards")
            }
            begun = segment.start
            let words = Self.tidied(segment.text)
            if !words.isEmpty {
                checked.append(
                    .init(start: Self.within(segment.start, length), end: Self.within(segment.end, length), text: words)
                )
            }
        }
        var whole = Self.tidied(text ?? "")
        if whole.isEmpty { whole = checked.map(\.text).joined(separator: " ") }
        if checked.isEmpty, !whole.isEmpty { checked = [.init(start: 0, end: length, text: whole)] }
        return Transcript(language: language.flatMap(LanguageNames.code), text: whole, segments: checked)
    }

    /// Seconds as milliseconds of a sound; engines that hear in windows of half a minute end after it did.
    private static func within(_ seconds: Double, _ length: Int64) -> Int64 {
        Int64(min((seconds * 1000).rounded(), Double(length)))
    }

    /// Without control characters, and with single spaces.
    static func tidied(_ text: String) -> String {
        let printable = String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }))
        return printable.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    private static func path(_ context: DecodingError.Context) -> String {
        let path = context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
        return path.isEmpty ? "it" : String(path.prefix(80))
    }
}
