import Foundation
import Model
import Notifications
import Testing

@testable import Push

@Suite("Messages of FCM") struct FCMMessageTests {
    private struct Body: Decodable {
        struct Message: Decodable {
            var token: String
            var data: [String: String]
            var android: [String: String]
        }
        var validate_only: Bool?
        var message: Message
    }

    private let user = UserID.make(at: Timestamp(milliseconds: 1_800_000_000_000))
    private let call = CallID.make(at: Timestamp(milliseconds: 1_800_000_000_000))

    private var key: String { CollapseKey.make(user: user.text, subject: call.text) }

    private func body(_ payload: String, seconds: Int = 60, isDryRun: Bool = false) throws -> Body {
        let message = try FCMMessage(
            token: "a:b", payload: Array(payload.utf8), secondsToLive: seconds, isDryRun: isDryRun)
        return try JSONDecoder().decode(Body.self, from: Data(message.body))
    }

    @Test("a ring: all strings, high priority, its time to live, and its call as the key") func ring() throws {
        let until = Timestamp(milliseconds: 1_800_000_045_000)
        let notification = Notification(
            user: user, content: .ring(call, isVideo: true, until: until), title: "Ana \"B\"", body: "Incoming\\call",
            photo: "/v1/photos/a")
        let body = try body(notification.json, seconds: 45)
        #expect(body.validate_only == nil && body.message.token == "a:b")
        #expect(
            body.message.data == [
                "kind": "ring", "user": user.text, "call": call.text, "video": "true", "expiresAt": "1800000045000",
                "title": "Ana \"B\"", "body": "Incoming\\call", "photo": "/v1/photos/a",
            ])
        #expect(body.message.android == ["priority": "HIGH", "ttl": "45s", "collapse_key": key])
    }

    @Test("messages and missed calls take none of the four keys of a device, what ends soon takes one") func keys()
        throws
    {
        let conversation = ConversationID.make(at: Timestamp(milliseconds: 1_800_000_000_000))
        let message = Notification(
            user: user, content: .message(conversation, number: 12), title: "Ana", body: "Hello", badge: 3)
        let body = try body(message.json, seconds: 28 * 86_400)
        #expect(body.message.android == ["priority": "HIGH", "ttl": "2419200s"])
        #expect(body.message.data["number"] == "12" && body.message.data["badge"] == "3")
        for (content, key) in [(Notification.Content.missedCall(call), nil), (.ringEnded(call, .answered), key)] {
            let notification = Notification(user: user, content: content, title: "Ana", body: "Missed")
            #expect(try self.body(notification.json).message.android["collapse_key"] == key)
        }
        #expect(try self.body(#"{"kind":"test"}"#, seconds: -1).message.android["ttl"] == "0s")
    }

    @Test("the longest notification fits", arguments: ["a", "\"", "\\", "\n", "é", "👩‍🚀"]) func longest(character: String)
        throws
    {
        let notification = Notification(
            user: user, content: .ring(call, isVideo: true, until: Timestamp(milliseconds: .max / 2)),
            title: String(repeating: character, count: 10_000), body: String(repeating: character, count: 10_000),
            photo: "/v1/photos/" + String(repeating: "a", count: 240), badge: .max)
        let data = try body(notification.json).message.data
        #expect(data.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count } <= FCMMessage.maxDataSize)
    }

    @Test("what is larger, or no flat object, is refused") func refused() {
        func error(_ payload: String) -> FCMMessage.Invalid? {
            #expect(throws: FCMMessage.Invalid.self) {
                try FCMMessage(token: "a", payload: Array(payload.utf8), secondsToLive: 0)
            }
        }
        let room = FCMMessage.maxDataSize - 1
        #expect(throws: Never.self) { try body(#"{"a":"\#(String(repeating: "x", count: room))"}"#) }
        #expect(error(#"{"a":"\#(String(repeating: "x", count: room + 1))"}"#) == .tooLarge)
        for payload in ["[]", "{", #"{"a":{}}"#, #"{"a":[1]}"#] { #expect(error(payload) == .data) }
    }

    @Test("a dry run says so") func dryRun() throws {
        #expect(try body(#"{"kind":"test"}"#, isDryRun: true).validate_only == true)
    }
}
