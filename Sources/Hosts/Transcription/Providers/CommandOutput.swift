internal import Foundation

/// Parses the output of programs: JSON as `TranscriptResponse` reads it, a line of JSON for each utterance as
/// pocketsphinx 5 writes them, words with their times as pocketsphinx 0.8 writes them with `-time yes`, or plain text.
///
/// ```
/// {"b":0.180,"d":1.560,"p":1.000,"t":"go on","w":[{"b":0.180,"d":0.210,"p":0.9,"t":"go"},…]}
///
/// go on
/// <s> 0.000 0.170 0.999700
/// go 0.180 0.390 0.097826
/// on 0.400 0.760 0.187910
/// ```
enum CommandOutput {
    static func read(
        _ output: [UInt8], language: String?, duration length: Int64
    ) throws(TranscriptionFailure) -> Transcript {
        let text = String(decoding: output, as: UTF8.self)
        let lines = text.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty }
        var response: TranscriptResponse
        if lines.first?.hasPrefix("{") == true {
            if let utterances = utterances(inJSON: lines) {
                response = utterances
            } else {
                var transcript = try TranscriptResponse.read(output, duration: length)
                transcript.language = transcript.language ?? language
                return transcript
            }
        } else {
            response = utterances(inWords: lines, duration: length) ?? TranscriptResponse(text: text)
        }
        response.language = language
        return try response.transcript(duration: length)
    }

    private struct JSONUtterance: Decodable {
        var b: Double
        var d: Double
        var t: String
        var w: [JSONUtterance]?

        var isWord: Bool { CommandOutput.isWord(t) }
    }

    private static func utterances(inJSON lines: [String]) -> TranscriptResponse? {
        var segments: [TranscriptResponse.Segment] = []
        for line in lines {
            guard let utterance = try? JSONDecoder().decode(JSONUtterance.self, from: Data(line.utf8))
            else { return nil }
            let words = (utterance.w ?? []).filter(\.isWord)
            let start = words.first?.b ?? utterance.b
            let end = words.last.map { $0.b + $0.d } ?? utterance.b + utterance.d
            segments.append(.init(start: start, end: end, text: utterance.t))
        }
        return TranscriptResponse(segments: segments)
    }

    /// An utterance in the output of pocketsphinx 0.8.
    private struct Utterance {
        var segment: TranscriptResponse.Segment
        /// With the pauses around the words.
        var begin: Double?
        var end = 0.0
        var hasWords = false
    }

    /// nil when no line has the time of a word: the output is plain text.
    private static func utterances(inWords lines: [String], duration length: Int64) -> TranscriptResponse? {
        var utterances: [Utterance] = []
        var hasTimes = false
        for line in lines {
            guard let (word, start, end) = timed(line) else {
                let last = utterances.last?.segment.end ?? 0
                utterances.append(Utterance(segment: .init(start: last, end: last, text: line)))
                continue
            }
            hasTimes = true
            guard var utterance = utterances.popLast() else { continue }
            if utterance.begin == nil { utterance.begin = start }
            utterance.end = end
            if isWord(word) {
                if !utterance.hasWords { utterance.segment.start = start }
                utterance.segment.end = end
                utterance.hasWords = true
            }
            utterances.append(utterance)
        }
        guard hasTimes else { return nil }
        moveBack(&utterances, duration: length)
        return TranscriptResponse(segments: utterances.map(\.segment))
    }

    /// Corrects a bug of pocketsphinx 0.8: when somebody speaks as soon as the audio begins, all times of that
    /// utterance are too late, by up to its length. Utterances follow each other and end with the audio, so the shift
    /// is known.
    private static func moveBack(_ utterances: inout [Utterance], duration length: Int64) {
        var limit = Double(length) / 1000
        for index in utterances.indices.reversed() {
            guard let begin = utterances[index].begin else { continue }
            let excess = max(utterances[index].end - limit, 0)
            utterances[index].segment.start = max(utterances[index].segment.start - excess, 0)
            utterances[index].segment.end = max(utterances[index].segment.end - excess, 0)
            limit = max(begin - excess, 0)
        }
    }

    /// `word 0.180 0.390 0.097826`
    private static func timed(_ line: String) -> (String, Double, Double)? {
        let fields = line.split(separator: " ")
        guard fields.count == 4, fields.dropFirst().allSatisfy({ $0.contains(".") }), let start = Double(fields[1]),
            let end = Double(fields[2]), Double(fields[3]) != nil
        else { return nil }
        return (String(fields[0]), start, end)
    }

    /// Not `<sil>`, `[NOISE]`, `++BREATH++`.
    private static func isWord(_ text: String) -> Bool {
        !text.isEmpty && !text.hasPrefix("<") && !text.hasPrefix("[") && !text.hasPrefix("++")
    }
}
