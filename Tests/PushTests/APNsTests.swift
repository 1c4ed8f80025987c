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
            #expect(object["call"] as? String == call.text && payload.collapseID == call.text)
        }
    }

    @Test("each message is a notification of its own, which a repeat replaces") func messages() throws {
        let conversation = ConversationID.make(at: Timestamp(milliseconds: 1_800_000_000_000))
        let payload = try APNsPayload(notification(.message(conversation, number: .max)), isVoIP: false)
        #expect(payload.collapseID == "\(conversation.text).\(Int64.max)")
        #expect(try #require(payload.collapseID).utf8.count <= 64)
    }

    @Test("what is none is refused") func refused() {
        for text in ["", "[]", "{", "{}", #"{"title":"a"}"#, #"{"kind":{}}"#] {
            #expect(throws: APNsPayload.Invalid.data) { try APNsPayload(Array(text.utf8), isVoIP: false) }
        }
        let large = Array(#"{"kind":"test","a":"\#(String(repeating: "x", count: 4_096))"}"#.utf8)
        #expect(throws: APNsPayload.Invalid.tooLarge(limit: 4_096)) { try APNsPayload(large, isVoIP: false) }
        #expect(throws: Never.self) { try APNsPayload(large, isVoIP: true) }
    }

    @Test func everyDocumentedError() {
        func outcome(_ status: Int, _ code: String, after: Duration? = nil) -> PushOutcome {
            let body = Array(#"{"reason":"\#(code)"}"#.utf8)
            return APNsError(ProviderClient.Response(status: status, body: body, retryAfter: after)).outcome
        }
        for (status, code) in [(410, "Unregistered"), (410, "ExpiredToken"), (400, "BadDeviceToken")] {
            #expect(outcome(status, code) == .gone("Its response was \(status), \(code)."))
        }
        for (status, code) in [
            (400, "BadCollapseId"), (400, "BadExpirationDate"), (400, "BadMessageId"), (400, "BadPriority"),
            (400, "BadTopic"), (400, "DeviceTokenNotForTopic"), (400, "DuplicateHeaders"), (400, "InvalidPushType"),
            (400, "MissingDeviceToken"), (400, "MissingTopic"), (400, "PayloadEmpty"), (400, "TopicDisallowed"),
            (413, "PayloadTooLarge"),
        ] {
            #expect(outcome(status, code) == .rejected("Its response was \(status), \(code)."))
        }
        for (status, code) in [
            (403, "BadCertificate"), (403, "ExpiredProviderToken"), (403, "InvalidProviderToken"), (403, "Forbidden"),
            (403, "MissingProviderToken"), (404, "BadPath"), (405, "MethodNotAllowed"), (410, "words of a proxy"),
            (429, "TooManyRequests"), (429, "TooManyProviderTokenUpdates"),
        ] {
            guard case .retry(.seconds(60), _) = outcome(status, code) else {
                Issue.record("\(status) \(code)")
                continue
            }
        }
        for (status, code) in [(500, "InternalServerError"), (503, "ServiceUnavailable"), (503, "Shutdown")] {
            #expect(outcome(status, code) == .retry(after: nil, "Its response was \(status), \(code)."))
            #expect(
                outcome(status, code, after: .seconds(7))
                    == .retry(after: .seconds(7), "Its response was \(status), \(code)."))
        }
        #expect(outcome(400, "a token: 00ff") == .rejected("Its response was 400."))
    }
}
