package import Model

/// What a model may say to people: words, and nothing that leads somewhere or is invisible.
package enum ModelText {
    /// The text without white space at its ends; nil if it is not words, or too long.
    ///
    /// - Parameters:
    ///   - length: in Unicode scalars.
    ///   - isOneLine: whether it may not have line breaks.
    package static func words(_ text: String, length: Int, isOneLine: Bool = true) -> String? {
        let scalars = trimmed(text.unicodeScalars)
        guard (1...max(1, length)).contains(scalars.count), scalars.contains(where: \.properties.isAlphabetic),
            scalars.allSatisfy({ isVisible($0) || !isOneLine && $0 == "\n" })
        else { return nil }
        let text = String(String.UnicodeScalarView(scalars))
        let lower = text.lowercased()
        guard !["\u{27E6}", "\u{27E7}", "`"].contains(where: lower.contains), !leadsSomewhere(lower) else { return nil }
        return text
    }

    /// Whether there is a link, a mention, or something of which some clients make a link.
    ///
    /// - Parameter text: in small letters.
    package static func leadsSomewhere(_ text: String) -> Bool {
        ["://", "www.", "mailto:", "<@"].contains(where: text.contains) || hasHost(text)
    }

    private static func trimmed(_ scalars: String.UnicodeScalarView) -> [Unicode.Scalar] {
        Array(scalars.drop { $0.properties.isWhitespace }.reversed().drop { $0.properties.isWhitespace }.reversed())
    }

    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        // Joiners stand inside of words and emoji.
        case .format: scalar == "\u{200C}" || scalar == "\u{200D}"
        case .control, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: false
        default: scalar != "\u{FFFD}"
        }
    }

    /// Whether there is something like `example.com`, `ann@example.com` or `t.co/x`.
    private static func hasHost(_ text: String) -> Bool {
        text.split(whereSeparator: { $0.isWhitespace || $0 == "@" }).contains { word in
            let word = word.drop { $0 == "/" || $0 == ":" }
            let host = word.prefix { $0 != "/" && $0 != ":" }
            let parts = host.split(separator: ".", omittingEmptySubsequences: false)
            guard parts.count >= 2, let last = parts.last?.prefix(while: { $0.isASCII && $0.isLetter }) else {
                return false
            }
            // Of abbreviations, such as `e.g.`, each part is a letter.
            let shortest = host.endIndex == word.endIndex ? 2 : 1
            return last.count >= 2
                && parts.dropLast().allSatisfy { part in
                    part.count >= shortest && part.allSatisfy { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" }
                }
        }
    }
}

extension JSONWriter {
    /// A schema of an object: all members are required, as strict modes want it.
    package mutating func schema(_ members: [(String, (inout JSONWriter) -> Void)]) {
        object { writer in
            writer.member("type", "object")
            writer.name("properties")
            writer.object { writer in
                for (name, body) in members {
                    writer.name(name)
                    body(&writer)
                }
            }
            writer.name("required")
            writer.array(members.map(\.0)) { $0.write($1) }
            writer.member("additionalProperties", false)
        }
    }

    package mutating func textSchema(isOptional: Bool = false) {
        object { writer in
            guard isOptional else { return writer.member("type", "string") }
            writer.name("type")
            writer.array(["string", "null"]) { $0.write($1) }
        }
    }

    package mutating func choiceSchema(_ choices: [String]) {
        object { writer in
            writer.member("type", "string")
            writer.name("enum")
            writer.array(choices) { $0.write($1) }
        }
    }

    package mutating func listSchema(_ element: (inout JSONWriter) -> Void) {
        object { writer in
            writer.member("type", "array")
            writer.name("items")
            element(&writer)
        }
    }

    mutating func write(_ earlier: [EarlierMessage]) {
        guard !earlier.isEmpty else { return }
        name("earlier")
        array(earlier) { writer, message in
            writer.object { writer in
                writer.member("from", message.author)
                writer.member("text", message.text)
            }
        }
    }
}

extension JSONReader {
    /// The string, or nil for null.
    mutating func readStringIfPresent() throws(JSONParseError) -> String? {
        guard try nextKind() == .null else { return try readString() }
        _ = try skip()
        return nil
    }
}
