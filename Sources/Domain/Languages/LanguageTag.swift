package import Model

/// A language tag as RFC 5646 section 2.1 writes it, in the case of its section 2.1.1. Subtags need not be registered.
///
/// Extensions and private use are kept, but no comparison looks at them.
package struct LanguageTag: Hashable, Sendable {
    /// In ASCII characters, all that RFC 5646 section 4.4.1 recommends to accept.
    package static let maxLength = 35

    package let string: String

    /// - Throws: `invalid_request` of the field.
    package init(_ tag: String, field: String = "language") throws(Problem) {
        guard let normalized = Self.normalized(tag) else {
            throw .invalid(field, "This is not a language tag such as en or pt-BR.")
        }
        string = normalized
    }

    /// Nil if it is not well-formed.
    package init?(wellFormed tag: String) {
        guard let normalized = Self.normalized(tag) else { return nil }
        string = normalized
    }

    /// One that is written in the source.
    init(constant tag: StaticString) { string = "\(tag)" }

    private static func normalized(_ tag: String) -> String? {
        guard tag.utf8.count <= maxLength else { return nil }
        let subtags = tag.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        var result = ""
        result.reserveCapacity(tag.utf8.count)
        var isAfterSingleton = false
        for (index, subtag) in subtags.enumerated() {
            guard (index == 0 ? 2...8 : 1...8).contains(subtag.count),
                subtag.allSatisfy({ $0.isASCIILetter || index > 0 && $0.isASCIIDigit })
            else { return nil }
            let lower = String(decoding: subtag.map(\.lowercasedASCII), as: UTF8.self)
            if index > 0 { result += "-" }
            let isWord = subtag.allSatisfy(\.isASCIILetter)
            switch subtag.count {
            case 2 where index > 0 && !isAfterSingleton && isWord: result += lower.uppercased()
            case 4 where index > 0 && !isAfterSingleton && isWord:
                result += lower.prefix(1).uppercased() + lower.dropFirst()
            default: result += lower
            }
            isAfterSingleton = isAfterSingleton || subtag.count == 1
        }
        return result
    }

    /// The subtags before extensions and private use.
    private var subtags: [Substring] {
        Array(string.split(separator: "-").prefix { $0.utf8.count > 1 })
    }

    /// The primary language, with retired codes replaced by those of today.
    package var primaryLanguage: String {
        let code = subtags.first.map(String.init) ?? string
        return Self.preferred[code] ?? code
    }

    /// Language, script and region alone, which is all that the language of a text needs: what else a tag may hold could
    /// say anything to those who see it. Nil if the language has no code of ISO 639, of two or three letters.
    package var ofText: LanguageTag? {
        let language = primaryLanguage
        guard (2...3).contains(language.utf8.count) else { return nil }
        return LanguageTag(wellFormed: [language, script, region].compactMap(\.self).joined(separator: "-"))
    }

    /// With today's code for a retired one, as `he` for `iw`.
    package func replacingRetiredCode() -> LanguageTag {
        let code = string.prefix { $0 != "-" }
        guard let preferred = Self.preferred[String(code)] else { return self }
        return LanguageTag(wellFormed: preferred + string.dropFirst(code.count)) ?? self
    }

    /// The script that the tag names, as `Hant`.
    package var script: String? {
        subtags.dropFirst().first { $0.utf8.count == 4 && $0.utf8.allSatisfy(\.isASCIILetter) }.map(String.init)
    }

    /// The region that the tag names, as `BR` or `419`.
    package var region: String? {
        subtags.dropFirst().first { part in
            part.utf8.count == 2 || part.utf8.count == 3 && part.utf8.allSatisfy(\.isASCIIDigit)
        }.map(String.init)
    }

    /// What Unicode CLDR replaces.
    private static let preferred = [
        "iw": "he", "in": "id", "ji": "yi", "jw": "jv", "mo": "ro", "tl": "fil", "cmn": "zh",
    ]
}

extension UInt8 {
    fileprivate var isASCIILetter: Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(lowercasedASCII)
    }
    fileprivate var isASCIIDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
    fileprivate var lowercasedASCII: UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self
    }
}
