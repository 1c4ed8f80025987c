package import Model

/// The hours of each day in which a user's devices are not pushed to, by the clock on the user's wall.
///
/// They begin when the clock shows `from`, and end when it next shows `to`, which may be on the next day. Where clocks go
/// back and show a time twice, they begin at the first and end at the last, so that no push comes at a time that they
/// contain. A time that clocks leave out is the moment at which they are set forward.
package struct QuietHours: Hashable, Sendable {
    /// Minutes since midnight.
    package let from: Int
    package let to: Int
    /// The name of a time zone. Where the server knows it no more there are no quiet hours.
    package let zone: String

    package init(from: Int, to: Int, zone: String) {
        self.from = from
        self.to = to
        self.zone = zone
    }

    /// - Returns: when the quiet hours end that contain `now`, less than three days later; nil if it is in none.
    package func end(at now: Timestamp) -> Timestamp? { WallClock(zone: zone).flatMap { end(at: now, by: $0) } }

    func end(at now: Timestamp, by clock: WallClock) -> Timestamp? {
        let today = clock.day(at: now)
        var end: Timestamp?
        // Those of a day may go on where those of the day before end: where clocks change, and what is between is left out.
        for day in today - 1...today + 1 {
            let latest = end ?? now
            guard clock.first(minute: from, of: day) <= latest else { break }
            let last = clock.last(minute: to, of: to > from ? day : day + 1)
            if latest < last { end = last }
        }
        return end
    }
}
