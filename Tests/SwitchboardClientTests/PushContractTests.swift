import Foundation
import Model
import Notifications
import SwitchboardClient
import Testing

@testable import Push

/// What the server pushes is what the SDK reads, whichever service is between them.
struct PushContractTests {
    private static let user = "00000000-0000-7000-8000-000000000001"
    private static let subject = "00000000-0000-7000-8000-000000000002"
    private static let milliseconds: Int64 = 1_893_456_000_123

    private struct Case: Sendable {
        var pushed: Notifications.Notification
        var read: PushNotification.Content
    }

    private typealias PushedUser = Model.UserID
    private typealias PushedCall = Model.CallID
    private typealias PushedConversation = Model.ConversationID

    private func cases() throws -> [Case] {
        let user = try #require(PushedUser(Self.user))
        let call = try #require(PushedCall(Self.subject))
        let conversation = try #require(PushedConversation(Self.subject))
        let (callRead, conversationRead) = (
            SwitchboardClient.CallID(Self.subject), SwitchboardClient.ConversationID(Self.subject)
        )
        let until = Timestamp(milliseconds: Self.milliseconds)
        let expiry = Date(timeIntervalSince1970: Double(Self.milliseconds) / 1_000)
        let contents: [(Notifications.Notification.Content, PushNotification.Content)] = [
            (.message(conversation, number: 12), .message(in: conversationRead, number: 12)),
            (.ring(call, isVideo: true, until: until), .ring(callRead, isVideo: true, expiresAt: expiry)),
            (.ring(call, isVideo: false, until: until), .ring(callRead, isVideo: false, expiresAt: expiry)),
            (.ringEnded(call, .answered), .ringEnded(callRead, .answered)),
            (.ringEnded(call, .declined), .ringEnded(callRead, .declined)),
            (.ringEnded(call, .cancelled), .ringEnded(callRead, .cancelled)),
            (.missedCall(call), .missedCall(callRead)),
        ]
        return contents.map { pushed, read in
            Case(
                pushed: Notifications.Notification(
                    user: user, content: pushed, title: "Ann \"Annie\"", body: "Hello 👋", photo: "/v1/photos/p1",
                    badge: 3),
                read: read)
        }
    }

    private func check(_ notification: PushNotification?, _ one: Case) {
        #expect(notification?.content == one.read)
        #expect(notification?.user == SwitchboardClient.UserID(Self.user))
        #expect(notification?.title == "Ann \"Annie\"" && notification?.body == "Hello 👋")
        #expect(notification?.photoURL == "/v1/photos/p1" && notification?.badge == 3)
    }

    @Test func readsWebPushes() throws {
        for one in try cases() { check(PushNotification(json: Data(one.pushed.json.utf8)), one) }
    }

    @Test(arguments: [false, true]) func readsPushesOfApple(isVoIP: Bool) throws {
        for one in try cases() {
            let payload = try APNsPayload(Array(one.pushed.json.utf8), isVoIP: isVoIP)
            let userInfo = try JSONSerialization.jsonObject(with: Data(payload.body)) as? [String: Any]
            check(PushNotification(userInfo: try #require(userInfo)), one)
        }
    }

    @Test func readsMessagesOfGoogle() throws {
        struct Sent: Decodable {
            struct Message: Decodable { var data: [String: String] }
            var message: Message
        }
        for one in try cases() {
            let message = try FCMMessage(token: "t", payload: Array(one.pushed.json.utf8), secondsToLive: 60)
            let sent = try JSONDecoder().decode(Sent.self, from: Data(message.body))
            check(PushNotification(data: sent.message.data), one)
        }
    }
}
