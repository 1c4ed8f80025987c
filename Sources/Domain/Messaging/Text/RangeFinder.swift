internal import Model

/// Finds the ranges of a text in one pass: its time grows with the length of the text, whatever the text is.
///
/// Code comes first and contains nothing else; then mentions, links and emoji; emphasis follows the rules of CommonMark
/// 0.31 section 6.2 in short: an opening marker is followed by a character that is no space and not preceded by a
/// letter or number, a closing one is the mirror image, both are on the same line, and markers nest. So `snake_case`,
/// `2*3*4` and `foo**bar**baz` are plain.
///
/// Letters of scripts without spaces (``UnspacedScript``) may stand before and after a marker: **太字** is bold in
/// `これは**太字**です`, and within `**` and `~~` also beside other letters, as in `Swift**语言**`. The exception is an
/// underscore after Hangul, which has spaces before words: it occurs in names of files.
package struct RangeFinder {
    /// Further ones are left out: the whole text is shown, and the rest of it as it is written.
    package static let maxRanges = 500

    private let scalars: [Unicode.Scalar]
    /// The offset of each scalar in UTF-16 code units, and the end.
    private let offsets: [Int]
    private var index = 0
    private var ranges: [TextRange] = []
    private var openers: [Opener] = []
    private var links = LinkExtent()
    /// Lengths of runs of backticks that have no closing run any more: on this line, and in the rest of the text.
    private var unclosedOnLine: Set<Int> = []
    private var hasUnclosedBlock = false

    private struct Opener {
        var marker: Marker
        var index: Int
        /// Where its run begins, which may have a second marker.
        var run: Int
    }

    private enum Marker: Hashable {
        case bold, strike, star, underscore

        var kind: TextRange.Kind {
            switch self {
            case .bold: .bold
            case .strike: .strike
            case .star, .underscore: .italic
            }
        }
        var length: Int { self == .bold || self == .strike ? 2 : 1 }
    }

    package static func ranges(in text: String) -> FoundRanges {
        var finder = RangeFinder(text)
        finder.find()
        // A range before those that it contains.
        finder.ranges.sort { ($0.start, -$0.length) < ($1.start, -$1.length) }
        return FoundRanges(ranges: Array(finder.ranges.prefix(maxRanges)))
    }

    /// Links and mentions, as they are written: what leads somewhere.
    package static func targets(in text: String) -> Set<String> {
        let units = Array(text.utf16)
        let found = ranges(in: text).ranges.filter { $0.kind == .link || $0.kind == .mention }
        return Set(
            found.map { String(decoding: units[min($0.start, units.count)..<min($0.end, units.count)], as: UTF16.self) }
        )
    }

    /// Whether a text that was derived from another one has a link that the original does not have. A link with a path
    /// may run into a word of a script without spaces; behind a host alone, that would be another host.
    package static func adds(targetsOf text: String, to original: String) -> Bool {
        let own = targets(in: original)
        return targets(in: text).contains { target in
            !own.contains { one in
                if target == one { return true }
                guard target.hasPrefix(one), let next = target.dropFirst(one.count).unicodeScalars.first else {
                    return false
                }
                return !next.isASCII && one.count { $0 == "/" } > 2
            }
        }
    }

    private init(_ text: String) {
        scalars = Array(text.unicodeScalars)
        var offsets: [Int] = []
        offsets.reserveCapacity(scalars.count + 1)
        var offset = 0
        for scalar in scalars {
            offsets.append(offset)
            offset += scalar.value > 0xFFFF ? 2 : 1
        }
        offsets.append(offset)
        self.offsets = offsets
    }

    private mutating func find() {
        while index < scalars.count {
            switch scalars[index] {
            case "\n":
                openers.removeAll(keepingCapacity: true)
                unclosedOnLine.removeAll(keepingCapacity: true)
                index += 1
            case "`": findCode()
            case "<": findMention()
            case "*", "_", "~": findEmphasis()
            case "h", "H": findLink()
            default: findEmoji()
            }
        }
    }

    /// Notes the range from `start` to `end`, indices of scalars, and goes on after it.
    private mutating func add(_ kind: TextRange.Kind, from start: Int, to end: Int, user: UserID? = nil) {
        ranges.append(TextRange(kind, start: offsets[start], length: offsets[end] - offsets[start], user: user))
    }

    private func scalar(at index: Int) -> Unicode.Scalar? { scalars.indices.contains(index) ? scalars[index] : nil }

    private func runLength(of scalar: Unicode.Scalar, from start: Int) -> Int {
        var end = start
        while end < scalars.count, scalars[end] == scalar { end += 1 }
        return end - start
    }
}

