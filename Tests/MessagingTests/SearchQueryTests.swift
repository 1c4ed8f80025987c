import Model
import Testing

@testable import Messaging

@Suite("Search queries")
struct SearchQueryTests {
    private func phrases(_ text: String) throws -> [String] {
        try SearchQuery(text).phrases.map { phrase in
            phrase.units.map(\.term.text).joined(separator: "+") + (phrase.isPrefix ? "*" : "")
        }
    }

    @Test("words, phrases and what is typed already")
    func parsing() throws {
        #expect(try phrases("Hello wor") == ["hello", "wor*"])
        #expect(try phrases("  hello  ") == ["hello*"])
        #expect(try phrases("hello+wor") == ["hello", "wor*"])
        #expect(try phrases("\"hello world\" agai") == ["hello+world", "agai*"])
        #expect(try phrases("again \"hello world\"") == ["again", "hello+world"])
        #expect(try phrases("“hello world” «a b»「東京」") == ["hello+world", "a+b", "東+京"])
        #expect(try phrases("\"hello wor") == ["hello+wor*"])
        #expect(try phrases("e-mail don't") == ["e+mail", "don+t*"])
        #expect(try phrases("东京 C++ !") == ["东+京", "c*"])
        #expect(try phrases("\"\" x \"!\"") == ["x*"])
    }

    @Test("a query that holds nothing to search for, or too much, says what is allowed")
    func errors() {
        for text in ["", "  ", "\"\"", "!?", "👍", "\u{301}"] {
            #expect(throws: Problem.invalid("query", "A query holds something to search for: a letter or a number.")) {
                try SearchQuery(text)
            }
        }
        #expect(problem { _ = try SearchQuery(String(repeating: "a", count: 257)) } == .invalidRequest)
        #expect(problem { _ = try SearchQuery(String(repeating: "é", count: 256)) } == nil)
        #expect(problem { _ = try SearchQuery(String(repeating: "a ", count: 32)) } == nil)
        #expect(problem { _ = try SearchQuery(String(repeating: "a ", count: 33)) } == .invalidRequest)
        #expect(problem { _ = try SearchQuery(String(repeating: "東", count: 33)) } == .invalidRequest)
    }

    private func ranges(_ query: String, _ text: String) throws -> [[Int]]? {
        SearchMatch(try SearchQuery(query), in: text)?.ranges.map { [$0.start, $0.length] }
    }

    @Test("ranges are UTF-16 units of the text, and of whole words")
    func matching() throws {
        #expect(try ranges("wor", "😀 World, world") == [[3, 5], [10, 5]])
        #expect(try ranges("world hel", "Hello, World") == [[0, 5], [7, 5]])
        #expect(try ranges("world missing", "Hello, World") == nil)
        #expect(try ranges("\"hel\"", "Hello") == nil)
        #expect(try ranges("\"world hello\"", "Hello, World") == nil)
        #expect(try ranges("\"hello world\"", "Hello, *World* hello") == [[0, 13]])
        #expect(try ranges("京都", "東京都、京都") == [[1, 2], [4, 2]])
        #expect(try ranges("京", "東京都") == [[1, 1]])
        #expect(try ranges("都", "東京都") == [[2, 1]])
        #expect(try ranges("京都", "東京 都") == nil)
        #expect(try ranges("\"京 都\"", "東京 都") == [[1, 3]])
        #expect(try ranges("東京 tower", "東京Tower") == [[0, 2], [2, 5]])
        #expect(try ranges("aa \"a a\"", "a a aa") == [[0, 3], [4, 2]])
        #expect(try ranges("東東", "東東東") == [[0, 3]])
    }

    @Test("ranges count the text as it was sent, however that is composed")
    func equivalence() throws {
        #expect(try ranges("한글", "이 \u{1112}\u{1161}\u{11AB}\u{1100}\u{1173}\u{11AF}!") == [[2, 6]])
        #expect(try ranges("\u{1112}\u{1161}\u{11AB}\u{1100}\u{1173}\u{11AF}", "이 한글!") == [[2, 2]])
        #expect(try ranges("мой", "это мои\u{306} и мой") == [[4, 4], [11, 3]])
        #expect(try ranges("и\u{306}огурт", "йогурт") == [[0, 6]])
        #expect(try ranges("がき", "😀か\u{3099}き") == [[2, 3]])
        #expect(try ranges("か\u{3099}き", "大がき") == [[1, 2]])
        #expect(try ranges("テスト", "ﾃｽﾄとテスト") == [[0, 3], [4, 3]])
        #expect(try ranges("ｶﾞﾑ", "ガム") == [[0, 2]])
        #expect(try ranges("ガム", "ｶﾞﾑ") == [[0, 3]])
        #expect(try ranges("か", "か\u{3099}") == nil)
    }

    @Test("what a text matches, its terms have")
    func agreement() throws {
        let texts = [
            "東京都", "東京Tower日", "don't e-mail", "ไปตลาด ไป", "José JOSE", "a b c", "か\u{3099}きﾃｽﾄ ｶﾞ",
            "мои\u{306} \u{1112}\u{1161}\u{11AB}글",
        ]
        for text in texts {
            let terms = SearchTokenizer.terms(in: text)
            let scalars = Array(text.unicodeScalars)
            for start in scalars.indices {
                for end in start..<scalars.count {
                    var part = String.UnicodeScalarView()
                    part.append(contentsOf: scalars[start...end])
                    for quoted in [String(part), "\"\(String(part))\""] {
                        guard let query = try? SearchQuery(quoted), SearchMatch(query, in: text) != nil else {
                            continue
                        }
                        for lookup in query.phrases.flatMap(\.lookups) {
                            #expect(terms.contains { lookup.matches($0) }, "\(quoted) in \(text)")
                        }
                    }
                }
            }
        }
    }

    @Test("a text that has the words together, often and whole is more relevant")
    func relevance() throws {
        func relevance(_ query: String, _ text: String) throws -> Double {
            try #require(SearchMatch(SearchQuery(query), in: text)).relevance
        }
        #expect(try relevance("red car", "a red car here") > relevance("red car", "a red and fast car"))
        #expect(try relevance("car", "car car") > relevance("car", "car bus"))
        #expect(try relevance("car", "the car") > relevance("car", "the cartoon"))
        #expect(try relevance("car", "a car") > relevance("car", "a car among many other things of the day"))
    }

    @Test("cursors are read as they are written, and nothing else is")
    func cursors() throws {
        let id = ConversationID.make(at: Timestamp(milliseconds: 5))
        let position = SearchPosition(Timestamp(milliseconds: 1_800_000_000_000), id, 7)
        let cursors: [SearchCursor] = [
            .date(before: position), .relevance(top: position.next, after: 1.25, position),
            .date(before: SearchPosition(Timestamp(milliseconds: -1), id, .max)),
        ]
        for cursor in cursors { #expect(try SearchCursor(text: cursor.text) == cursor) }
        let (one, other) = (cursors[0].text, cursors[1].text)
        for text in [
            "", "a", "..", one + ".", "!" + one, one.dropLast() + "0", "1.\(id).0", "1.\(id).-5", "é.\(id).1",
            other + ".1",
        ] {
            #expect(problem { _ = try SearchCursor(text: String(text)) } == .invalidRequest, "\(text)")
        }
        #expect(
            problem { _ = try SearchRequest(query: SearchQuery("a"), order: .relevance, cursor: cursors[0]) }
                == .invalidRequest)
        #expect(problem { _ = try SearchRequest(query: nil) } == .invalidRequest)
    }
}
