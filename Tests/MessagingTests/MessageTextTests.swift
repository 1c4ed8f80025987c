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
}
