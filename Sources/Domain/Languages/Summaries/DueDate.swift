package import Model

/// When something is to be done: a day, perhaps with a time, as its author means it. No time zone is known.
package struct DueDate: Hashable, Sendable {
    /// Since 1970-01-01.
    package var day: Int64
    /// Since midnight; nil without a time.
    package var minute: Int?

    package init(day: Int64, minute: Int? = nil) {
        self.day = day
        self.minute = minute
    }

    /// Of UTC, which is the best that is known of when a message was sent.
    package init(dayOf time: Timestamp) { day = Self.days(time) }

    /// Nil if there is no such day.
    package init?(year: Int, month: Int, day: Int) {
        guard (1970...9999).contains(year), (1...12).contains(month), (1...31).contains(day) else { return nil }
        self.init("\(year)-\(Self.padded(month))-\(Self.padded(day))")
    }

    /// Reads `2026-11-27`, and `2026-11-27T17:00` with what may follow, such as seconds.
    package init?(_ text: String) {
        let date = text.prefix(10)
        guard text.utf8.count <= 40, date.utf8.count == 10, let midnight = Timestamp("\(date)T00:00:00Z"),
            midnight.text.hasPrefix(date)
        else { return nil }
        day = Self.days(midnight)
        let rest = text.dropFirst(10)
        guard !rest.isEmpty else { return }
        guard rest.first == "T" || rest.first == " ", let time = Timestamp("\(date)T\(rest.dropFirst().prefix(5)):00Z")
        else { return nil }
        minute = Int((time.milliseconds - midnight.milliseconds) / 60_000)
    }

    private static func days(_ time: Timestamp) -> Int64 {
        let (days, rest) = time.milliseconds.quotientAndRemainder(dividingBy: 86_400_000)
        return rest < 0 ? days - 1 : days
    }

    private static func padded(_ value: Int) -> String { (value < 10 ? "0" : "") + String(value) }

    /// `2026-11-27`, or `2026-11-27T17:00`.
    package var text: String {
        let date = String(Timestamp(milliseconds: day * 86_400_000).text.prefix(10))
        return minute.map { "\(date)T\(Self.padded($0 / 60)):\(Self.padded($0 % 60))" } ?? date
    }

    /// Monday is 0.
    var weekday: Int { Int(((day + 3) % 7 + 7) % 7) }

    var year: Int { Int(text.prefix(4)) ?? 1970 }

    /// Whether people who wrote from `first` to `last` can have meant it: not the past, nor in many years.
    package func isPlausible(from first: Timestamp, to last: Timestamp) -> Bool {
        day >= Self.days(first) - 1 && day <= Self.days(last) + 3 * 366
    }
}
