internal import Foundation

/// What programs write: JSON as `TranscriptAnswer` reads it, a line of JSON for each utterance as pocketsphinx 5 writes
/// them, words with their times as pocketsphinx 0.8 writes them with `-time yes`, or just text.
///
/// ```
/// {"b":0.180,"d":1.560,"p":1.000,"t":"go on","w":[{"b":0.180,"d":0.210,"p":0.9,"t":"go"},…]}
///
/// go on
/// <s> 0.000 0.170 0.999700
/// go 0.180 0.390 0.097826
/// on 0.400 0.760 0.187910
/// ```
enum CommandAnswer {
    static func read(
        _ output: [UInt8], language: String?, soundOf length: Int64
    ) throws(TranscriptionFailure) -> Transcript {
        let text = String(decoding: output, as: UTF8.self)
        let lines = text.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty }
        var answer: TranscriptAnswer
        if lines.first?.hasPrefix("{") == true {
            if let utterances = utterances(inJSON: lines) {
                answer = utterances
            } else {
                var transcript = try TranscriptAnswer.read(output, soundOf: length)
                transcript.language = transcript.language ?? language
                return transcript
            }
        } else {
            answer = utterances(inWords: lines, soundOf: length) ?? TranscriptAnswer(text: text)
        }
        answer.language = language
        return try answer.transcript(soundOf: length)
    }

    private struct Heard: Decodable {
        var b: Double
        var d: Double
        var t: String
        var w: [Heard]?

        var isWord: Bool { CommandAnswer.isWord(t) }
    }

    private static func utterances(inJSON lines: [String]) -> TranscriptAnswer? {
        var segments: [TranscriptAnswer.Segment] = []
        for line in lines {
            guard let heard = try? JSONDecoder().decode(Heard.self, from: Data(line.utf8)) else { return nil }
            let words = (heard.w ?? []).filter(\.isWord)
            let start = words.first?.b ?? heard.b
            let end = words.last.map { $0.b + $0.d } ?? heard.b + heard.d
            segments.append(.init(start: start, end: end, text: heard.t))
        }
        return TranscriptAnswer(segments: segments)
    }

    /// Something that pocketsphinx took for said at a stretch.
    private struct Utterance {
        var segment: TranscriptAnswer.Segment
        /// With the pauses around the words.
        var begin: Double?
        var end = 0.0
        var hasWords = false
    }

    /// Nil where no line tells the time of a word: it is all text.
    private static func utterances(inWords lines: [String], soundOf length: Int64) -> TranscriptAnswer? {
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
        moveBack(&utterances, soundOf: length)
        return TranscriptAnswer(segments: utterances.map(\.segment))
    }

    /// Pocketsphinx 0.8 loses count when somebody speaks as soon as the sound begins: all times of that utterance are later
    /// then, by up to its length. Utterances follow each other and end with the sound, so it is known by how much.
    private static func moveBack(_ utterances: inout [Utterance], soundOf length: Int64) {
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
