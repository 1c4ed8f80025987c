package import Model

/// Finds by when something is to be done, as a text says it: `2026-12-24`, `24.12.2026`, `tomorrow`, `by Friday`, `5 pm`.
///
/// Words are those of the interface's languages. What may be meant in two ways, such as `3/4` or `at 5`, is no date.
package enum DueDateRules {
    struct Words: Sendable {
        /// Of one to three words, the days from the message's own to that day.
        var days: [String: Int64]
        /// What such words do not mean after these: Spanish `por la mañana` is no tomorrow.
        var notAfter: Set<String> = []
        /// Monday is 0.
        var weekdays: [String: Int]
        /// Of which only those count that come after one of `before`, or before `feira`: Portuguese `segunda` is second, too.
        var ambiguous: Set<String> = []
        var before: Set<String> = []
        var months: [String: Int]
        /// What stands between `in` or `within` and a number of days, and after the number.
        var within: Set<String>
        var dayNouns: Set<String>

        init(
            days: [Int64: String], notAfter: String = "", weekdays: [String], ambiguous: String = "",
            before: String = "", months: [String], within: String, dayNouns: String
        ) {
            self.days = Self.dictionary(days)
            self.notAfter = Set(Self.split(notAfter))
            self.weekdays = Self.dictionary(
                Dictionary(uniqueKeysWithValues: weekdays.enumerated().map { ($0.offset, $0.element) }))
            self.ambiguous = Set(Self.split(ambiguous))
            self.before = Set(Self.split(before))
            self.months = Self.dictionary(
                Dictionary(uniqueKeysWithValues: months.enumerated().map { ($0.offset + 1, $0.element) }))
            self.within = Set(Self.split(within))
            self.dayNouns = Set(Self.split(dayNouns))
        }

        private static func split(_ text: String) -> [String] { text.split(separator: ",").map(String.init) }

        private static func dictionary<Key: Hashable>(_ texts: [Key: String]) -> [String: Key] {
            Dictionary(
                texts.flatMap { key, text in split(text).map { ($0, key) } }, uniquingKeysWith: { one, _ in one })
        }
    }

    /// - Parameters:
    ///   - kept: offsets in UTF-16 code units of what is no text, such as links.
    ///   - sentAt: when it was written, from which `tomorrow` counts.
    /// - Returns: the first that it says; nil if it says none.
    package static func date(
        in text: String, keeping kept: some Sequence<Range<Int>>, language: LanguageTag?, sentAt: Timestamp
    ) -> DueDate? {
        var reader = Reader(text, keeping: kept, language: language, today: DueDate(dayOf: sentAt))
        guard let found = reader.date() else { return nil }
        return found.isPlausible(from: sentAt, to: sentAt) && found.day >= DueDate(dayOf: sentAt).day ? found : nil
    }

    private struct Reader {
        private let words: [HintWords.Word]
        private let units: [UInt16]
        private let rules: Words?
        private let today: DueDate

        init(
            _ text: String, keeping kept: some Sequence<Range<Int>>, language: LanguageTag?, today: DueDate
        ) {
            words = HintWords(text, keeping: kept).words
            units = Array(text.utf16)
            rules = language.flatMap { DueDateRules.all[$0.primaryLanguage] }
            self.today = today
        }

        mutating func date() -> DueDate? {
            var (day, minute): (Int64?, Int?)
            var index = 0
            while index < words.count, day == nil || minute == nil {
                if day == nil, let (found, length) = self.day(at: index) {
                    day = found
                    index += length
                } else if minute == nil, let (found, length) = time(at: index) {
                    minute = found
                    index += length
                } else {
                    index += 1
                }
            }
            guard day != nil || minute != nil else { return nil }
            return DueDate(day: day ?? today.day, minute: minute)
        }

        private func number(_ index: Int) -> Int? {
            guard words.indices.contains(index), words[index].text.count <= 4 else { return nil }
            return words[index].text.reduce(Optional(0)) { sum, digit in
                sum.flatMap { sum in digit.wholeNumberValue.flatMap { (0...9).contains($0) ? sum * 10 + $0 : nil } }
            }
        }

        /// Whether nothing but this stands between two words.
        private func isJoined(_ index: Int, by mark: Character) -> Bool {
            guard words.indices.contains(index + 1), let unit = mark.utf16.first else { return false }
            let end = words[index].range.upperBound
            return words[index + 1].range.lowerBound == end + 1 && units[end] == unit
        }

        private func day(at index: Int) -> (day: Int64, length: Int)? {
            if let number = number(index) {
                return numbered(number, at: index) ?? monthDay(number, at: index)
            }
            guard let rules else { return nil }
            // The longest first: `day after tomorrow`.
            for length in (1...3).reversed() where index + length <= words.count {
                let phrase = words[index..<index + length].map(\.text).joined(separator: " ")
                guard words[index + 1..<index + length].allSatisfy(\.followsDirectly) else { continue }
                if let days = rules.days[phrase], index == 0 || !rules.notAfter.contains(words[index - 1].text) {
                    return (today.day + days, length)
                }
            }
            let word = words[index].text
            if let weekday = rules.weekdays[word], isWeekday(at: index, rules) {
                let ahead = (weekday - today.weekday + 7) % 7
                return (today.day + Int64(ahead == 0 ? 7 : ahead), 1)
            }
            if rules.within.contains(word), let count = number(index + 1), (1...365).contains(count),
                words.indices.contains(index + 2), rules.dayNouns.contains(words[index + 2].text)
            {
                return (today.day + Int64(count), 3)
            }
            // `December 24`
            if let month = rules.months[word], let day = number(index + 1) ?? ordinal(index + 1),
                words[index + 1].followsDirectly
            {
                return next(month: month, day: day).map { ($0, 2) }
            }
            return nil
        }

        private func isWeekday(at index: Int, _ rules: Words) -> Bool {
            guard rules.ambiguous.contains(words[index].text) else { return true }
            if words.indices.contains(index + 1), words[index + 1].text == "feira" { return true }
            return index > 0 && rules.before.contains(words[index - 1].text)
        }

        /// `2026-12-24`, `24.12.2026`, and `in 3 days` where the noun comes after the number alone.
        private func numbered(_ number: Int, at index: Int) -> (day: Int64, length: Int)? {
            if isJoined(index, by: "-"), isJoined(index + 1, by: "-"), number >= 1970,
                let month = self.number(index + 1),
                let day = self.number(index + 2)
            {
                return DueDate(year: number, month: month, day: day).map { ($0.day, 3) }
            }
            if isJoined(index, by: "."), isJoined(index + 1, by: "."), let month = self.number(index + 1),
                let year = self.number(index + 2), year >= 1970
            {
                return DueDate(year: year, month: month, day: number).map { ($0.day, 3) }
            }
            // Hindi: `3 दिन में`
            if let rules, rules.within.contains("में"), (1...365).contains(number), words.indices.contains(index + 2),
                rules.dayNouns.contains(words[index + 1].text), rules.within.contains(words[index + 2].text)
            {
                return (today.day + Int64(number), 3)
            }
            return nil
        }

        /// `24 December`, `24 de diciembre`, `24th of December`
        private func monthDay(_ day: Int, at index: Int) -> (day: Int64, length: Int)? {
            guard let rules, (1...31).contains(day) else { return nil }
            for skipped in 1...2 where words.indices.contains(index + skipped) {
                if let month = rules.months[words[index + skipped].text] {
                    return next(month: month, day: day).map { ($0, skipped + 1) }
                }
                guard words[index + skipped].text == "de" || words[index + skipped].text == "of" else { return nil }
            }
            return nil
        }

        private func ordinal(_ index: Int) -> Int? {
            guard words.indices.contains(index), ["st", "nd", "rd", "th"].contains(where: words[index].text.hasSuffix)
            else { return nil }
            return Int(words[index].text.dropLast(2))
        }

        private func next(month: Int, day: Int) -> Int64? {
            let ahead = [today.year, today.year + 1].compactMap { DueDate(year: $0, month: month, day: day)?.day }
            return ahead.first { $0 >= today.day }
        }

        /// `17:00`, `5 pm`, `5:30pm`, `17h`
        private func time(at index: Int) -> (minute: Int, length: Int)? {
            let word = words[index].text
            if let hour = number(index), hour < 24 {
                var (minute, length): (Int?, Int) = (nil, 1)
                if isJoined(index, by: ":"), words[index + 1].text.prefix(2).count == 2,
                    let found = Int(words[index + 1].text.prefix(2)) ?? number(index + 1), found < 60
                {
                    (minute, length) = (found, 2)
                    let rest = String(words[index + 1].text.dropFirst(2))
                    if !rest.isEmpty { return Self.half(hour, rest).map { ($0 * 60 + found, 2) } }
                }
                if words.indices.contains(index + length), words[index + length].followsDirectly,
                    let hour = Self.half(hour, words[index + length].text)
                {
                    return (hour * 60 + (minute ?? 0), length + 1)
                }
                return minute.map { (hour * 60 + $0, 2) }
            }
            let digits = word.prefix { $0.isASCII && $0.isNumber }
            guard let hour = Int(digits), hour < 24 else { return nil }
            let rest = String(word.dropFirst(digits.count))
            if rest == "h" { return (hour * 60, 1) }
            if rest.hasPrefix("h"), rest.count == 3, let minute = Int(rest.dropFirst()), minute < 60 {
                return (hour * 60 + minute, 1)
            }
            return Self.half(hour, rest).map { ($0 * 60, 1) }
        }

        private static func half(_ hour: Int, _ text: String) -> Int? {
            guard (1...12).contains(hour) else { return nil }
            switch text {
            case "am": return hour % 12
            case "pm": return hour % 12 + 12
            default: return nil
            }
        }
    }
}
