internal import Languages
internal import Model

/// What a model wrote, read piece by piece: words, handles of messages in brackets, and markers of what was kept.
enum AnswerToken: Hashable {
    case text(String)
    /// `[m1]`, `[m1, m2]`.
    case citation([String])
    /// `⟦m1.2⟧`
    case marker(String, Int)

    /// In Unicode scalars, of brackets with handles.
    static let maxBracket = 120

    private static let closers: [Unicode.Scalar: Unicode.Scalar] = [
        "[": "]", "(": ")", "\u{3010}": "\u{3011}", "\u{27E6}": "\u{27E7}",
    ]

    static func opens(_ scalar: Unicode.Scalar) -> Bool { closers[scalar] != nil }

    static func scan(_ text: String) -> [AnswerToken] {
        var tokens: [AnswerToken] = []
        var words = String.UnicodeScalarView()
        var rest = text.unicodeScalars[...]
        func flush() {
            if !words.isEmpty { tokens.append(.text(String(words))) }
            words = String.UnicodeScalarView()
        }
        while let scalar = rest.first {
            if let closer = closers[scalar],
                let end = rest.prefix(maxBracket).firstIndex(of: closer),
                let token = token(in: rest[rest.index(after: rest.startIndex)..<end], isMarker: scalar == "\u{27E6}")
            {
                flush()
                tokens.append(token)
                rest = rest[rest.index(after: end)...]
                continue
            }
            // A marker that is none means nothing to its reader.
            if scalar != "\u{27E6}", scalar != "\u{27E7}" { words.append(scalar) }
            rest = rest.dropFirst()
        }
        flush()
        return tokens
    }

    private static func token(in content: String.UnicodeScalarView.SubSequence, isMarker: Bool) -> AnswerToken? {
        if isMarker {
            let parts = content.split(separator: ".", maxSplits: 1).map { String($0) }
            guard parts.count == 2, let number = Int(parts[1]) else { return nil }
            return .marker(parts[0].lowercased(), number)
        }
        let items = content.split { $0 == "," || $0 == ";" || $0.properties.isWhitespace }
        guard !items.isEmpty, items.allSatisfy(isHandle) else { return nil }
        return .citation(items.map { String($0).lowercased() })
    }

    /// `m` and a number.
    private static func isHandle(_ item: String.UnicodeScalarView.SubSequence) -> Bool {
        guard let first = item.first, first == "m" || first == "M", (2...6).contains(item.count) else { return false }
        return item.dropFirst().allSatisfy { ("0"..."9").contains($0) }
    }
}

/// An answer as sentences with the messages that they rest on.
package struct AnswerText: Hashable, Sendable {
    /// In Unicode scalars; what is beyond is cut.
    package static let maxLength = 8_000

    package let sentences: [AnswerSentence]

    /// - Parameters:
    ///   - text: as the model wrote it.
    ///   - sources: what it was shown: any other handle is dropped.
    package init(_ text: String, _ sources: AssistantSources) {
        var reader = AnswerReader(sources)
        for token in AnswerToken.scan(String(String.UnicodeScalarView(text.unicodeScalars.prefix(Self.maxLength)))) {
            reader.read(token)
        }
        sentences = reader.finish()
    }
}

private struct AnswerReader {
    private let sources: AssistantSources
    private var sentences: [AnswerSentence] = []
    private var words = ""
    private var citations: [AnswerCitation] = []
    private var startsLine = false
    /// Whether the sentence has ended, but for handles that may follow.
    private var isEnded = false

    init(_ sources: AssistantSources) { self.sources = sources }

    mutating func read(_ token: AnswerToken) {
        switch token {
        case .citation(let handles):
            for handle in handles { cite(handle) }
            // The space before them goes with them.
            while words.last == " " { words.removeLast() }
        case .marker(let handle, let number):
            if isEnded { end() }
            words += sources.kept(handle, number) ?? "…"
            cite(handle)
        case .text(let text):
            read(text)
        }
    }

    mutating func finish() -> [AnswerSentence] {
        end()
        return sentences
    }

