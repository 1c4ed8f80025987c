import Foundation
import Model
import Notifications
import Testing

@testable import Providers
@testable import Push

@Suite("Payloads and errors of APNs") struct APNsTests {
    private let user = UserID.make(at: Timestamp(milliseconds: 1_800_000_000_000))
    private let call = CallID.make(at: Timestamp(milliseconds: 1_800_000_000_000))

    private func notification(_ content: Notifications.Notification.Content, character: String = "a") -> [UInt8] {
        let notification = Notifications.Notification(
            user: user, content: content, title: String(repeating: character, count: 10_000),
            body: String(repeating: character, count: 10_000), photo: "/v1/photos/a", badge: 3)
        return Array(notification.json.utf8)
    }

    @Test(
        "the longest fits, and is JSON with the members beside what is shown", arguments: ["a", "\"", "\\", "é", "👩‍🚀"])
    func longest(character: String) throws {
        for (content, isVoIP) in [
            (Notifications.Notification.Content.missedCall(call), false), (.ringEnded(call, .cancelled), false),
            (.ring(call, isVideo: true, until: Timestamp(milliseconds: .max / 2)), true),
        ] {
            let payload = try APNsPayload(notification(content, character: character), isVoIP: isVoIP)
            let object = try #require(try JSONSerialization.jsonObject(with: Data(payload.body)) as? [String: Any])
            let aps = try #require(object["aps"] as? [String: Any])
            #expect(aps.isEmpty == isVoIP)
            #expect(object["call"] as? String == call.text)
            #expect(try #require(payload.collapseID).utf8.count <= 64)
        }
        let conversation = ConversationID.make(at: Timestamp(milliseconds: 1_800_000_000_000))
        let message = Notifications.Notification(
            user: user, content: .message(conversation, number: .max),
            title: String(repeating: character, count: 10_000),
            body: String(repeating: character, count: 10_000),
            photo: "/v1/photos/" + String(repeating: "a", count: 245), badge: .max)
        #expect(throws: Never.self) { try APNsPayload(Array(message.json.utf8), isVoIP: false) }
    }

    @Test("a repeat replaces, and nothing of another message, call or account") func collapsing() throws {
        let conversation = ConversationID.make(at: Timestamp(milliseconds: 1_800_000_000_000))
        func id(_ content: Notifications.Notification.Content, of user: UserID) throws -> String {
            let notification = Notifications.Notification(user: user, content: content, title: "Ana", body: "")
            return try #require(try APNsPayload(Array(notification.json.utf8), isVoIP: false).collapseID)
        }
        let other = UserID.make(at: Timestamp(milliseconds: 1_800_000_000_001))
        let ring = try id(.ring(call, isVideo: true, until: Timestamp(milliseconds: 0)), of: user)
        #expect(try id(.missedCall(call), of: user) == ring && id(.missedCall(call), of: other) != ring)
        let message = try id(.message(conversation, number: 7), of: user)
        #expect(try id(.message(conversation, number: 7), of: user) == message)
        #expect(try id(.message(conversation, number: 8), of: user) != message)
    }

    @Test("what is no notification, or too large, is refused") func refused() {
        for text in ["", "[]", "{", "{}", #"{"title":"a"}"#, #"{"kind":{}}"#] {
            #expect(throws: APNsPayload.Invalid.data) { try APNsPayload(Array(text.utf8), isVoIP: false) }
        }
        let large = Array(#"{"kind":"test","a":"\#(String(repeating: "x", count: 4_096))"}"#.utf8)
        #expect(throws: APNsPayload.Invalid.tooLarge(limit: 4_096)) { try APNsPayload(large, isVoIP: false) }
        #expect(throws: Never.self) { try APNsPayload(large, isVoIP: true) }
    }

    @Test func everyDocumentedError() {
        func outcome(_ status: Int, _ code: String, after: Duration? = nil, isUrgent: Bool = false) -> PushOutcome {
            let body = Array(#"{"reason":"\#(code)"}"#.utf8)
            return APNsError(ProviderClient.Response(status: status, body: body, retryAfter: after))
                .outcome(isUrgent: isUrgent, isProven: true)
        }
        for (status, code) in [(410, "Unregistered"), (410, "ExpiredToken"), (400, "BadDeviceToken")] {
            #expect(outcome(status, code) == .gone("Its response was \(status), \(code)."))
        }
        for (status, code) in [
            (400, "BadCollapseId"), (400, "BadExpirationDate"), (400, "BadMessageId"), (400, "BadPriority"),
            (400, "DuplicateHeaders"), (400, "InvalidPushType"), (400, "MissingDeviceToken"), (400, "PayloadEmpty"),
            (413, "PayloadTooLarge"),
        ] {
            #expect(outcome(status, code) == .rejected("Its response was \(status), \(code)."))
        }
        for (status, code) in [
            (403, "BadCertificate"), (403, "ExpiredProviderToken"), (403, "InvalidProviderToken"), (403, "Forbidden"),
            (403, "MissingProviderToken"), (404, "BadPath"), (405, "MethodNotAllowed"), (410, "words of a proxy"),
            (429, "TooManyRequests"), (429, "TooManyProviderTokenUpdates"), (400, "BadTopic"), (400, "MissingTopic"),
            (400, "TopicDisallowed"), (400, "DeviceTokenNotForTopic"), (200, "words of a proxy"),
            (302, "words of a proxy"), (400, "words of a proxy"), (401, "words of a proxy"), (407, "words of a proxy"),
            (413, "words of a proxy"),
        ] {
            guard case .retry(.seconds(60), _) = outcome(status, code) else {
                Issue.record("\(status) \(code)")
                continue
            }
            // While it rings.
            guard case .retry(let delay, _) = outcome(status, code, isUrgent: true), delay ?? .zero <= .seconds(5)
            else {
                Issue.record("\(status) \(code) of a ring")
                continue
            }
        }
        for (status, code) in [(500, "InternalServerError"), (503, "ServiceUnavailable"), (503, "Shutdown")] {
            #expect(outcome(status, code) == .retry(after: nil, "Its response was \(status), \(code)."))
            #expect(
                outcome(status, code, after: .seconds(7))
                    == .retry(after: .seconds(7), "Its response was \(status), \(code)."))
        }
        #expect(outcome(400, "a token: 00ff") == .retry(after: .seconds(60), "Its response was 400."))
    }
}
