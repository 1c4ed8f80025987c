internal import FoundationEssentials
// Has the time zones with it: those of the system need not be installed.
internal import FoundationInternationalization
package import Model

/// What clocks show in a time zone. Days are those since 1970-01-01 in the zone.
struct WallClock {
    private static let day: Int64 = 86_400_000

    private let zone: TimeZone

    /// Nil if nothing is known of the zone.
    init?(zone name: String) {
        guard let zone = TimeZone(identifier: name) else { return nil }
        self.zone = zone
    }

    func day(at time: Timestamp) -> Int64 {
        let local = time.milliseconds &+ offset(at: time.milliseconds)
        return local / Self.day - (local % Self.day < 0 ? 1 : 0)
    }

    /// When clocks first show that minute of a day.
    func first(minute: Int, of day: Int64) -> Timestamp { times(minute, day).first }

    /// When clocks last show it.
    func last(minute: Int, of day: Int64) -> Timestamp { times(minute, day).last }

    /// At most one change of the offset is near: a day before and after is the offset before and after it.
    private func times(_ minute: Int, _ day: Int64) -> (first: Timestamp, last: Timestamp) {
        let local = day &* Self.day &+ Int64(minute) &* 60_000
        let (before, after) = (offset(at: local &- Self.day), offset(at: local &+ Self.day))
        let (early, late) = (local &- before, local &- after)
        let isBefore = before == after || offset(at: early) == before
        let isAfter = before != after && offset(at: late) == after
        if isBefore || isAfter {
            return (Timestamp(milliseconds: isBefore ? early : late), Timestamp(milliseconds: isAfter ? late : early))
        }
        // Left out: the change is between `late`, which is still before it, and `early`.
        var (below, above) = (late / 1_000, early / 1_000)
        while above - below > 1 {
            let middle = below + (above - below) / 2
            if offset(at: middle * 1_000) == before { below = middle } else { above = middle }
        }
        let change = Timestamp(milliseconds: above * 1_000)
        return (change, change)
    }

    /// Milliseconds east of Greenwich.
    private func offset(at milliseconds: Int64) -> Int64 {
        Int64(zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(milliseconds) / 1_000))) * 1_000
    }
}
