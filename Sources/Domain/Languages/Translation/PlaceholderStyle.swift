/// How an engine is given what it must not translate: each kept part is written as a numbered placeholder.
package struct PlaceholderStyle: Hashable, Sendable {
    /// How characters of the text that mean something to the engine are written.
    package enum Escaping: Hashable, Sendable {
        case none
        /// `&amp;`, `&lt;`, `&gt;`; what comes back is unescaped likewise.
        case xml
    }

    package var opening: String
    package var closing: String
    package var escaping: Escaping
    /// Characters that mean something to the engine and cannot be escaped: each run of them is kept too, as a part of its
    /// own.
    package var kept: Set<Unicode.Scalar>

    package init(opening: String, closing: String, escaping: Escaping = .none, kept: Set<Unicode.Scalar>) {
        self.opening = opening
        self.closing = closing
        self.escaping = escaping
        self.kept = kept
    }

    /// `⟦1⟧`, which language models return.
    package static let brackets = PlaceholderStyle(opening: "⟦", closing: "⟧", kept: ["⟦", "⟧"])
    /// `[X1]`, which small neural models return best: all of 40 sentences between English and Portuguese, while `[1]` was
    /// lost in 3, and rarer brackets, braces and markup in most.
    package static let square = PlaceholderStyle(opening: "[X", closing: "]", kept: ["[", "]"])
    /// `<x id="1"/>`, for engines that take markup.
    package static let tags = PlaceholderStyle(opening: "<x id=\"", closing: "\"/>", escaping: .xml, kept: [])
    /// `<i translate="no">1</i>`, for engines that take HTML, and do not escape what they return.
    package static let elements = PlaceholderStyle(
        opening: "<i translate=\"no\">", closing: "</i>", kept: ["&", "<", ">"])
    /// `[1]`, which Apertium's stream format passes through. Its reserved characters are kept, since not all of its programs
    /// read them escaped: a text that ends with an escaped circumflex is never answered from Bokmål into Nynorsk. An
    /// asterisk or a number sign before a word is how it marks an unknown one.
    package static let superblanks = PlaceholderStyle(
        opening: "[", closing: "]", kept: Set(#"[]{}^$/\@<>*#"#.unicodeScalars).union(["\0"]))

    func placeholder(_ index: Int) -> String { opening + String(index) + closing }

    /// Those that cannot be left in a text as they are.
    var reserved: Set<Unicode.Scalar> {
        switch escaping {
        case .none: kept
        case .xml: kept.union(["&", "<", ">"])
        }
    }
}

extension MaskedText {
    /// The text as an engine of that style gets it.
    package func written(as style: PlaceholderStyle) -> PlaceholderText { PlaceholderText(self, style) }
}

/// A text with placeholders for what is kept.
package struct PlaceholderText: Hashable, Sendable {
    package let style: PlaceholderStyle
    package private(set) var text = ""
    /// The first is the placeholder 1.
    package private(set) var kept: [String] = []

    init(_ masked: MaskedText, _ style: PlaceholderStyle) {
        self.style = style
        for part in masked.parts {
            switch part {
            case .text(let text): append(text)
            case .kept(let text), .replaced(_, by: let text): keep(text)
            }
        }
    }

    private mutating func keep(_ text: String) {
        kept.append(text)
        self.text += style.placeholder(kept.count)
    }

    private mutating func append(_ part: String) {
        let reserved = style.reserved
        var run = ""
        for scalar in part.unicodeScalars {
            guard !style.kept.contains(scalar) else {
                run.unicodeScalars.append(scalar)
                continue
            }
            if !run.isEmpty { keep(run) }
            run = ""
            guard reserved.contains(scalar) else {
                text.unicodeScalars.append(scalar)
                continue
            }
            switch style.escaping {
            case .none: break
            case .xml: text += Self.entities.first { $0.scalar == scalar }?.name ?? ""
            }
        }
        if !run.isEmpty { keep(run) }
    }

    private static let entities: [(scalar: Unicode.Scalar, name: String)] = [
        ("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("\"", "&quot;"), ("'", "&#39;"), ("'", "&apos;"),
    ]

    /// The translation with what was kept.
    ///
    /// - Returns: nil if a placeholder is missing, doubled or unknown, or something of one is left.
    package func restored(_ translation: String) -> String? {
        var result = String.UnicodeScalarView()
        var isRestored = Array(repeating: false, count: kept.count)
        var rest = translation.unicodeScalars[...]
        while let scalar = rest.first {
            if let (index, after) = placeholder(at: rest) {
                guard index >= 1, index <= kept.count, !isRestored[index - 1] else { return nil }
                isRestored[index - 1] = true
                result.append(contentsOf: kept[index - 1].unicodeScalars)
                rest = after
            } else {
                guard let (read, length) = unescaped(scalar, rest) else { return nil }
                result.append(read)
                rest = rest.dropFirst(length)
            }
        }
        return isRestored.allSatisfy(\.self) ? String(result) : nil
    }

    /// Engines set spaces inside of brackets.
    private func placeholder(
        at rest: Substring.UnicodeScalarView
    ) -> (index: Int, after: Substring.UnicodeScalarView)? {
        var left = rest
        guard Self.take(style.opening, from: &left) else { return nil }
        left = left.drop { $0 == " " }
        let digits = left.prefix(5).prefix { ("0"..."9").contains($0) }
        guard (1...4).contains(digits.count), let index = Int(String(digits)) else { return nil }
        left = left.dropFirst(digits.count)
        guard Self.take(style.closing, from: &left, isClosing: true) else { return nil }
        return (index, left)
    }

    private static func take(
        _ expected: String, from rest: inout Substring.UnicodeScalarView, isClosing: Bool = false
    ) -> Bool {
        var left = rest
        for (index, scalar) in expected.unicodeScalars.enumerated() {
            // Not before an opening one: that space is the text's.
            if left.first != scalar, index > 0 || isClosing { left = left.drop { $0 == " " } }
            guard left.first == scalar else { return false }
            left.removeFirst()
        }
        rest = left
        return true
    }

    private func unescaped(
        _ scalar: Unicode.Scalar, _ rest: Substring.UnicodeScalarView
    ) -> (Unicode.Scalar, length: Int)? {
        if style.kept.contains(scalar) { return nil }
        switch style.escaping {
        case .none: return (scalar, 1)
        case .xml:
            guard scalar == "&" else { return scalar == "<" ? nil : (scalar, 1) }
            for (scalar, name) in Self.entities where rest.starts(with: name.unicodeScalars) {
                return (scalar, name.unicodeScalars.count)
            }
            return (scalar, 1)
        }
    }
}
