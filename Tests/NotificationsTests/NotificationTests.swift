import FoundationEssentials
import Languages
import Model
import TestSupport
import Testing
import Wire

@testable import Notifications

@Suite struct NotificationTests {
    private static let now = Timestamp(milliseconds: 1_800_000_000_000)
    private static let user = UserID.make(at: now)
    private static let conversation = ConversationID.make(at: now)
    private static let call = CallID.make(at: now)
    /// Of the plaintext of a push (RFC 8291 section 4).
    private static let maxPayload = 3_993

    private static let contents: [Notifications.Notification.Content] = [
        .message(conversation, number: .max), .ring(call, isVideo: false, until: now), .ringEnded(call, .answered),
        .missedCall(call),
    ]

    private struct Decoded: Decodable {
        var kind: String
        var user: String
        var title: String
        var body: String
        var conversation: String?
        var number: Int64?
        var call: String?
        var video: Bool?
        var expiresAt: Int64?
        var reason: String?
        var photo: String?
        var badge: Int?
    }

    private func decoded(_ notification: Notifications.Notification) throws -> Decoded {
        try JSONDecoder().decode(Decoded.self, from: Data(notification.json.utf8))
    }

    @Test func eachKindHasItsMembers() throws {
        let all = try Self.contents.map {
            try decoded(Notifications.Notification(user: Self.user, content: $0, title: "Ana", body: "Hi", badge: 3))
        }
        #expect(all.map(\.kind) == ["message", "ring", "ringEnded", "missedCall"])
        #expect(all.allSatisfy { $0.user == Self.user.text && $0.title == "Ana" && $0.body == "Hi" && $0.badge == 3 })
        #expect(all.map(\.conversation) == [Self.conversation.text, nil, nil, nil])
        #expect(all.map(\.number) == [.max, nil, nil, nil])
        #expect(all.map(\.call) == [nil, Self.call.text, Self.call.text, Self.call.text])
        #expect(all[1].video == false && all[1].expiresAt == Self.now.milliseconds && all[0].video == nil)
        #expect(all.map(\.reason) == [nil, nil, "answered", nil])
        #expect([RingEnd.answered, .declined, .cancelled].map(\.rawValue) == ["answered", "declined", "cancelled"])
    }

    /// The body is there always.
    @Test func anEmptyBodyIsThere() throws {
        let one = Notifications.Notification(
            user: Self.user, content: .missedCall(Self.call), title: "New message", body: "")
        #expect(try decoded(one).body == "")
    }

    private static let texts: [String] = [
        "\"", "\\", "/", "a", "é", "e\u{301}", "\u{0}", "\u{1F}", "\u{7F}", "\u{85}", "\r\n", " ", "👍", "👨‍👩‍👧‍👦",
        "🏳️‍🌈", "日", "ا", "a" + String(repeating: "\u{301}", count: 2_000), "\u{2028}", "\u{202E}", "\u{FFFD}",
        "\u{10FFFF}", "ab\n\n\tc ",
    ]

    @Test(arguments: texts) func itFitsWhateverTheText(unit: String) throws {
        for count in [1, 7, 300, 70_000 / unit.utf8.count] {
            let text = String(repeating: unit, count: max(1, count))
            for content in Self.contents {
                let one = Notifications.Notification(
                    user: Self.user, content: content, title: text, body: text, photo: text, badge: .max)
                #expect(one.json.utf8.count <= Self.maxPayload)
                let shown = try decoded(one)
                #expect(shown.title.utf8.count <= 256 && shown.body.utf8.count <= 1_024)
                if let photo = shown.photo { #expect(photo == text) }
            }
        }
    }

    @Test func mixedTextsFit() throws {
        let seed = freshSeed()
        var random = SeededRandom(seed: seed)
        for _ in 0..<200 {
            let count = Int.random(in: 0..<2_000, using: &random)
            let text = (0..<count).map { _ in Self.texts.randomElement(using: &random) ?? "" }.joined()
            let one = Notifications.Notification(
                user: Self.user, content: Self.contents[0], title: text, body: text,
                photo: String(repeating: "\"", count: 256), badge: .max)
            #expect(one.json.utf8.count <= Self.maxPayload, "seed \(seed)")
            _ = try decoded(one)
        }
    }

    @Test(
        "a text is cut between characters, and says so",
        arguments: [
            ("abcdefgh", 8, "abcde…"), ("abcde", 8, "abcde"), ("👨‍👩‍👧‍👦👨‍👩‍👧‍👦", 40, "👨‍👩‍👧‍👦…"), ("ééééé", 8, "éé…"),
            ("e\u{301}e\u{301}e\u{301}", 8, "e\u{301}…"), ("👨‍👩‍👧‍👦", 8, "…"), ("", 8, ""),
        ])
    func cut(text: String, limit: Int, expected: String) {
        #expect(Notifications.Notification.cut(text, to: limit) == expected)
        #expect(Notifications.Notification.cut(text, to: limit).utf8.count <= limit)
    }

    @Test(arguments: [
        ("a\nb", "a b"), ("a\r\n\r\n b", "a b"), ("\n\n a", "a"), ("a\u{0}\u{1}b", "a b"), ("a  b", "a b"), ("\t", ""),
    ])
    func itIsOneLine(text: String, expected: String) {
        #expect(Notifications.Notification.cut(text, to: 100) == expected)
    }
}

@Suite struct NotificationTextsTests {
    private func texts(_ languages: String...) throws -> NotificationTexts {
        .inFirst(of: try languages.map { try LanguageTag($0) })
    }

    @Test func theFirstLanguageInWhichThereAreSome() throws {
        #expect(try texts("de", "es-MX", "ru").newMessage == "Mensaje nuevo")
        #expect(try texts("pt-BR").missedCall == "Chamada perdida")
        #expect(try texts() == .english && texts("de", "zh-Hant-TW") == .english && texts("en-GB", "ru") == .english)
    }

    /// Those of the web client, each with all texts, none of which is another language's.
    @Test func everyLanguageHasItsOwn() throws {
        let all = try ["en", "es", "pt", "ru", "ar", "hi"].map { try texts($0) }
        #expect(Set(all).count == all.count)
        for texts in all {
            let each = Mirror(reflecting: texts).children.compactMap { $0.value as? String }
            #expect(each.count == 10 && Set(each).count == 10 && each.allSatisfy { !$0.isEmpty })
        }
    }
}
