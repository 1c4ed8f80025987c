import FoundationEssentials
import Model
import Testing

@testable import Notifications

@Suite struct QuietHoursTests {
    /// Hours, a moment, and when the quiet hours end that contain it.
    struct Case: CustomTestStringConvertible, Sendable {
        let hours: String
        let zone: String
        let now: String
        let end: String?

        init(_ hours: String, _ zone: String, _ now: String, _ end: String?) {
            (self.hours, self.zone, self.now, self.end) = (hours, zone, now, end)
        }

        var testDescription: String { "\(hours) \(zone) \(now)" }
    }

    static let plain = [
        Case("22:00-07:00", "Europe/Berlin", "2026-01-10T20:59:59.999Z", nil),
        Case("22:00-07:00", "Europe/Berlin", "2026-01-10T21:00:00Z", "2026-01-11T06:00:00Z"),
        Case("22:00-07:00", "Europe/Berlin", "2026-01-10T23:00:00Z", "2026-01-11T06:00:00Z"),
        Case("22:00-07:00", "Europe/Berlin", "2026-01-11T05:59:59.999Z", "2026-01-11T06:00:00Z"),
        Case("22:00-07:00", "Europe/Berlin", "2026-01-11T06:00:00Z", nil),
        Case("13:00-14:30", "Europe/Berlin", "2026-01-10T11:59:59.999Z", nil),
        Case("13:00-14:30", "Europe/Berlin", "2026-01-10T12:00:00Z", "2026-01-10T13:30:00Z"),
        Case("13:00-14:30", "Europe/Berlin", "2026-01-10T13:30:00Z", nil),
        Case("00:00-08:00", "Europe/Berlin", "2026-01-10T23:00:00Z", "2026-01-11T07:00:00Z"),
        Case("20:00-00:00", "Europe/Berlin", "2026-01-10T22:59:00Z", "2026-01-10T23:00:00Z"),
        // All day but for a minute.
        Case("22:00-21:59", "UTC", "2026-01-10T21:58:00Z", "2026-01-10T21:59:00Z"),
        Case("22:00-21:59", "UTC", "2026-01-10T21:59:30Z", nil),
        Case("22:00-21:59", "UTC", "2026-01-10T22:00:00Z", "2026-01-11T21:59:00Z"),
        // Half and quarter hours, and the other side of the date line.
        Case("22:15-06:45", "Asia/Kolkata", "2026-05-01T16:44:59.999Z", nil),
        Case("22:15-06:45", "Asia/Kolkata", "2026-05-01T16:45:00Z", "2026-05-02T01:15:00Z"),
        Case("22:00-07:00", "Asia/Kathmandu", "2026-05-01T16:15:00Z", "2026-05-02T01:15:00Z"),
        Case("22:00-07:00", "Pacific/Kiritimati", "2026-05-01T08:00:00Z", "2026-05-01T17:00:00Z"),
        Case("22:00-07:00", "Pacific/Pago_Pago", "2026-05-01T09:00:00Z", "2026-05-01T18:00:00Z"),
        // Before 1970.
        Case("22:00-07:00", "UTC", "1965-03-03T23:30:00Z", "1965-03-04T07:00:00Z"),
    ]

    /// Clocks go forward in Berlin on 2026-03-29 at 01:00Z and in New York on 2026-03-08 at 07:00Z, from 02:00 to 03:00.
    static let forward = [
        Case("22:00-07:00", "Europe/Berlin", "2026-03-28T22:00:00Z", "2026-03-29T05:00:00Z"),
        Case("23:00-08:00", "America/New_York", "2026-03-08T04:30:00Z", "2026-03-08T12:00:00Z"),
        Case("22:00-02:30", "Europe/Berlin", "2026-03-28T22:00:00Z", "2026-03-29T01:00:00Z"),
        Case("22:00-02:30", "America/New_York", "2026-03-08T06:59:59Z", "2026-03-08T07:00:00Z"),
        Case("22:00-02:30", "America/New_York", "2026-03-08T07:00:00Z", nil),
        Case("02:30-05:00", "Europe/Berlin", "2026-03-29T00:59:59.999Z", nil),
        Case("02:30-05:00", "Europe/Berlin", "2026-03-29T01:00:00Z", "2026-03-29T03:00:00Z"),
        Case("02:00-03:00", "Europe/Berlin", "2026-03-29T01:00:00Z", nil),
        Case("02:15-02:45", "Europe/Berlin", "2026-03-29T01:00:00Z", nil),
        Case("02:15-02:45", "Europe/Berlin", "2026-03-30T00:15:00Z", "2026-03-30T00:45:00Z"),
    ]

