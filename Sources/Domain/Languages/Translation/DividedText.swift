/// A text in pieces that an engine takes which does not take it whole.
package struct DividedText: Hashable, Sendable {
    /// A piece, and the white space between it and the next.
    package struct Piece: Hashable, Sendable {
        package var text: MaskedText
        package var separator: String
    }

    /// Together they are the text.
    package let pieces: [Piece]

    /// Divides a text at the ends of paragraphs and sentences, where these are too long between words, and nowhere in what
    /// is kept.
    ///
    /// - Parameter maxLength: of a piece, in Unicode scalars.
    /// - Returns: nil if a word, or something that is kept, is longer.
    package init?(_ text: MaskedText, maxLength: Int) {
        var divider = Divider(maxLength: maxLength)
        for part in text.parts {
            switch part {
            case .kept, .replaced: divider.append(Divider.Token(part: part, strength: .none))
            case .text(let text): for token in Self.tokens(of: text) { divider.append(token) }
            }
        }
        guard let pieces = divider.pieces() else { return nil }
        self.pieces = pieces
    }

    /// Translations of the pieces, in their order, as one text.
    package func joined(_ translations: [String]) -> String {
        zip(pieces, translations).reduce(into: "") { $0 += $1.1 + $1.0.separator }
    }

    /// Words, each with the white space behind it as a token of its own.
    private static func tokens(of text: String) -> [Divider.Token] {
        var tokens: [Divider.Token] = []
        var rest = text[...]
        while let first = rest.first {
            let isSpace = first.isWhitespace
            let token = rest.prefix { $0.isWhitespace == isSpace }
            rest = rest[token.endIndex...]
            guard isSpace else {
                tokens += words(in: token)
                continue
            }
            let before = tokens.last { !$0.text.isEmpty }?.text.last
            let strength: Divider.Strength =
                token.contains(where: \.isNewline) ? .paragraph : before.map(isEnd) == true ? .sentence : .word
            tokens.append(Divider.Token(part: .text(String(token)), strength: strength))
        }
        return tokens
    }

    /// Where scripts have no white space, there is a token without anything behind each sentence.
    private static func words(in token: Substring) -> [Divider.Token] {
        var tokens: [Divider.Token] = []
        var rest = token
        while let end = rest.firstIndex(where: { "。！？".contains($0) }) {
            tokens.append(Divider.Token(part: .text(String(rest[...end])), strength: .none))
            tokens.append(Divider.Token(part: .text(""), strength: .sentence))
            rest = rest[rest.index(after: end)...]
        }
        return rest.isEmpty ? tokens : tokens + [Divider.Token(part: .text(String(rest)), strength: .none)]
    }

    /// Whether a sentence may end with it.
    private static func isEnd(_ character: Character) -> Bool { ".!?…。！？।؟۔»\")".contains(character) }
}

/// Fills pieces with tokens.
private struct Divider {
    enum Strength: Int, Comparable {
        case none, word, sentence, paragraph

        static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    struct Token {
        var part: MaskedText.Part
        /// Of white space, how well it divides.
        var strength: Strength

        var text: String {
            switch part {
            case .text(let text), .kept(let text), .replaced(let text, _): text
            }
        }
    }

    private let maxLength: Int
    private var tokens: [Token] = []
    private var made: [DividedText.Piece] = []
    private var length = 0
    private var isTooLong = false

    init(maxLength: Int) { self.maxLength = maxLength }

    mutating func append(_ token: Token) {
        tokens.append(token)
        length += token.text.unicodeScalars.count
        while length > maxLength, !isTooLong { cut() }
    }

    mutating func pieces() -> [DividedText.Piece]? {
        guard !isTooLong else { return nil }
        if !tokens.isEmpty { made.append(.init(text: MaskedText(parts: tokens.map(\.part)), separator: "")) }
        return made
    }

    /// At the last of the strongest white space that leaves a third of the length or more, else anywhere.
    private mutating func cut() {
        var best: (index: Int, strength: Strength)?
        var position = 0
        for (index, token) in tokens.enumerated() {
            let isLate = position >= maxLength / 3
            if token.strength != .none, position > 0, position <= maxLength,
                best.map({ isLate ? token.strength >= $0.strength : true }) ?? true
            {
                best = (index, isLate ? token.strength : .word)
            }
            position += token.text.unicodeScalars.count
        }
        guard let cut = best?.index else {
            // Blank space alone can be of any length.
            if tokens.count == 1, tokens[0].strength != .none, let last = made.indices.last {
                made[last].separator += tokens[0].text
                (tokens, length) = ([], 0)
            } else {
                isTooLong = true
            }
            return
        }
        made.append(
            .init(text: MaskedText(parts: tokens[..<cut].map(\.part)), separator: tokens[cut].text))
        tokens.removeSubrange(...cut)
        length = tokens.reduce(0) { $0 + $1.text.unicodeScalars.count }
    }
}