    private mutating func cite(_ handle: String) {
        guard let citation = sources.message(handle)?.citation else { return }
        // Handles on a line of their own belong to the sentence before.
        if words.allSatisfy(\.isWhitespace), !sentences.isEmpty, !isEnded {
            if !sentences[sentences.count - 1].citations.contains(citation) {
                sentences[sentences.count - 1].citations.append(citation)
            }
        } else if !citations.contains(citation) {
            citations.append(citation)
        }
    }

    private mutating func read(_ text: String) {
        let scalars = Array(text.unicodeScalars)
        for (index, scalar) in scalars.enumerated() {
            if scalar == "\n" || scalar == "\r" {
                end()
                startsLine = !sentences.isEmpty
                continue
            }
            let isSpace = scalar.properties.isWhitespace
            if isEnded, !isSpace, !(Self.closes(scalar) && words.last?.isWhitespace == false) {
                // A full stop after the handles of a sentence ends the same sentence.
                if !(Self.isTerminator(scalar) && !citations.isEmpty) { end() }
            }
            if isSpace || Self.isVisible(scalar) { words.unicodeScalars.append(isSpace ? " " : scalar) }
            if Self.isTerminator(scalar), Self.ends(scalars, at: index, isCited: !citations.isEmpty) { isEnded = true }
        }
    }

    /// Ends the sentence.
    private mutating func end() {
        defer { (words, citations, isEnded) = ("", [], false) }
        var text = words.split(separator: " ").joined(separator: " ")
        text = Self.withoutMarkup(text)
        text = addresses(in: String(String.UnicodeScalarView(text.unicodeScalars.prefix(AnswerSentence.maxLength))))
        guard text.unicodeScalars.contains(where: { !$0.properties.isWhitespace && $0 != "-" && $0 != "." }) else {
            // Its handles were of what came before.
            if let last = sentences.indices.last {
                for one in citations where !sentences[last].citations.contains(one) {
                    sentences[last].citations.append(one)
                }
            }
            return
        }
        guard sentences.count < AnswerSentence.maxCount else { return }
        text = String(String.UnicodeScalarView(text.unicodeScalars.prefix(AnswerSentence.maxLength)))
        sentences.append(AnswerSentence(text, citations: citations, startsLine: startsLine))
        startsLine = false
    }

    /// Without addresses that no cited message has: whoever made the model write them may want something.
    private func addresses(in text: String) -> String {
        let cited = citations.compactMap { citation in
            sources.messages.first { $0.citation == citation }?.text.original
        }
        let known = cited + [sources.question.original]
        var checked = 0
        return text.split(separator: " ").map { word in
            guard AddressWord.isAddress(word) else { return String(word) }
            let address = AddressWord.trimmed(word)
            checked += 1
            // Each is looked for in all that is cited.
            guard !address.isEmpty, checked <= Self.maxAddresses, known.contains(where: { $0.contains(address) }) else {
                return "…"
            }
            return String(word)
        }.joined(separator: " ")
    }

    /// Models write it whatever they are told.
    private static func withoutMarkup(_ text: String) -> String {
        var text = text.replacing("**", with: "").replacing("`", with: "")
        while text.hasPrefix("#") { text.removeFirst() }
        return text.trimmingPrefix(while: \.isWhitespace).description
    }

    /// Terminators and closing marks that may follow each other.
    private static let maxClosing = 64
    /// Addresses of a sentence.
    private static let maxAddresses = 20

    private static func isTerminator(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case ".", "!", "?", "…", "。", "！", "？", "।", "॥", "؟", "۔": true
        default: false
        }
    }

    /// Whether a terminator ends the sentence: behind it comes a space and no small letter, unless what it rests on was said
    /// before, or nothing.
    private static func ends(_ scalars: [Unicode.Scalar], at index: Int, isCited: Bool) -> Bool {
        var next = index + 1
        // Of a long row of them none ends it, so that each is not followed to the end of the row.
        let limit = min(scalars.count, index + maxClosing)
        while next < limit, isTerminator(scalars[next]) || closes(scalars[next]) { next += 1 }
        guard next < scalars.count else { return true }
        if ["。", "！", "？"].contains(scalars[index]) { return true }
        guard scalars[next].properties.isWhitespace else { return false }
        if isCited { return true }
        while next < scalars.count, scalars[next].properties.isWhitespace { next += 1 }
        return next == scalars.count || scalars[next].properties.generalCategory != .lowercaseLetter
    }

    private static func closes(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .closePunctuation, .finalPunctuation: true
        default: scalar == "\"" || scalar == "'"
        }
    }

    static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        // Joiners stand inside of words and emoji.
        case .format: scalar == "\u{200C}" || scalar == "\u{200D}"
        case .control, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: false
        default: true
        }
    }
}

