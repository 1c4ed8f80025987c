import Model
import Testing

@testable import Messaging

@Suite("The text of a message")
struct MessageTextTests {
    private func problem(_ text: String) -> Problem? {
        do {
            _ = try MessageText(text)
            return nil
        } catch {
            return error
        }
    }

    @Test("line breaks are made uniform, and space around is removed")
    func normalised() throws {
        #expect(try MessageText(" \u{3000}a\r\nb\rc\n\td \n").text == "a\nb\nc\n\td")
        #expect(try MessageText("\r\r\na\n\r").text == "a")
    }

    @Test("what is invisible or changes the direction stays")
    func kept() throws {
        let text = "a\u{200B}b\u{202E}c\u{2066}d <b>&amp;</b> \u{FEFF}e\u{0301}\u{0301}"
        #expect(try MessageText(text).text == text)
        // They are no white space, so that such a text is not empty.
        #expect(try MessageText("\u{200B}").text == "\u{200B}")
    }

    @Test("too long, empty, and control characters are refused by name")
    func refused() throws {
        #expect(try MessageText(String(repeating: "a", count: 65_536)).text.utf8.count == 65_536)
        #expect(problem(String(repeating: "a", count: 65_537))?.detail.contains("65536") == true)
        #expect(problem(String(repeating: "👍", count: 100_000))?.field == "text")
        for text in ["", " ", "\n\r\n", "\u{00A0}\u{2003}"] {
            #expect(problem(text)?.field == "text", "\(text.debugDescription)")
        }
        #expect(problem("a\u{0}b")?.detail.contains("U+0000") == true)
        #expect(problem("\u{1B}[31m")?.detail.contains("U+001B") == true)
        #expect(problem("\u{85}a\u{9F}")?.detail.contains("U+0085") == true)
    }

    @Test(
        "what looks like one character has a bound, whatever it is made of",
        arguments: ["\u{0301}", "\u{0600}", "\u{1100}", "\u{0915}\u{094D}", "\u{1F469}\u{200D}", "\u{200D}"])
    func clusters(_ part: String) throws {
        #expect(problem("a" + String(repeating: part, count: 66))?.detail.contains("64 marks") == true)
        #expect(problem(String(repeating: part, count: 20_000))?.field == "text")
        #expect(problem(String(repeating: "a" + String(repeating: part, count: 32), count: 200)) == nil)
    }

    @Test("a text is cut between scalars, in however many marks that is")
    func cut() {
        let text = "é👍🏽" + String(repeating: "\u{0301}", count: 4)
        let sizes = text.unicodeScalars.reduce(into: [0]) { $0.append($0[$0.count - 1] + UTF8.width($1)) }
        for bytes in 0...text.utf8.count + 1 {
            #expect(text.prefix(bytes: bytes).utf8.count == sizes.last { $0 <= bytes })
        }
    }
}
