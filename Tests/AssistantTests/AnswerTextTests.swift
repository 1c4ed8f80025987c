import Assistant
import Languages
import Messaging
import Model
import Testing

/// What a model wrote becomes sentences with what they rest on, whatever it wrote.
struct AnswerTextTests {
    private static let conversation = ConversationID.make(at: Timestamp(milliseconds: 1))

    private static func sources(_ texts: [String], question: String = "") -> AssistantSources {
        var sources = AssistantSources(question: question)
        for (index, text) in texts.enumerated() {
            let message = Message(
                conversation: conversation, number: Int64(index + 1), clientID: .make(at: Timestamp(milliseconds: 1)),
                author: .make(at: Timestamp(milliseconds: 1)), sentAt: Timestamp(milliseconds: 1), text: text,
                version: 1, textVersion: Int64(index + 1))
            let kept = SensitiveText.ranges(in: text) + RangeFinder.ranges(in: text).ranges.map { $0.start..<$0.end }
            _ = sources.show(message, MaskedText(text, keeping: kept)) { _ in "Ann" }
        }
        return sources
    }

    private static func read(_ text: String, _ texts: [String] = ["one", "two", "three"]) -> [AnswerSentence] {
        AnswerText(text, sources(texts)).sentences
    }

    private static func shown(_ text: String, _ texts: [String] = ["one", "two", "three"]) -> [[String]] {
        read(text, texts).map { [$0.text] + $0.citations.map { "\($0.number)" } }
    }

    @Test(arguments: [
        ("It is so [m1].", [["It is so.", "1"]]), ("It is so. [m1]", [["It is so.", "1"]]),
        ("It is so [m1][m2]. And so [m2, m3]! No?", [["It is so.", "1", "2"], ["And so!", "2", "3"], ["No?"]]),
        ("It is so (m1).", [["It is so.", "1"]]), ("それはそう【m1】。はい。", [["それはそう。", "1"], ["はい。"]]),
        ("यह ऐसा है [m2]। ठीक।", [["यह ऐसा है।", "2"], ["ठीक।"]]),
        ("هل هذا صحيح [m1]؟ نعم", [["هل هذا صحيح؟", "1"], ["نعم"]]),
        ("About 3.5 km, e.g. here [m1]. done [m2]", [["About 3.5 km, e.g. here.", "1"], ["done", "2"]]),
        ("Unknown [m9, m1].", [["Unknown.", "1"]]), ("Unknown [m0].", [["Unknown."]]),
        ("A [note] and (words) stay.", [["A [note] and (words) stay."]]), ("No end [m1", [["No end [m1"]]),
        ("- One [m1]\n- Two [m2]\n\n[m3]", [["- One", "1"], ["- Two", "2", "3"]]),
        ("**Bold** `code`\n# Title", [["Bold code"], ["Title"]]), ("[m1]", []), ("", []), (" . ", []),
        ("He said \"No.\" Then [m1] he went.", [["He said \"No.\""], ["Then he went.", "1"]]),
    ])
    func handlesAndSentences(_ text: String, _ expected: [[String]]) {
        #expect(Self.shown(text) == expected)
    }

    @Test func linesAreMarked() {
        #expect(Self.read("One. Two.\nThree.\n\nFour.").map(\.startsLine) == [false, false, true, true])
    }

    /// What was kept from the model comes back with what it rests on; nothing else that leads somewhere does.
    @Test(arguments: [
        ("Write to \u{27E6}m1.1\u{27E7}.", [["Write to ben@example.org.", "1"]]),
        ("Write to \u{27E6}m1.2\u{27E7} or \u{27E6}m7.1\u{27E7}.", [["Write to … or ….", "1"]]),
        ("Open https://evil.example.net/?q=x [m1].", [["Open …", "1"]]),
        ("Open evil.example.net, or t.co/x, or me@evil.example [m1].", [["Open … or … or …", "1"]]),
        ("Open ://evil.example or //evil.example/x [m1].", [["Open … or …", "1"]]),
        ("Open :// or (://) [m1].", [["Open … or …", "1"]]),
        ("Open shop.example.com [m2].", [["Open shop.example.com.", "2"]]),
        ("Open shop.example.com [m1].", [["Open …", "1"]]),
        ("\u{27E6}\u{27E6} nothing \u{27E7}", [["nothing"]]),
        ("In\u{200B}visi\u{202E}ble\u{7} words", [["Invisible words"]]),
    ])
    func addresses(_ text: String, _ expected: [[String]]) {
        #expect(Self.shown(text, ["write to ben@example.org", "see shop.example.com there"]) == expected)
    }