// MARK: Code

extension RangeFinder {
    private mutating func findCode() {
        let length = runLength(of: "`", from: index)
        let isBlock = length >= 3
        let isUnclosed = isBlock ? hasUnclosedBlock : unclosedOnLine.contains(length)
        guard !isUnclosed, let end = codeEnd(after: index + length, length: length) else {
            if isBlock { hasUnclosedBlock = true } else { unclosedOnLine.insert(length) }
            index += length
            return
        }
        add(isBlock ? .block : .code, from: index, to: end)
        index = end
        // A block may end on another line, where all markers begin again.
        if isBlock {
            openers.removeAll(keepingCapacity: true)
            unclosedOnLine.removeAll(keepingCapacity: true)
        }
    }

    /// The end of the run of backticks that closes one of `length`: of as many on the same line, of three or more
    /// anywhere. There has to be something between them.
    private func codeEnd(after start: Int, length: Int) -> Int? {
        var position = start
        while position < scalars.count {
            switch scalars[position] {
            case "\n" where length < 3: return nil
            case "`":
                let run = runLength(of: "`", from: position)
                if length < 3 ? run == length : run >= 3 { return position + run }
                position += run
            default: position += 1
            }
        }
        return nil
    }
}

// MARK: Mentions and links

extension RangeFinder {
    private static let everybody = Array("<@all>".unicodeScalars)

    private mutating func findMention() {
        let start = index
        index += 1
        guard scalar(at: start + 1) == "@" else { return }
        if scalars[start...].starts(with: Self.everybody) {
            index = start + Self.everybody.count
            return add(.mention, from: start, to: index)
        }
        // "<@", a UUID and ">"
        let (first, end) = (start + 2, start + 38)
        guard scalar(at: end) == ">" else { return }
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars[first..<end])
        guard let user = UserID(String(text)) else { return }
        index = end + 1
        add(.mention, from: start, to: index, user: user)
    }

    private mutating func findLink() {
        let start = index
        guard let host = schemeEnd(from: start), !endsWord(before: start) else {
            index += 1
            return
        }
        let end = links.end(in: scalars, from: host) { [openers, scalars] marker in
            Self.closes(openers, at: marker, in: scalars)
        }
        index = end
        guard end > host,
            scalars[host].properties.isAlphabetic || scalars[host].properties.numericType != nil
                || scalars[host] == "["
        else { return }
        add(.link, from: start, to: end)
    }

    /// The index after `http://` or `https://`.
    private func schemeEnd(from start: Int) -> Int? {
        for scheme in ["https://", "http://"] {
            let wanted = scheme.unicodeScalars
            let end = start + wanted.count
            guard end <= scalars.count else { continue }
            // Only ASCII letters differ by this bit where both are letters.
            let isSame = zip(scalars[start..<end], wanted).allSatisfy { found, letter in
                found == letter || letter.properties.isAlphabetic && found.isASCII && found.value | 0x20 == letter.value
            }
            if isSame { return end }
        }
        return nil
    }

    /// Whether a marker at `index`, which may also be a part of a link, closes what is open in a script without spaces.
    private static func closes(_ openers: [Opener], at index: Int, in scalars: [Unicode.Scalar]) -> Bool {
        guard !openers.isEmpty, index == 0 || scalars[index - 1] != scalars[index] else { return false }
        // No marker is longer than three.
        var end = index
        while end < min(scalars.count, index + 4), scalars[end] == scalars[index] { end += 1 }
        guard end < scalars.count, UnspacedScript.contains(scalars[end]) else { return false }
        let markers = markers(scalars[index], end - index)
        return openers.contains { markers.contains($0.marker) }
    }
}

// MARK: Emphasis

