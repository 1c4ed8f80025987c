/// A wall-clock time in milliseconds since 1970 (UTC), as rows and JSON hold it.
///
/// In JSON it is RFC 3339 with milliseconds and `Z`. Measure elapsed time with a monotonic clock; this type is for
/// times that outlive the process.
package struct Timestamp: Hashable, Comparable, Sendable {
    package let milliseconds: Int64

    package init(milliseconds: Int64) { self.milliseconds = milliseconds }

    package static func < (left: Self, right: Self) -> Bool { left.milliseconds < right.milliseconds }

    package func adding(milliseconds delta: Int64) -> Self { Self(milliseconds: milliseconds &+ delta) }
    package func adding(seconds: Int64) -> Self { Self(milliseconds: milliseconds &+ seconds &* 1000) }

    /// Milliseconds from `earlier` to this moment; negative when this moment comes first.
    package func milliseconds(since earlier: Self) -> Int64 { milliseconds &- earlier.milliseconds }
}

extension Timestamp {
    /// RFC 3339, such as `2026-11-20T22:53:00.123Z`.
    package var text: String {
        let days = milliseconds.flooredDivision(by: 86_400_000)
        let withinDay = milliseconds &- days &* 86_400_000
        let (year, month, day) = Self.civil(fromDays: days)
        let seconds = withinDay / 1000
        return Self.padded(year, 4) + "-" + Self.padded(month, 2) + "-" + Self.padded(day, 2) + "T"
            + Self.padded(seconds / 3600, 2) + ":" + Self.padded(seconds / 60 % 60, 2) + ":"
            + Self.padded(seconds % 60, 2) + "." + Self.padded(withinDay % 1000, 3) + "Z"
    }

    /// Reads RFC 3339 in UTC (`Z`), with or without a fraction of a second.
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count >= 20, bytes.count <= 30, bytes.last == UInt8(ascii: "Z"), bytes[4] == UInt8(ascii: "-"),
            bytes[7] == UInt8(ascii: "-"), bytes[10] == UInt8(ascii: "T"), bytes[13] == UInt8(ascii: ":"),
            bytes[16] == UInt8(ascii: ":")
        else { return nil }
        func number(_ range: Range<Int>) -> Int64? {
            var value: Int64 = 0
            for byte in bytes[range] {
                guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
                value = value &* 10 &+ Int64(byte &- UInt8(ascii: "0"))
            }
            return value
        }
        guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
            let hour = number(11..<13), let minute = number(14..<16), let second = number(17..<19),
            (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second < 61
        else { return nil }
        var fraction: Int64 = 0
        if bytes.count > 20 {
            guard bytes[19] == UInt8(ascii: "."), bytes.count > 21 else { return nil }
            let digits = min(bytes.count - 1, 23)
            guard let read = number(20..<digits), number(20..<(bytes.count - 1)) != nil else { return nil }
            fraction = read
            for _ in (digits - 20)..<3 { fraction *= 10 }
        }
        let days = Self.days(fromCivil: year, month, day)
        self.init(milliseconds: (((days * 24 + hour) * 60 + minute) * 60 + second) * 1000 + fraction)
    }

    private static func padded(_ value: Int64, _ width: Int) -> String {
        let digits = String(value)
        return digits.utf8.count >= width ? digits : String(repeating: "0", count: width - digits.utf8.count) + digits
    }

    // Days and civil dates after Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms".
    private static func civil(fromDays days: Int64) -> (Int64, Int64, Int64) {
        let shifted = days &+ 719_468
        let era = shifted.flooredDivision(by: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }

    private static func days(fromCivil year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = shiftedYear.flooredDivision(by: 400)
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}

extension Int64 {
    fileprivate func flooredDivision(by divisor: Int64) -> Int64 {
        let quotient = self / divisor
        return self % divisor < 0 ? quotient - 1 : quotient
    }
}

extension Timestamp: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let timestamp = Self(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "must be a time as RFC 3339 in UTC")
        }
        self = timestamp
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

extension Timestamp: CustomStringConvertible {
    package var description: String { text }
}
