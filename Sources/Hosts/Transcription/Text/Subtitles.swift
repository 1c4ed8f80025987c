/// Formats transcripts as plain text, SRT, and WebVTT (W3C, "WebVTT: The Web Video Text Tracks Format").
package enum Subtitles {
    /// A screen shows two lines of 42 characters.
    private static let maxLineLength = 42
    private static let linesPerCue = 2

    struct Cue: Hashable {
        var start: Int64
        var end: Int64
        var lines: [String]
        var speaker: String?
    }

    /// A line for each segment, with the speaker's name first.
    package static func plain(_ transcript: Transcript) -> String {
        named(transcript).segments.map { $0.text + "\n" }.joined()
    }

    /// SRT has no escapes, and players interpret angle brackets as markup: they become similar quotation marks. It has
    /// no speakers either: their names are part of the text.
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

    /// Puts the speakers' names into the text, and removes empty segments.
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

    /// Splits segments longer than a screen into several cues, with times in proportion to their text.
    static func cues(of transcript: Transcript) -> [Cue] {
        transcript.segments.flatMap { segment -> [Cue] in
            let lines = folded(segment.text)
            let start = max(segment.start, 0)
            let length = max(segment.end - start, 0)
            let total = Int64(lines.reduce(0) { $0 + $1.count })
            guard total > 0 else { return [] }
            var spoken: Int64 = 0
            return stride(from: 0, to: lines.count, by: linesPerCue).map { first in
                let shown = Array(lines[first..<min(first + linesPerCue, lines.count)])
                let begin = start + length * spoken / total
                spoken += Int64(shown.reduce(0) { $0 + $1.count })
                // A cue must end after it begins.
                return Cue(
                    start: begin, end: max(start + length * spoken / total, begin + 1), lines: shown,
                    speaker: segment.speaker.map(line))
            }
        }
    }

    /// Wraps lines; a word longer than a line, as in languages without spaces, is broken.
    private static func folded(_ text: String) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in words(of: text) {
            var rest = Substring(word)
            if !line.isEmpty, line.count + 1 + rest.count <= maxLineLength {
                line += " " + rest
                continue
            }
            if !line.isEmpty { lines.append(line) }
            // The characters of the rest are not counted: a word may be megabytes long.
            while let end = rest.index(rest.startIndex, offsetBy: maxLineLength, limitedBy: rest.endIndex),
                end < rest.endIndex
            {
                lines.append(String(rest[..<end]))
                rest = rest[end...]
            }
            line = String(rest)
        }
        if !line.isEmpty { lines.append(line) }
        return lines
    }

    private static func line(_ text: String) -> String { words(of: text).joined(separator: " ") }

    /// Splits at any white space, since a line break would end a cue.
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