extension RangeFinder {
    private mutating func findEmphasis() {
        // The keycap of the star is an emoji.
        if EmojiSequence.end(in: scalars, from: index) != nil { return findEmoji() }
        let (scalar, start) = (scalars[index], index)
        index += runLength(of: scalar, from: start)
        let markers = Self.markers(scalar, index - start)
        if !isSpace(at: start - 1), mayClose(from: start), close(markers, at: start) { return }
        if !isSpace(at: index), mayOpen(scalar, from: start) { open(markers, at: start) }
    }

    /// Whether the text before a marker, which ends at `index`, lets it open a range.
    private func mayOpen(_ marker: Unicode.Scalar, from start: Int) -> Bool {
        guard let before = letter(before: start) else { return true }
        if marker == "_", UnspacedScript.isHangul(before) { return false }
        return !Self.isWordCharacter(before) || parts(before, scalar(at: index), from: start)
    }

    /// Whether the text after it lets it close a range.
    private func mayClose(from start: Int) -> Bool {
        guard let after = scalar(at: index), Self.isWordCharacter(after) else { return true }
        return parts(after, letter(before: start), from: start)
    }

    /// Whether a marker of two characters stands between a letter outside and one of a script without spaces inside.
    /// After a number it may be a calculation.
    private func parts(_ outside: Unicode.Scalar, _ inside: Unicode.Scalar?, from start: Int) -> Bool {
        index - start >= 2 && outside.properties.numericType == nil && inside.map(UnspacedScript.contains) ?? false
    }

    private mutating func open(_ markers: [Marker], at start: Int) {
        var position = start
        for marker in markers {
            // A marker that is open already is not opened again inside.
            if !openers.contains(where: { $0.marker == marker }) {
                openers.append(Opener(marker: marker, index: position, run: start))
            }
            position += marker.length
        }
    }

    /// Closes those of `markers` that are open, the innermost first. Markers that were opened inside of them do not
    /// count. Returns whether there were any.
    private mutating func close(_ markers: [Marker], at start: Int) -> Bool {
        var left = markers
        var position = start
        while let found = openers.lastIndex(where: { left.contains($0.marker) }) {
            var opener = openers[found]
            var outer: Opener?
            // Of a run of three, whichever is closed first is the inner one.
            if found + 1 < openers.count, openers[found + 1].run == opener.run {
                outer = Opener(marker: openers[found + 1].marker, index: opener.run, run: opener.run)
                opener.index += openers[found + 1].marker.length
            }
            openers.removeSubrange(found...)
            if let outer { openers.append(outer) }
            left.removeAll { $0 == opener.marker }
            position += opener.marker.length
            add(opener.marker.kind, from: opener.index, to: position)
        }
        return position > start
    }

    private static func markers(_ scalar: Unicode.Scalar, _ run: Int) -> [Marker] {
        switch (scalar, run) {
        case ("*", 1): [.star]
        case ("*", 2): [.bold]
        case ("*", 3): [.bold, .star]
        case ("_", 1): [.underscore]
        case ("~", 2): [.strike]
        default: []
        }
    }

    private func isSpace(at index: Int) -> Bool { scalar(at: index)?.properties.isWhitespace ?? true }

    /// Whether a word of a script with spaces ends at `index`.
    private func endsWord(before index: Int) -> Bool { letter(before: index).map(Self.isWordCharacter) ?? false }

    /// The scalar before `index` without its marks: é is a letter, also as two scalars.
    private func letter(before index: Int) -> Unicode.Scalar? {
        var index = index - 1
        while let scalar = scalar(at: index), ScalarTraits(scalar).contains(.mark) { index -= 1 }
        return scalar(at: index)
    }

    /// Letters and numbers, but for those of scripts without spaces, which have emphasis and links within what looks
    /// like a word.
    private static func isWordCharacter(_ scalar: Unicode.Scalar) -> Bool {
        (scalar.properties.isAlphabetic || scalar.properties.numericType != nil) && !UnspacedScript.contains(scalar)
    }
}

// MARK: Emoji

extension RangeFinder {
    private mutating func findEmoji() {
        let start = index
        while let end = EmojiSequence.end(in: scalars, from: index) { index = end }
        if index > start { add(.emoji, from: start, to: index) } else { index += 1 }
    }
}
