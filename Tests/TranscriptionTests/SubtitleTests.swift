import Testing

@testable import Transcription

@Suite("Transcripts as files")
struct SubtitleTests {
    private let transcript = Transcript(
        language: "en", text: "Go on. a < b & c --> d",
        segments: [
            .init(start: 0, end: 1_500, text: "Go on."),
            .init(start: 3_599_999, end: 3_661_001, text: "a < b & c --> d\n\nnext"),
        ])

    @Test func plain() {
        #expect(Subtitles.plain(transcript) == "Go on.\na < b & c --> d next\n")
    }

    @Test func srt() {
        #expect(
            Subtitles.srt(transcript) == """
                1
                00:00:00,000 --> 00:00:01,500
                Go on.

                2
                00:59:59,999 --> 01:01:01,001
                a ‹ b & c --› d next


                """)
    }

    @Test func webVTT() {
        #expect(
            Subtitles.webVTT(transcript) == """
                WEBVTT

                00:00:00.000 --> 00:00:01.500
                Go on.

                00:59:59.999 --> 01:01:01.001
                a &lt; b &amp; c --&gt; d next


                """)
    }

    @Test("speakers are named") func speakers() {
        let long = (0..<20).map { "word\($0)" }.joined(separator: " ")
        let talk = Transcript(
            language: nil, text: "",
            segments: [
                .init(start: 0, end: 1_000, text: "Go on.", speaker: "Ann & <Co>"),
                .init(start: 500, end: 4_500, text: long, speaker: "Ben\nBrook"),
                .init(start: 5_000, end: 6_000, text: " ", speaker: "Ann"),
            ])
        #expect(Subtitles.plain(talk) == "Ann & <Co>: Go on.\nBen Brook: \(long)\n")
        #expect(Subtitles.srt(talk).hasPrefix("1\n00:00:00,000 --> 00:00:01,000\nAnn & ‹Co›: Go on.\n\n2\n"))
        #expect(Subtitles.srt(talk).split(separator: "Ben Brook: ").count == 2, "once")
        let cues = Subtitles.webVTT(talk).split(separator: "\n\n").dropFirst()
        #expect(cues.first == "00:00:00.000 --> 00:00:01.000\n<v Ann &amp; &lt;Co&gt;>Go on.")
        #expect(cues.count > 2 && cues.dropFirst().allSatisfy { $0.contains("\n<v Ben Brook>word") })
    }

    @Test("hours have as many digits as they need") func longTimes() {
        #expect(Subtitles.time(3_600_000 * 123 + 4_005, ".") == "123:00:04.005")
        #expect(Subtitles.time(-5, ".") == "00:00:00.000")
    }

    @Test("what fills more than a screen becomes cues that follow each other") func folded() {
        let words = (0..<60).map { "word\($0)" }
        let long = Transcript(
            language: nil, text: "", segments: [.init(start: 1_000, end: 31_000, text: words.joined(separator: " "))])
        let cues = Subtitles.cues(of: long)
        #expect(cues.count > 3)
        #expect(cues.allSatisfy { $0.lines.count <= 2 && $0.lines.allSatisfy { $0.count <= 42 } && $0.end > $0.start })
        #expect(cues.first?.start == 1_000)
        #expect(cues.last?.end == 31_000)
        for (cue, next) in zip(cues, cues.dropFirst()) { #expect(cue.end == next.start) }
        #expect(cues.flatMap(\.lines).flatMap { $0.split(separator: " ") }.map(String.init) == words)
    }

    @Test("a word without an end is broken, a segment without words is left out") func odd() {
        let odd = Transcript(
            language: nil, text: "",
            segments: [
                .init(start: 0, end: 0, text: String(repeating: "語", count: 100)),
                .init(start: 5, end: 6, text: " \n "),
            ])
        let cues = Subtitles.cues(of: odd)
        #expect(cues.flatMap(\.lines).map(\.count) == [42, 42, 16])
        #expect(cues.allSatisfy { $0.end > $0.start })
    }

    /// In quadratic time it would take hours.
    @Test("a word of megabytes is broken in time with its length") func endless() {
        let transcript = Transcript(
            language: nil, text: "",
            segments: [.init(start: 0, end: 10, text: String(repeating: "ab", count: 1_000_000))])
        let cues = Subtitles.cues(of: transcript)
        #expect(cues.count == (2_000_000 + 83) / 84)
        #expect(cues.allSatisfy { $0.lines.allSatisfy { (1...42).contains($0.count) } })
    }

    @Test("parts are joined in order, in the language of most") func joined() {
        func part(_ language: String?, _ text: String) -> Transcript {
            Transcript(language: language, text: text, segments: [.init(start: 10, end: 20, text: text)])
        }
        let whole = Transcript(joining: [
            (2_000, part("de", "ja")), (0, part("en", "well then")), (1_000, part(nil, "")),
        ])
        #expect(whole.language == "en")
        #expect(whole.text == "well then ja")
        #expect(whole.segments.map(\.start) == [10, 1_010, 2_010])
    }
}
