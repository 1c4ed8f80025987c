/// The files of WordNet 3.0 (wndb(5WN), wninput(5WN)): what of them says what idioms mean.
package enum WordNet {
    package enum PartOfSpeech: String, Hashable, Sendable, CaseIterable {
        case noun, verb
        case adjective = "adj"
        case adverb = "adv"

        fileprivate var letter: UInt8 {
            switch self {
            case .noun: UInt8(ascii: "n")
            case .verb: UInt8(ascii: "v")
            case .adjective: UInt8(ascii: "a")
            case .adverb: UInt8(ascii: "r")
            }
        }
    }

    /// Of a file; more is not read.
    package static let maxFileSize = 32 << 20
    /// Of a line of a data file; what is beyond is cut.
    package static let maxLineSize = 16 << 10
    private static let maxSenses = 100

    /// Where the chosen entries of an index stand in the data file, each in its sense, in the order of the file.
    ///
    /// Lines such as `kick_the_bucket v 1 1 @ 1 0 00358431`: the lemma, the part of speech, how many senses, how many kinds
    /// of pointers, those, how many senses, how many of them are tagged, and the offset of each sense. They are in the order
    /// of their bytes; the licence stands at the beginning, on lines with spaces before it.
    ///
    /// - Parameter chosen: senses, from 1, by lemma.
    package static func offsets(
        in index: [UInt8], of part: PartOfSpeech, chosen: [String: Int]
    ) -> [(lemma: String, offset: Int)] {
        chosen.compactMap { lemma, sense -> (start: Int, entry: (lemma: String, offset: Int))? in
            guard let line = line(of: lemma, in: index), let offset = offset(in: index[line], of: part, sense) else {
                return nil
            }
            return (line.lowerBound, (lemma, offset))
        }
        .sorted { $0.start < $1.start }.map(\.entry)
    }

    /// The line that begins with a lemma and a space.
    private static func line(of lemma: String, in index: [UInt8]) -> Range<Int>? {
        let newline = UInt8(ascii: "\n")
        let wanted = Array(lemma.utf8) + [UInt8(ascii: " ")]
        // Both are where a line begins, or the end.
        var (low, high) = (0, index.count)
        while low < high {
            let middle = low + (high - low) / 2
            let start = index[low..<middle].lastIndex(of: newline).map { $0 + 1 } ?? low
            let line = start..<(index[middle...].firstIndex(of: newline) ?? index.count)
            if index[line].starts(with: wanted) { return line }
            if index[line].lexicographicallyPrecedes(wanted) {
                low = line.upperBound + 1
            } else {
                high = start
            }
        }
        return nil
    }

    /// - Parameter sense: from 1.
    private static func offset(in line: ArraySlice<UInt8>, of part: PartOfSpeech, _ sense: Int) -> Int? {
        guard line.count <= maxLineSize else { return nil }
        let fields = line.split(separator: UInt8(ascii: " "))
        guard fields.count >= 6, fields[1].elementsEqual([part.letter]),
            let senses = number(fields[2]), let pointers = number(fields[3]),
            (1...maxSenses).contains(senses), (0...maxSenses).contains(pointers), sense <= senses, sense > 0,
            fields.count == 6 + pointers + senses
        else { return nil }
        return number(fields[5 + pointers + sense])
    }

    /// What a line of a data file says that its words mean: the definition without its examples. The line begins with its
    /// own offset, in eight digits.
    package static func meaning(in line: [UInt8], at offset: Int) -> String? {
        guard line.count <= maxLineSize, let digits = line.split(separator: UInt8(ascii: " ")).first, digits.count == 8,
            number(digits) == offset, let bar = line.firstIndex(of: UInt8(ascii: "|"))
        else { return nil }
        let gloss = String(decoding: line[(bar + 1)...], as: UTF8.self)
        let definition = gloss.split(separator: ";", omittingEmptySubsequences: false).first ?? ""
        let text = definition.split { $0 == " " || $0 == "\n" || $0 == "\r" }.joined(separator: " ")
        // Examples stand in quotation marks, now and then without a semicolon before them.
        let end = text.firstIndex(of: "\"") ?? text.endIndex
        let meaning = text[..<end].trimmingSpacesAndColons
        guard !meaning.isEmpty, meaning.unicodeScalars.count <= Hint.maxLength,
            meaning.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F })
        else { return nil }
        return meaning
    }

    /// Forms of verbs that no rule makes, by their lemmas: lines such as `kept keep`.
    ///
    /// - Parameter verbs: that are looked for.
    package static func irregularForms(in list: [UInt8], of verbs: Set<String>) -> [String: [String]] {
        list.split(separator: UInt8(ascii: "\n")).reduce(into: [:]) { forms, line in
            guard line.count <= 256 else { return }
            let words = line.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
            guard let form = words.first else { return }
            for lemma in words.dropFirst() where verbs.contains(lemma) { forms[lemma, default: []].append(form) }
        }
    }

    /// Digits alone, at most eight.
    private static func number(_ digits: some Collection<UInt8>) -> Int? {
        guard (1...8).contains(digits.count) else { return nil }
        var value = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            value = value * 10 + Int(digit - UInt8(ascii: "0"))
        }
        return value
    }
}

extension Substring {
    fileprivate var trimmingSpacesAndColons: String {
        var text = self
        while let last = text.last, last == " " || last == ":" || last == "," { text.removeLast() }
        return String(text.drop { $0 == " " })
    }
}