/// Words that lead somewhere, or that clients make links of.
enum AddressWord {
    private static let punctuation: Set<Character> = [
        ".", ",", ";", ":", "!", "?", "\"", "'", "(", ")", "[", "]", "<", ">", "«", "»", "“", "”", "*",
    ]

    static func trimmed(_ word: some StringProtocol) -> String {
        var word = word[...]
        while let first = word.first, punctuation.contains(first) { word = word.dropFirst() }
        while let last = word.last, punctuation.contains(last) { word = word.dropLast() }
        return String(word)
    }

    static func isAddress(_ word: some StringProtocol) -> Bool {
        word.contains("://") || ModelText.leadsSomewhere(trimmed(word).lowercased())
    }
}

/// The text of an answer while it is written, without handles: as much of it as nothing that follows can change.
package struct AnswerStream: Sendable {
    /// In Unicode scalars, of a word without an end.
    private static let maxPending = 300

    private let sources: AssistantSources
    private var pending = String.UnicodeScalarView()
    private var count = 0

    package init(_ sources: AssistantSources) { self.sources = sources }

    /// - Returns: what can be shown now, which may be nothing.
    package mutating func add(_ piece: String) -> String {
        pending += piece.unicodeScalars
        guard let end = boundary() else { return "" }
        let part = String(pending[..<end])
        pending = String.UnicodeScalarView(pending[end...])
        return shown(part)
    }

    /// The rest.
    package mutating func finish() -> String {
        defer { pending = String.UnicodeScalarView() }
        return shown(String(pending))
    }

    private mutating func shown(_ text: String) -> String {
        var shown = ""
        for token in AnswerToken.scan(text) {
            switch token {
            case .citation:
                // The space before it goes with it.
                if shown.last == " " { shown.removeLast() }
            case .marker(let handle, let number): shown += sources.kept(handle, number) ?? "…"
            case .text(let text): shown += Self.withoutAddresses(text)
            }
        }
        let left = max(0, AnswerText.maxLength - count)
        let scalars = shown.unicodeScalars.filter { $0 == "\n" || AnswerReader.isVisible($0) }
        let cut = String(String.UnicodeScalarView(scalars.prefix(left)))
        count += cut.unicodeScalars.count
        return cut.replacing("**", with: "").replacing("`", with: "")
    }

    /// Those that cited messages have come with the whole sentence.
    private static func withoutAddresses(_ text: String) -> String {
        var result = ""
        var word = ""
        func flush() {
            result += AddressWord.isAddress(word) ? "…" : word
            word = ""
        }
        for character in text {
            if character.isWhitespace {
                flush()
                result.append(character)
            } else {
                word.append(character)
            }
        }
        flush()
        return result
    }

    /// After the last white space, or letter that no address has, that is in no open bracket.
    private func boundary() -> String.UnicodeScalarView.Index? {
        var found: String.UnicodeScalarView.Index?
        var open: Int?
        for (offset, index) in pending.indices.enumerated() {
            let scalar = pending[index]
            if AnswerToken.opens(scalar) { open = offset }
            if scalar == "]" || scalar == ")" || scalar == "\u{3011}" || scalar == "\u{27E7}" { open = nil }
            if let start = open, offset - start > AnswerToken.maxBracket { open = nil }
            let next = pending.index(after: index)
            guard open == nil, scalar.properties.isWhitespace || !scalar.isASCII else { continue }
            // A combining mark belongs to what is before it, and a space goes with the handles behind it.
            guard next < pending.endIndex, !pending[next].properties.isGraphemeExtend,
                !AnswerToken.opens(pending[next])
            else { continue }
            found = next
        }
        if found == nil, pending.count > Self.maxPending { return pending.endIndex }
        return found
    }
}