    @Test func anAddressOfTheQuestionMayComeBack() {
        let sources = Self.sources([], question: "Who has ben@example.org and shop.example.net?")
        #expect(sources.question.shown == "Who has \u{27E6}q.1\u{27E7} and shop.example.net?")
        let answer = AnswerText("Ben has \u{27E6}q.1\u{27E7} and shop.example.net, not shop.example.com.", sources)
        #expect(answer.sentences.map(\.text) == ["Ben has ben@example.org and shop.example.net, not …"])
    }

    @Test func itIsBounded() {
        let long = AnswerText(String(repeating: "So it is. ", count: 5_000), Self.sources([])).sentences
        #expect(long.count == AnswerSentence.maxCount)
        let one = AnswerText(String(repeating: "a", count: 50_000), Self.sources([])).sentences
        #expect(one.map(\.text.count) == [AnswerSentence.maxLength])
        // Of the addresses of a sentence a few are looked for in what it rests on.
        let addresses = (0..<60).map { "a\($0).io" }.joined(separator: " ")
        let known = Self.read(addresses + " [m1]", [addresses])
        #expect(known.map { $0.text.split(separator: " ").count { $0 != "…" } } == [20])
        #expect(
            Self.read(String(repeating: ".", count: 7_000)).allSatisfy { $0.text.count <= AnswerSentence.maxLength })
    }

    /// However a text is cut into pieces, the same is shown: never a handle, never half a marker.
    @Test func piecesAreShownAsTheyCome() {
        let text = "Ben [m1] brings \u{27E6}m1.1\u{27E7} and evil.example.net. それは【m2】そう [m2, m1] (m3) at [last"
        let sources = Self.sources(["write to ben@example.org", "two", "three"])
        var whole: Set<String> = []
        for size in 1...7 {
            var stream = AnswerStream(sources)
            var shown = ""
            let scalars = Array(text.unicodeScalars)
            for start in stride(from: 0, to: scalars.count, by: size) {
                shown += stream.add(String(String.UnicodeScalarView(scalars[start..<min(start + size, scalars.count)])))
                #expect(!shown.contains("m1") && !shown.contains("\u{27E6}") && !shown.contains("evil"))
            }
            whole.insert(shown + stream.finish())
        }
        #expect(whole.count == 1)
        #expect(whole.first?.hasPrefix("Ben brings ben@example.org and … それは") == true)
    }

    @Test func namesStandForWhatWasShownAlone() throws {
        var sources = AssistantSources(question: "")
        let (one, other) = (ConversationID.make(at: Timestamp(milliseconds: 1)), Self.conversation)
        #expect(sources.show(one) == "c1")
        #expect(sources.show(other) == "c2")
        #expect(sources.show(one) == "c1")
        #expect(sources.conversation("C2") == other)
        for wrong in ["c0", "c3", "c", "m1", "p1", "c-1", "c1x", one.text] {
            #expect(sources.conversation(wrong) == nil)
        }
        var count = 0
        for _ in 0..<200 where sources.show(UserID.make(at: Timestamp(milliseconds: 1))) != nil { count += 1 }
        #expect(count == AssistantSources.maxOthers)
    }

    @Test func textsAreCutAndMarked() {
        let long = SourceText(
            MaskedText(String(repeating: "x", count: 5_000), keeping: [10..<20]), handle: "m1")
        #expect(long.shown.unicodeScalars.count <= SourceText.maxLength + 1)
        #expect(long.shown.hasSuffix("…"))
        #expect(long.kept == ["xxxxxxxxxx"])
        // Nobody writes a marker that stands for something else.
        let forged = SourceText(MaskedText("see \u{27E6}m2.1\u{27E7}", keeping: []), handle: "m1")
        #expect(forged.shown == "see (m2.1)")
        let user = UserID.make(at: Timestamp(milliseconds: 1))
        let mention = "ask <@\(user.text)> 🎉"
        let kept = RangeFinder.ranges(in: mention).ranges.map { $0.start..<$0.end }
        #expect(SourceText(MaskedText(mention, keeping: kept), handle: "m1") { _ in "Ann" }.shown == "ask @Ann 🎉")
    }
}