    /// Clocks go back in Berlin on 2026-10-25 at 01:00Z from 03:00 to 02:00, in New York on 2026-11-01 at 06:00Z from 02:00
    /// to 01:00, and on Lord Howe Island by half an hour on 2026-04-04 at 15:00Z from 02:00.
    static let back = [
        Case("22:00-07:00", "Europe/Berlin", "2026-10-24T21:00:00Z", "2026-10-25T06:00:00Z"),
        Case("23:00-08:00", "America/New_York", "2026-11-01T03:30:00Z", "2026-11-01T13:00:00Z"),
        Case("22:00-02:30", "Europe/Berlin", "2026-10-25T00:15:00Z", "2026-10-25T01:30:00Z"),
        Case("22:00-02:30", "Europe/Berlin", "2026-10-25T00:45:00Z", "2026-10-25T01:30:00Z"),
        Case("22:00-02:30", "Europe/Berlin", "2026-10-25T01:30:00Z", nil),
        Case("22:00-01:30", "America/New_York", "2026-11-01T05:45:00Z", "2026-11-01T06:30:00Z"),
        Case("02:30-05:00", "Europe/Berlin", "2026-10-25T00:29:59.999Z", nil),
        Case("02:30-05:00", "Europe/Berlin", "2026-10-25T00:30:00Z", "2026-10-25T04:00:00Z"),
        Case("02:15-02:45", "Europe/Berlin", "2026-10-25T00:50:00Z", "2026-10-25T01:45:00Z"),
        Case("22:00-01:45", "Australia/Lord_Howe", "2026-04-04T14:50:00Z", "2026-04-04T15:15:00Z"),
        // What is between the end and the next beginning is shown twice: it is quiet until the next day.
        Case("02:45-02:15", "Europe/Berlin", "2026-10-24T12:00:00Z", "2026-10-26T01:15:00Z"),
        Case("02:45-02:15", "Europe/Berlin", "2026-10-25T01:00:00Z", "2026-10-26T01:15:00Z"),
    ]

    /// Samoa had no 30 December 2011: at 10:00Z it was midnight, and then the 31st.
    static let leftOut = [
        Case("22:00-07:00", "Pacific/Apia", "2011-12-30T07:59:00Z", nil),
        Case("22:00-07:00", "Pacific/Apia", "2011-12-30T08:30:00Z", "2011-12-30T17:00:00Z"),
        Case("22:00-07:00", "Pacific/Apia", "2011-12-30T10:00:00Z", "2011-12-30T17:00:00Z"),
        Case("06:00-08:00", "Pacific/Apia", "2011-12-30T10:00:00Z", nil),
        Case("06:00-08:00", "Pacific/Apia", "2011-12-30T16:30:00Z", "2011-12-30T18:00:00Z"),
        Case("06:00-08:00", "Pacific/Apia", "2011-12-29T16:30:00Z", "2011-12-29T18:00:00Z"),
    ]

    @Test(arguments: plain + forward + back + leftOut) func theyEnd(one: Case) throws {
        let hours = try Self.hours(one.hours, one.zone)
        let now = try #require(Timestamp(one.now))
        #expect(hours.end(at: now) == one.end.flatMap { Timestamp($0) })
    }

