import Model
import Wire

@testable import Messaging

/// Words of several scripts, each with its other spellings, and what matches them: without tokenizer, folding and index.
enum SearchWords {
    struct Word {
        /// As it is searched.
        var folded: String
        var spellings: [String]
        var hasSpaces = true
    }

    static let words = [
        Word(folded: "jose", spellings: ["José", "JOSE", "jos\u{65}\u{301}"]), Word(folded: "jos", spellings: ["Jos"]),
        Word(folded: "strasse", spellings: ["Straße", "STRASSE"]),
        Word(folded: "hello", spellings: ["hello", "Hello"]),
        Word(folded: "help", spellings: ["help"]), Word(folded: "7", spellings: ["7"]),
        Word(folded: "елка", spellings: ["Ёлка", "елка"]), Word(folded: "ел", spellings: ["ЕЛ"]),
        Word(folded: "سلام", spellings: ["سَلام", "سلام"]), Word(folded: "احمد", spellings: ["أحمد", "احمد"]),
        Word(folded: "東京都", spellings: ["東京都"], hasSpaces: false),
        Word(folded: "京都", spellings: ["京都"], hasSpaces: false),
        Word(folded: "東", spellings: ["東"], hasSpaces: false),
        Word(folded: "東東東", spellings: ["東東東"], hasSpaces: false),
        Word(folded: "カタカナひらがな", spellings: ["カタカナひらがな"], hasSpaces: false),
        Word(folded: "ไปตลาด", spellings: ["ไปตลาด"], hasSpaces: false),
        Word(folded: "ตลาด", spellings: ["ตลาด"], hasSpaces: false),
    ]
    private static let others = ["😀", "👨‍👩‍👧", "…", "https://", "<@all>"]

    static func text(_ random: inout SeededRandom, _ people: [UserID]) -> String {
        (0..<Int.random(in: 1...6, using: &random)).map { _ in
            guard Int.random(in: 0..<6, using: &random) > 0 else {
                let other = (others + ["<@\(people[0])>", "<@\(people[1])>"]).randomElement(using: &random) ?? ""
                return other == "https://" ? "https://7" : other
            }
            return words.randomElement(using: &random)?.spellings.randomElement(using: &random) ?? ""
        }.joined(separator: " ")
    }

    /// Words with spaces between them, the last one a beginning, or two words that follow each other.
    struct Query {
        var parts: [Word]
        var isPhrase: Bool
        var text: String

        var parsed: SearchQuery { get throws { try SearchQuery(text) } }
    }

    static func query(_ random: inout SeededRandom) -> Query? {
        let isPhrase = Int.random(in: 0..<4, using: &random) == 0
        var parts = (0..<Int.random(in: 1...2, using: &random)).compactMap { _ in words.randomElement(using: &random) }
        guard var last = parts.popLast() else { return nil }
        var text = (parts + [last]).compactMap { $0.spellings.randomElement(using: &random) }.joined(separator: " ")
        if !isPhrase {
            let scalars = last.folded.unicodeScalars
            last.folded = String(
                String.UnicodeScalarView(scalars.prefix(Int.random(in: 1...scalars.count, using: &random))))
            text = (parts.map(\.folded) + [last.folded]).joined(separator: " ")
        }
        return Query(parts: parts + [last], isPhrase: isPhrase, text: isPhrase ? "\"\(text)\"" : text)
    }
}

extension SearchWords.Query {
    private struct Token {
        var folded: String
        var hasSpaces: Bool
        var start: Int
        var length: Int
    }

    private static func tokens(of text: String) -> [Token] {
        var offset = 0
        var tokens: [Token] = []
        for part in text.split(separator: " ", omittingEmptySubsequences: false).map(String.init) {
            defer { offset += part.utf16.count + 1 }
            if part == "https://7" {
                tokens.append(Token(folded: "https", hasSpaces: true, start: offset, length: 5))
                tokens.append(Token(folded: "7", hasSpaces: true, start: offset + 8, length: 1))
            } else if part == "<@all>" {
                tokens.append(Token(folded: "all", hasSpaces: true, start: offset + 2, length: 3))
            } else if part.hasPrefix("<@") {
                for piece in part.dropFirst(2).dropLast().split(separator: "-") {
                    let start = offset + part.utf16.distance(from: part.startIndex, to: piece.startIndex)
                    tokens.append(
                        Token(folded: String(piece), hasSpaces: true, start: start, length: piece.utf16.count))
                }
            } else if let word = SearchWords.words.first(where: { $0.spellings.contains(part) }) {
                tokens.append(
                    Token(folded: word.folded, hasSpaces: word.hasSpaces, start: offset, length: part.utf16.count))
            }
        }
        return tokens
    }

    /// Nil if it does not match.
    func matches(in text: String) -> [SearchMatch.Range]? {
        let tokens = Self.tokens(of: text)
        var found: [(start: Int, end: Int)] = []
        if isPhrase {
            found = phrases(in: tokens)
            guard !found.isEmpty else { return nil }
        } else {
            for (index, part) in parts.enumerated() {
                let isLast = index == parts.count - 1
                let matches = tokens.flatMap { token -> [(start: Int, end: Int)] in
                    guard token.hasSpaces == part.hasSpaces else { return [] }
                    guard part.hasSpaces else { return Self.occurrences(of: part.folded, in: token) }
                    let isSame = isLast ? token.folded.utf8.starts(with: part.folded.utf8) : token.folded == part.folded
                    return isSame ? [(token.start, token.start + token.length)] : []
                }
                guard !matches.isEmpty else { return nil }
                found += matches
            }
        }
        found.sort { $0 < $1 }
        var joined: [(start: Int, end: Int)] = []
        for match in found {
            if let last = joined.last, match.start < last.end {
                joined[joined.count - 1].end = max(last.end, match.end)
            } else {
                joined.append(match)
            }
        }
        return joined.map { SearchMatch.Range(start: $0.start, length: $0.end - $0.start) }
    }

    /// Each character of a script without spaces is a word. What is written together has to be.
    private func phrases(in tokens: [Token]) -> [(start: Int, end: Int)] {
        struct Unit {
            var folded: String
            var isJoined = false
            var start = 0
            var end = 0
        }
        func units(_ folded: String, _ hasSpaces: Bool, _ start: Int, _ length: Int) -> [Unit] {
            guard !hasSpaces else { return [Unit(folded: folded, start: start, end: start + length)] }
            return folded.unicodeScalars.enumerated().map { index, scalar in
                Unit(folded: String(scalar), isJoined: index > 0, start: start + index, end: start + index + 1)
            }
        }
        let text = tokens.flatMap { units($0.folded, $0.hasSpaces, $0.start, $0.length) }
        let wanted = parts.flatMap { units($0.folded, $0.hasSpaces, 0, 0) }
        return text.indices.compactMap { first in
            guard first + wanted.count <= text.count else { return nil }
            for (index, unit) in wanted.enumerated() {
                let other = text[first + index]
                guard other.folded == unit.folded, other.isJoined || !unit.isJoined else { return nil }
            }
            return (text[first].start, text[first + wanted.count - 1].end)
        }
    }

    private static func occurrences(of part: String, in token: Token) -> [(start: Int, end: Int)] {
        let (all, wanted) = (Array(token.folded.unicodeScalars), Array(part.unicodeScalars))
        guard all.count >= wanted.count else { return [] }
        return (0...all.count - wanted.count).compactMap { start in
            Array(all[start..<start + wanted.count]) == wanted
                ? (token.start + start, token.start + start + wanted.count) : nil
        }
    }
}
