/// What people abbreviate in chats, in six languages: a table of this project. Words that also mean something else are not
/// in it.
package enum ChatAbbreviations {
    struct Row: Hashable, Sendable {
        var language: String
        /// In its language, written out.
        var expansion: String
        /// In plain English. Rows of the same meaning are equivalents.
        var meaning: String
    }

    private struct Form: Hashable {
        var row: Row
        /// In upper case, or with a capital, it is something else.
        var isLowercaseOnly: Bool
    }

    package static let languages = ["en", "es", "pt", "ru", "hi", "ar"]

    private static let tables = [
        "en": english, "es": spanish, "pt": portuguese, "ru": russian, "hi": hindi, "ar": arabic,
    ]

    /// By language and form.
    private static let forms: [String: [String: Form]] = tables.reduce(into: [:]) { forms, table in
        forms[table.key] = read(table.value, language: table.key)
    }

    /// Forms of at least three letters that only one of the languages has.
    private static let unambiguous: [String: Form] = {
        var all: [String: Form?] = [:]
        for table in forms.values {
            for (form, row) in table { all.updateValue(all[form] == nil ? row : nil, forKey: form) }
        }
        return all.compactMapValues { $0 }.filter { $0.key.unicodeScalars.count >= 3 }
    }()

    private static let byMeaning: [String: [String: Row]] = forms.mapValues { table in
        // Of several the first in the order of the alphabet, so that it is always the same.
        table.values.map(\.row).sorted { $0.expansion < $1.expansion }.reduce(into: [:]) { rows, row in
            if rows[row.meaning] == nil { rows[row.meaning] = row }
        }
    }

    package static var count: Int { forms.values.reduce(0) { $0 + Set($1.values.map(\.row)).count } }

    /// Lines such as `brb | be right back | I will be back in a moment`: forms, with `^` before one that is in lower case
    /// alone, the expansion, and the meaning, which is the expansion where there is none.
    private static func read(_ table: String, language: String) -> [String: Form] {
        table.split(separator: "\n").reduce(into: [:]) { forms, line in
            let parts = line.split(separator: "|").map { trimmed($0) }
            guard parts.count >= 2 else { return }
            let row = Row(language: language, expansion: parts[1], meaning: parts.count > 2 ? parts[2] : parts[1])
            for form in parts[0].split(separator: " ") {
                let isLowercaseOnly = form.hasPrefix("^")
                forms[String(isLowercaseOnly ? form.dropFirst() : form)] = Form(
                    row: row, isLowercaseOnly: isLowercaseOnly)
            }
        }
    }

    private static func trimmed(_ text: Substring) -> String {
        var text = text.drop { $0 == " " }
        while text.last == " " { text.removeLast() }
        return String(text)
    }

    /// Of a word of a text; in a text of a language that is not known, what is of one language only.
    static func row(for word: HintWords.Word, language: LanguageTag?, isCertain: Bool) -> Row? {
        let form: Form?
        if let language, isCertain {
            form = forms[language.primaryLanguage].flatMap { lookup(word.text, in: $0) }
        } else {
            form = lookup(word.text, in: unambiguous)
        }
        guard let form, !form.isLowercaseOnly || word.isLowercase else {
            return laughter(word.text, language: language)
        }
        return form.row
    }

    /// With letters drawn out, as in `plsss`, as one.
    private static func lookup(_ word: String, in table: [String: Form]) -> Form? {
        if let form = table[word] { return form }
        let scalars = Array(word.unicodeScalars)
        guard (4...40).contains(scalars.count) else { return nil }
        var shortened = String.UnicodeScalarView()
        for (index, scalar) in scalars.enumerated() {
            // What stands three times or more.
            let isRepeated =
                index > 0 && scalars[index - 1] == scalar
                && (index > 1 && scalars[index - 2] == scalar
                    || index + 1 < scalars.count && scalars[index + 1] == scalar)
            if !isRepeated { shortened.append(scalar) }
        }
        return shortened.count < scalars.count ? table[String(shortened)] : nil
    }

    static func equivalent(of row: Row, in language: LanguageTag) -> String? {
        guard row.language != language.primaryLanguage else { return nil }
        return byMeaning[language.primaryLanguage]?[row.meaning]?.expansion
    }

    /// How laughter is written: of each language what is repeated, and how often at least.
    private static let laughs: [(language: String, unit: String, count: Int, expansion: String)] = [
        ("es", "ja", 2, "risa"), ("es", "je", 2, "risa"), ("pt", "k", 3, "risada"), ("pt", "rs", 1, "risada"),
        ("pt", "hue", 2, "risada"), ("ru", "ха", 3, "смех"), ("ru", "ах", 2, "смех"), ("ar", "ه", 3, "ضحك"),
        ("ar", "خ", 3, "ضحك"),
    ]

    private static func laughter(_ word: String, language: LanguageTag?) -> Row? {
        let scalars = Array(word.unicodeScalars)
        guard scalars.count >= 2, scalars.count <= 80 else { return nil }
        for laugh in laughs where language == nil || language?.primaryLanguage == laugh.language {
            let unit = Array(laugh.unit.unicodeScalars)
            guard scalars.count >= unit.count * laugh.count,
                scalars.indices.allSatisfy({ scalars[$0] == unit[$0 % unit.count] })
            else { continue }
            return Row(language: laugh.language, expansion: laugh.expansion, meaning: "laughter")
        }
        return nil
    }
}
