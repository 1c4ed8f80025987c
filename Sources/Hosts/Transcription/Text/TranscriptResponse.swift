internal import Foundation
internal import Providers

/// The response of a provider: JSON of the format that OpenAI calls `verbose_json`, of which all but `text` is
/// optional.
///
/// ```json
/// {"text": "Go on.", "language": "english", "segments": [{"start": 0.0, "end": 0.8, "text": " Go on."}]}
/// ```
/// It is not trusted. Invalid responses are rejected; known flaws of real engines (segments that end after the audio,
/// that overlap a little, that are empty) are corrected.
struct TranscriptResponse: Decodable {
    private static let maxSegments = 50_000
    /// Of the text, in bytes: for any audio, and for each second of it, in which nobody says a tenth of that.
    private static let (minTextSize, textSizePerSecond) = (Int64(1 << 19), Int64(1_024))

    struct Segment: Decodable {
        var start: Double
        var end: Double
        var text: String
    }

    var text: String?
    var language: String?
    var segments: [Segment]?

    static func read(_ bytes: [UInt8], duration length: Int64) throws(TranscriptionFailure) -> Transcript {
        let response: TranscriptResponse
        do {
            response = try JSONDecoder().decode(TranscriptResponse.self, from: Data(bytes))
        } catch DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context) {
            throw .invalidResponse("\(path(context)) has the wrong type")
        } catch DecodingError.keyNotFound(let key, let context) {
            throw .invalidResponse("\(path(context)) has no \(key.stringValue)")
        } catch {
            throw .invalidResponse("not JSON")
        }
        return try response.transcript(duration: length)
    }

    /// - Parameter length: the duration of the audio, in milliseconds.
    func transcript(duration length: Int64) throws(TranscriptionFailure) -> Transcript {
        let reported = segments ?? []
        guard text != nil || segments != nil else { throw .invalidResponse("it has no text") }
        guard reported.count <= Self.maxSegments else { throw .invalidResponse("it has \(reported.count) segments") }
        var checked: [Transcript.Segment] = []
        var lastStart = 0.0
        for (number, segment) in reported.enumerated() {
            guard segment.start.isFinite, segment.end.isFinite, segment.start >= 0 else {
                throw .invalidResponse("segment \(number) has invalid times")
            }
            guard segment.end >= segment.start, segment.start >= lastStart else {
                throw .invalidResponse("the times of segment \(number) run backwards")
            }
            lastStart = segment.start
            let text = SingleLine.normalized(segment.text)
            if !text.isEmpty {
                checked.append(
                    .init(start: Self.within(segment.start, length), end: Self.within(segment.end, length), text: text)
                )
            }
        }
        var whole = SingleLine.normalized(text ?? "")
        if whole.isEmpty { whole = checked.map(\.text).joined(separator: " ") }
        let size = max(whole.utf8.count, checked.reduce(0) { $0 + $1.text.utf8.count })
        guard size <= Self.minTextSize + max(0, length) / 1_000 * Self.textSizePerSecond else {
            throw .invalidResponse("it has \(size) bytes of text, more than anybody says in that time")
        }
        if checked.isEmpty, !whole.isEmpty { checked = [.init(start: 0, end: length, text: whole)] }
        return Transcript(language: language.flatMap(LanguageNames.code), text: whole, segments: checked)
    }

    /// Converts seconds to milliseconds within the audio; engines that work in windows of half a minute may exceed it.
    private static func within(_ seconds: Double, _ length: Int64) -> Int64 {
        Int64(min((seconds * 1000).rounded(), Double(length)))
    }

    private static func path(_ context: DecodingError.Context) -> String {
        let path = context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
        return path.isEmpty ? "it" : String(path.prefix(80))
    }
}
