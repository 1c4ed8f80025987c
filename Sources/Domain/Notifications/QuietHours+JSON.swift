// In JSON: {"from": "22:00", "to": "07:00", "zone": "Europe/Berlin"}.
extension QuietHours: Codable {
    /// Longer than any name of the time zone database.
    package static let maxZoneLength = 64

    package enum Keys: String, CodingKey { case from, to, zone }

    /// A member that is not allowed.
    package struct Fault: Error {
        package var member: Keys
        /// What follows the name of the member.
        package var rule: String
    }

    package init(from: String, to: String, zone: String) throws(Fault) {
        func minute(_ text: String, _ member: Keys) throws(Fault) -> Int {
            guard let minute = Self.minute(text) else {
                throw Fault(member: member, rule: "must be a time from 00:00 to 23:59, as HH:MM")
            }
            return minute
        }
        let (from, to) = (try minute(from, .from), try minute(to, .to))
        guard from != to else { throw Fault(member: .to, rule: "must be another time than from") }
        guard Self.isName(zone), WallClock(zone: zone) != nil else {
            throw Fault(
                member: .zone, rule: "must be the name of a time zone that the server knows, such as Europe/Berlin")
        }
        self.init(from: from, to: to, zone: zone)
    }

    /// - Throws: what is not allowed, with its key.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        let (from, to) = (
            try container.decode(String.self, forKey: .from), try container.decode(String.self, forKey: .to)
        )
        let zone = try container.decode(String.self, forKey: .zone)
        do throws(Fault) {
            try self.init(from: from, to: to, zone: zone)
        } catch {
            throw DecodingError.dataCorruptedError(
                forKey: error.member, in: container, debugDescription: error.rule)
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        try container.encode(Self.text(from), forKey: .from)
        try container.encode(Self.text(to), forKey: .to)
        try container.encode(zone, forKey: .zone)
    }

    private static func minute(_ text: String) -> Int? {
        let bytes = Array(text.utf8)
        guard bytes.count == 5, bytes[2] == UInt8(ascii: ":") else { return nil }
        let digits = [bytes[0], bytes[1], bytes[3], bytes[4]].map { Int($0) - 0x30 }
        guard digits.allSatisfy((0...9).contains) else { return nil }
        let (hour, minute) = (digits[0] * 10 + digits[1], digits[2] * 10 + digits[3])
        return hour < 24 && minute < 60 ? hour * 60 + minute : nil
    }

    /// Of minutes since midnight: `HH:MM`.
    package static func text(_ minute: Int) -> String {
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return two(minute / 60) + ":" + two(minute % 60)
    }

    /// Of an area and a place: what else is known are abbreviations, and offsets whose sign others read the other way round.
    private static func isName(_ text: String) -> Bool {
        (1...maxZoneLength).contains(text.utf8.count) && (text.contains("/") || text == "UTC")
            && text.utf8.allSatisfy { byte in
                (0x61...0x7a).contains(byte | 0x20) || (0x30...0x39).contains(byte) || "+-/_".utf8.contains(byte)
            }
    }
}
