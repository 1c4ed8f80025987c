/// Where links end (RFC 3987 in short: a path may have letters of any script), in time that grows with the text alone.
///
/// A link ends before a space, a quotation mark or an angle bracket, and before the marks of Chinese, Japanese, Khmer
/// and Burmese, after which a sentence goes on without a space. A wide bracket belongs to it if it is in its path and
/// is closed in it.
struct LinkExtent {
    /// The closing brackets of those that were opened, as far as they are known.
    private var closers: [Int: Int] = [:]
    private var knownTo = 0

    /// The index after the last character of the link.
    ///
    /// - Parameters:
    ///   - host: the index after `https://`.
    ///   - isClosing: whether a marker of emphasis, with a character of a script without spaces after it, ends what is
    ///     open.
    mutating func end(in scalars: [Unicode.Scalar], from host: Int, isClosing: (Int) -> Bool) -> Int {
        var end = host
        var hasPath = false
        while end < scalars.count, !Self.isEnd(end, in: scalars) {
            let scalar = scalars[end]
            if scalar.isASCII {
                if scalar == "/" || scalar == "?" || scalar == "#" { hasPath = true }
                if scalar == "*" || scalar == "~", isClosing(end) { break }
                end += 1
            } else if Self.pairs[scalar] != nil {
                guard hasPath, let closer = closer(of: end, in: scalars) else { break }
                end = closer + 1
            } else if Self.closing.contains(scalar) {
                break
            } else {
                end += 1
            }
        }
        return Self.trimmed(end, in: scalars, from: host)
    }

    /// Without what closes the sentence, and without a parenthesis that was not opened in it.
    private static func trimmed(_ end: Int, in scalars: [Unicode.Scalar], from host: Int) -> Int {
        var end = end
        var parentheses = 0
        for scalar in scalars[host..<end] {
            if scalar == "(" { parentheses += 1 }
            if scalar == ")" { parentheses -= 1 }
        }
        while end > host {
            let last = scalars[end - 1]
            if last == ")", parentheses < 0 {
                parentheses += 1
            } else if !sentenceEnds.contains(last) {
                break
            }
            end -= 1
        }
        return end
    }

    private static let sentenceEnds = Set(".,;:!?'\"*_~]}…»›’～،؛؟۔।॥".unicodeScalars)
    private static let marks = Set("、。，．：；！？｡､︐︑︒︓︔︕︖﹐﹑﹒﹔﹕﹖﹗၊။។៕".unicodeScalars)
    private static let pairs: [Unicode.Scalar: Unicode.Scalar] = [
        "（": "）", "［": "］", "｛": "｝", "「": "」", "『": "』", "【": "】", "〔": "〕", "〖": "〗", "〘": "〙", "〚": "〛", "《": "》",
        "〈": "〉", "｢": "｣", "｟": "｠", "“": "”", "〝": "〟",
    ]
    private static let closing = Set(pairs.values)

    /// What ends a link wherever it is.
    private static func isEnd(_ index: Int, in scalars: [Unicode.Scalar]) -> Bool {
        let scalar = scalars[index]
        switch scalar {
        case "<", ">", "\"", "`", "＜", "＞", "＂": return true
        // The ellipsis and the dash of Chinese are two characters.
        case "…", "—": return index + 1 < scalars.count && scalars[index + 1] == scalar
        default: return !scalar.isASCII && marks.contains(scalar) || scalar.properties.isWhitespace
        }
    }
}

// Brackets. A text may open as many as it has characters: which of them are closed is found once for all links in it.
extension LinkExtent {
    private mutating func closer(of opener: Int, in scalars: [Unicode.Scalar]) -> Int? {
        if opener >= knownTo { findClosers(from: opener, in: scalars) }
        return closers[opener]
    }

    /// Of those from `start` to where no link goes on: a bracket that closes another than the last one ends each.
    private mutating func findClosers(from start: Int, in scalars: [Unicode.Scalar]) {
        var open: [Int] = []
        var index = start
        while index < scalars.count, !Self.isEnd(index, in: scalars) {
            let scalar = scalars[index]
            if Self.pairs[scalar] != nil {
                open.append(index)
            } else if Self.closing.contains(scalar) {
                guard let opener = open.popLast(), Self.pairs[scalars[opener]] == scalar else { break }
                closers[opener] = index
            }
            index += 1
        }
        knownTo = max(index, start + 1)
    }
}
