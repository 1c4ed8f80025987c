/// Transcripts as files for people and players: plain text, SRT, and WebVTT (W3C, "WebVTT: The Web Video Text Tracks
/// Format").
package enum Subtitles {
    /// What fits a screen: two lines of 42 characters.
    private static let lineLength = 42
    private static let linesForEach = 2

    struct Cue: Hashable {
        var start: Int64
        var end: Int64
        var lines: [String]
        var speaker: String?
    }

    /// A line for each segment, behind the name of who says it.
    package static func plain(_ transcript: Transcript) -> String {
        named(transcript).segments.map { $0.text + "\n" }.joined()
    }

    /// SRT knows no escapes, and players take what stands in angle brackets for markup: those become quotation marks that
    /// look like them. Nor does it know speakers: their names stand before what they say.
    package static func srt(_ transcript: Transcript) -> String {
        var file = ""
        for (number, cue) in cues(of: named(transcript)).enumerated() {
            file += "\(number + 1)\n\(time(cue.start, ",")) --> \(time(cue.end, ","))\n"
            for line in cue.lines { file += line.replacing("<", with: "‹").replacing(">", with: "›") + "\n" }
            file += "\n"
        }
        return file
    }

    package static func webVTT(_ transcript: Transcript) -> String {
        var file = "WEBVTT\n\n"
        for cue in cues(of: transcript) {
            file += "\(time(cue.start, ".")) --> \(time(cue.end, "."))\n"
            if let speaker = cue.speaker { file += "<v \(escaped(speaker))>" }
            for line in cue.lines { file += escaped(line) + "\n" }
            file += "\n"
        }
        return file
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }

    /// With the names in the text, and without segments that say nothing.
    private static func named(_ transcript: Transcript) -> Transcript {
        var transcript = transcript
        transcript.segments = transcript.segments.compactMap { segment in
            var segment = segment
            segment.text = line(segment.text)
            guard !segment.text.isEmpty else { return nil }
            if let speaker = segment.speaker { segment.text = "\(line(speaker)): \(segment.text)" }
            segment.speaker = nil
            return segment
        }
        return transcript
    }

    /// Segments that fill more than a screen become several cues, which share their time by how much they hold.
    static func cues(of transcript: Transcript) -> [Cue] {
        transcript.segments.flatMap { segment -> [Cue] in
            let lines = folded(segment.text)
            let start = max(segment.start, 0)
            let length = max(segment.end - start, 0)
            let total = Int64(lines.reduce(0) { $0 + $1.count })
            guard total > 0 else { return [] }
            var spoken: Int64 = 0
            return stride(from: 0, to: lines.count, by: linesForEach).map { first in
                let shown = Array(lines[first..<min(first + linesForEach, lines.count)])
                let begin = start + length * spoken / total
                spoken += Int64(shown.reduce(0) { $0 + $1.count })
                // A cue must end after it begins.
                return Cue(
                    start: begin, end: max(start + length * spoken / total, begin + 1), lines: shown,
                    speaker: segment.speaker.map(line))
            }
        }
    }

    /// Lines as long as may be; a word that is longer by itself, as in languages without spaces, is broken.
    private static func folded(_ text: String) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in words(of: text) {
            var rest = Substring(word)
            if !line.isEmpty, line.count + 1 + rest.count <= lineLength {
                line += " " + rest
                continue
            }
            if !line.isEmpty { lines.append(line) }
            while rest.count > lineLength {
                lines.append(String(rest.prefix(lineLength)))
                rest = rest.dropFirst(lineLength)
            }
            line = String(rest)
        }
        if !line.isEmpty { lines.append(line) }
        return lines
    }

    private static func line(_ text: String) -> String { words(of: text).joined(separator: " ") }

    /// Line ends within a cue would end it.
    private static func words(of text: String) -> [String] {
        text.split(whereSeparator: \.isWhitespace).map(String.init)
    }

    /// `01:02:03.004`; hours have as many digits as they need.
    static func time(_ milliseconds: Int64, _ point: String) -> String {
        let (seconds, rest) = max(milliseconds, 0).quotientAndRemainder(dividingBy: 1000)
        func padded(_ number: Int64, _ count: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(count - digits.count, 0)) + digits
        }
        return "\(padded(seconds / 3600, 2)):\(padded(seconds / 60 % 60, 2)):\(padded(seconds % 60, 2))"
            + "\(point)\(padded(rest, 3))"
    }
}