    /// Whatever the zone and the hours: they end once, and are over then.
    @Test(
        arguments: [
            "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Pacific/Apia", "Australia/Lord_Howe",
            "Africa/Casablanca",
            "America/Havana",
        ],
        ["22:00-07:00", "02:30-01:30", "00:00-00:30", "02:15-02:45", "23:59-00:00", "12:00-11:59"])
    func theyAreOverAtTheirEnd(zone: String, text: String) throws {
        let hours = try Self.hours(text, zone)
        // Around the changes of 2026 in these zones, and the date that Samoa left out.
        let days = [
            "2026-02-13", "2026-03-06", "2026-03-20", "2026-03-27", "2026-04-03", "2026-10-23", "2026-10-30",
            "2011-12-28",
        ]
        for day in days {
            let start = try #require(Timestamp(day + "T00:00:00Z"))
            for minute in stride(from: Int64(0), to: 4 * 1_440, by: 29) {
                let now = start.adding(seconds: minute * 60)
                guard let end = hours.end(at: now) else { continue }
                #expect(now < end && end.milliseconds(since: now) < 3 * 86_400_000)
                #expect(hours.end(at: end) == nil, "\(now)")
                #expect(hours.end(at: end.adding(milliseconds: -1)) == end, "\(now)")
            }
        }
    }

    @Test(arguments: ["Mars/Olympus_Mons", "", "europe/berlin", "../../etc/localtime"])
    func aZoneOfWhichNothingIsKnownHasNone(zone: String) {
        let hours = QuietHours(from: 0, to: 1_439, zone: zone)
        #expect(hours.end(at: Timestamp(milliseconds: 1_800_000_000_000)) == nil)
    }

    private static func hours(_ text: String, _ zone: String) throws -> QuietHours {
        let times = text.split(separator: "-")
        return try JSONDecoder().decode(
            QuietHours.self, from: Data("{\"from\":\"\(times[0])\",\"to\":\"\(times[1])\",\"zone\":\"\(zone)\"}".utf8))
    }
}

// Their JSON.
extension QuietHoursTests {
    @Test(arguments: ["Europe/Berlin", "Asia/Calcutta", "Asia/Kolkata", "Etc/GMT+3", "UTC", "America/Port-au-Prince"])
    func theyAreReadAndWritten(zone: String) throws {
        let hours = try Self.hours("22:00-07:05", zone)
        #expect(hours == QuietHours(from: 1_320, to: 425, zone: zone))
        #expect(try JSONDecoder().decode(QuietHours.self, from: JSONEncoder().encode(hours)) == hours)
        let object = try JSONDecoder().decode([String: String].self, from: JSONEncoder().encode(hours))
        #expect(object == ["from": "22:00", "to": "07:05", "zone": zone])
    }

    @Test(
        arguments: ["", "7:00", "24:00", "22:60", "22:00:00", "22.00", "２２:00", "-1:00", "22:0a", "+2:00"],
        ["from", "to"])
    func aTimeIsHoursAndMinutes(text: String, key: String) {
        #expect(refusedKey([key: text]) == key)
    }

    @Test(
        arguments: [
            "", " ", "Berlin", "Europe/Berlin ", "Europe/Berlin\\u0000", "Mars/Olympus_Mons", "../../etc/localtime",
            "+02:00",
            String(repeating: "A", count: 65), "Europe/Bérlin", ":/etc/localtime",
        ])
    func aZoneIsOneThatIsKnown(zone: String) {
        #expect(refusedKey(["zone": zone]) == "zone")
    }

    @Test func theyHaveALength() {
        #expect(refusedKey(["from": "07:00"]) == "to")
    }

    /// Of hours that are allowed but for a change.
    private func refusedKey(_ change: [String: String]) -> String? {
        let members = ["from": "22:00", "to": "07:00", "zone": "Europe/Berlin"].merging(change) { $1 }
        let json = "{" + members.map { "\"\($0)\":\"\($1)\"" }.joined(separator: ",") + "}"
        do {
            _ = try JSONDecoder().decode(QuietHours.self, from: Data(json.utf8))
            return nil
        } catch DecodingError.dataCorrupted(let context) {
            return context.codingPath.last?.stringValue
        } catch {
            return "\(error)"
        }
    }
}
