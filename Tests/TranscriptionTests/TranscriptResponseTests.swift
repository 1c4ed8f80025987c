import TestSupport
import Testing
import Wire

@testable import Transcription

@Suite("Responses of providers")
struct TranscriptResponseTests {
    private func read(_ json: String, duration length: Int64 = 10_000) throws -> Transcript {
        try TranscriptResponse.read(Array(json.utf8), duration: length)
    }

    @Test func verbose() throws {
        let transcript = try read(
            """
            {"task": "transcribe", "language": "english", "duration": 3.2, "text": " Go on. Now.",
             "segments": [{"id": 0, "start": 0.0, "end": 0.82, "text": " Go on.", "tokens": [1]},
                          {"id": 1, "start": 0.8, "end": 30.0, "text": " Now."}, {"start": 9, "end": 9, "text": " "}]}
            """)
        #expect(transcript.language == "en")
        #expect(transcript.text == "Go on. Now.")
        #expect(
            transcript.segments == [
                .init(start: 0, end: 820, text: "Go on."), .init(start: 800, end: 10_000, text: "Now."),
            ])
    }

    @Test("text alone is one segment, empty text is none") func short() throws {
        #expect(try read(#"{"text": "Go\non."}"#).segments == [.init(start: 0, end: 10_000, text: "Go on.")])
        #expect(try read(#"{"text": "", "segments": [{"start": 0, "end": 1, "text": "a"}]}"#).text == "a")
        #expect(try read(#"{"text": "  "}"#) == Transcript(language: nil, text: "", segments: []))
    }

    @Test(
        "invalid responses are rejected",
        arguments: [
            ("", "not JSON"), ("<html>", "not JSON"), ("[]", "it has the wrong type"), ("{}", "no text"),
            (#"{"text": 5}"#, "text has the wrong type"), (#"{"text": "a", "segments": [{}]}"#, "has no start"),
            (#"{"text": "a", "segments": [{"start": -1, "end": 2, "text": "a"}]}"#, "has invalid times"),
            (#"{"text": "a", "segments": [{"start": 2, "end": 1, "text": "a"}]}"#, "run backwards"),
            (
                #"{"segments": [{"start": 2, "end": 3, "text": "a"}, {"start": 1, "end": 3, "text": "b"}]}"#,
                "run backwards"
            ), (#"{"text": "a", "segments": [{"start": 1e999, "end": 1e999, "text": "a"}]}"#, ""),
        ])
    func lies(json: String, message: String) {
        do {
            let transcript = try read(json)
            Issue.record("\(transcript)")
        } catch TranscriptionFailure.invalidResponse(let what) {
            #expect(message.isEmpty || what.contains(message), "\(what)")
        } catch {
            Issue.record(error)
        }
    }

    @Test("deeply nested JSON is rejected") func deep() {
        let deep = #"{"text": "a", "x": "# + String(repeating: "[", count: 1_000_000)
        #expect(throws: TranscriptionFailure.invalidResponse("not JSON")) { try read(deep) }
    }

    @Test("times beyond any integer are the end of the audio") func huge() throws {
        let transcript = try read(#"{"text": "a", "segments": [{"start": 1e300, "end": 1e300, "text": "a"}]}"#)
        #expect(transcript.segments == [.init(start: 10_000, end: 10_000, text: "a")])
    }

    @Test("any input is rejected, or in order and within the audio") func nonsense() {
        let seed = freshSeed()
        var random = SeededRandom(seed: seed)
        let good = [
            #"{"text": "a b", "language": "english", "segments": [{"start": 0.5, "end": 1.5, "text": "a"}, {"start": 1.5e0, "end": 99, "text": "b"}]}"#,
            #"{"b":0.180,"d":1.560,"p":1.0,"t":"go on","w":[{"b":0.180,"d":0.210,"p":0.9,"t":"go"}]}"#,
            "go on\n<s> 0.000 0.170 0.999700\ngo 0.180 0.390 0.097826\non 0.400 0.760 0.187910\n",
        ].map { Array($0.utf8) }
        let fragments = ["9", "e", "-", ".", "\n", "{", "}", "\"", "null", "1e999", "0.1 0.2 0.3", "\u{0}", "é"].map {
            Array($0.utf8)
        }
        var accepted = 0
        for _ in 0..<3_000 {
            var bytes = good.randomElement(using: &random) ?? []
            for _ in 0..<Int.random(in: 0...4, using: &random) {
                let start = Int.random(in: 0...bytes.count, using: &random)
                let end = min(start + Int.random(in: 0...3, using: &random), bytes.count)
                bytes.replaceSubrange(start..<end, with: fragments.randomElement(using: &random) ?? [])
            }
            guard let transcript = try? CommandOutput.read(bytes, language: nil, duration: 10_000) else { continue }
            accepted += 1
            #expect(
                transcript.segments.allSatisfy { 0 <= $0.start && $0.start <= $0.end && $0.end <= 10_000 },
                "seed \(seed)")
            #expect(
                zip(transcript.segments, transcript.segments.dropFirst()).allSatisfy { $0.start <= $1.start },
                "seed \(seed)")
            #expect(transcript.text.isEmpty == transcript.segments.isEmpty, "seed \(seed)")
            _ = Subtitles.webVTT(transcript) + Subtitles.srt(transcript)
        }
        #expect(accepted > 300)
    }

    @Test("languages are known by name and by code; what is neither is left out")
    func languages() {
        #expect(LanguageNames.code("German") == "de")
        #expect(LanguageNames.code("pt-BR") == "pt-BR")
        #expect(LanguageNames.code("<b>") == nil)
        #expect(LanguageNames.code("") == nil)
    }

    private func command(_ output: String) throws -> Transcript {
        try CommandOutput.read(Array(output.utf8), language: nil, duration: 10_000)
    }

    @Test("what pocketsphinx 5 prints") func pocketsphinx5() throws {
        let transcript = try command(
            """
            {"b":0.000,"d":1.830,"p":1.000,"t":"go on","w":[{"b":0.000,"d":0.180,"p":1.000,"t":"<s>"},\
            {"b":0.180,"d":0.210,"p":0.098,"t":"go"},{"b":0.400,"d":0.360,"p":0.188,"t":"on(2)"},\
            {"b":1.750,"d":0.080,"p":1.000,"t":"</s>"}]}
            {"b":2.000,"d":0.500,"p":1.000,"t":"now","w":[{"b":2.000,"d":0.500,"p":1.000,"t":"now"}]}
            """)
        #expect(
            transcript.segments == [
                .init(start: 180, end: 760, text: "go on"), .init(start: 2_000, end: 2_500, text: "now"),
            ])
    }

    @Test("what pocketsphinx 0.8 prints with -time yes") func pocketsphinx08() throws {
        let transcript = try command(
            """
            go on
            <s> 0.000 0.170 0.999700
            go 0.180 0.390 0.097826
            on(2) 0.400 0.760 0.187910
            </s> 1.750 1.830 1.000000
            now
            <s> 3.510 3.580 0.999900
            now 3.590 3.820 0.123645
            </s> 4.710 5.080 1.000000
            """)
        #expect(
            transcript.segments == [
                .init(start: 180, end: 760, text: "go on"), .init(start: 3_590, end: 3_820, text: "now"),
            ])
    }

    @Test("what pocketsphinx 0.8 prints with wrong times at the beginning") func pocketsphinx08LosesCount() throws {
        // Of 6.4 s of audio, with speech from the beginning.
        let transcript = try CommandOutput.read(
            Array(
                """
                one two three four five
                <s> 3.470 3.490 0.999900
                one 3.500 3.660 0.288043
                five 7.860 8.430 0.832834
                [SPEECH] 8.440 8.730 0.900494
                </s> 8.740 8.760 1.000000
                one to three
                <s> 5.280 5.300 0.999900
                one 5.310 5.460 0.350911
                three 5.650 5.910 0.959057
                </s> 6.210 6.280 1.000000
                """.utf8), language: nil, duration: 6_400)
        #expect(
            transcript.segments == [
                .init(start: 20, end: 4_950, text: "one two three four five"),
                .init(start: 5_310, end: 5_910, text: "one to three"),
            ])
        let alone = try CommandOutput.read(
            Array("go on\n<s> 5.410 5.510 1.0\ngo 5.520 5.750 0.2\non 11.540 11.760 1.0\n".utf8), language: nil,
            duration: 6_400)
        #expect(alone.segments == [.init(start: 160, end: 6_400, text: "go on")])
    }

    @Test("other programs: text, or the JSON of services") func other() throws {
        #expect(try command("Go on.\nNow.\n").text == "Go on. Now.")
        #expect(try command("").segments.isEmpty)
        #expect(try command(#"{"text": "Go on.", "language": "english"}"#).language == "en")
        #expect(throws: TranscriptionFailure.invalidResponse("not JSON")) { try command("{ what") }
    }
}
