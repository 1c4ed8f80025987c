import Foundation
import Testing

@testable import SwitchboardClient

/// Pushes as the three services deliver them, and everything else that may come.
struct PushNotificationTests {
    private static let ring = """
        {"kind":"ring","user":"u1","call":"c1","video":true,"expiresAt":1893456000123,"title":"Ann","body":"Incoming video call",
        "photo":"/v1/photos/p1"}
        """

    private func notification(_ json: String) -> PushNotification? { PushNotification(json: Data(json.utf8)) }

    private func dictionary(_ json: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
    }

    @Test func readsARingOfEachService() throws {
        let read = try #require(notification(Self.ring))
        #expect(read.user == "u1" && read.title == "Ann" && read.body == "Incoming video call")
        #expect(read.photoURL == "/v1/photos/p1" && read.badge == nil)
        guard case .ring(let call, isVideo: true, let expiry) = read.content else {
            Issue.record("\(read.content)")
            return
        }
        #expect(call == "c1" && expiry == Date(timeIntervalSince1970: 1_893_456_000.123))
        let pushKit = try dictionary(Self.ring).merging(["aps": [String: Any]()]) { $1 }
        #expect(PushNotification(userInfo: pushKit) == read)
        let texts = [
            "kind": "ring", "user": "u1", "call": "c1", "video": "true", "expiresAt": "1893456000123", "title": "Ann",
            "body": "Incoming video call", "photo": "/v1/photos/p1",
        ]
        #expect(PushNotification(data: texts) == read)
        // As Swift code makes such a dictionary, and as Apple's frameworks do.
        let native: [AnyHashable: Any] = [
            "kind": "ring", "user": "u1", "call": "c1", "video": true, "expiresAt": 1_893_456_000_123, "title": "Ann",
            "body": "Incoming video call", "photo": "/v1/photos/p1",
        ]
        #expect(PushNotification(userInfo: native) == read)
        let boxed = native.merging(["video": NSNumber(value: 1), "expiresAt": NSNumber(value: 1_893_456_000_123.0)]) {
            $1
        }
        #expect(PushNotification(userInfo: boxed) == read)
    }

    @Test func readsAMessage() throws {
        let web = notification(
            #"{"kind":"message","user":"u1","conversation":"k1","number":12,"title":"Ann","body":"Hello","badge":3}"#)
        #expect(web?.content == .message(in: "k1", number: 12))
        #expect(web?.badge == 3)
        let apple = try dictionary(
            """
            {"aps":{"alert":{"title":"Ann","body":"Hello"},"badge":3,"sound":"default","thread-id":"k1"},"kind":"message",
            "user":"u1","conversation":"k1","number":12}
            """)
        #expect(PushNotification(userInfo: apple) == web)
        let google = [
            "kind": "message", "user": "u1", "conversation": "k1", "number": "12", "title": "Ann", "body": "Hello",
            "badge": "3",
        ]
        #expect(PushNotification(data: google) == web)
    }

    @Test func readsTheEndOfARing() {
        for (reason, end) in [("answered", RingEnd.answered), ("declined", .declined), ("cancelled", .cancelled)] {
            #expect(
                notification(#"{"kind":"ringEnded","call":"c1","reason":"\#(reason)"}"#)?.content
                    == .ringEnded("c1", end))
        }
        #expect(notification(#"{"kind":"ringEnded","call":"c1"}"#)?.content == .ringEnded("c1", .cancelled))
        let newer = RingEnd(rawValue: "forwarded")
        #expect(
            notification(#"{"kind":"ringEnded","call":"c1","reason":"forwarded"}"#)?.content == .ringEnded("c1", newer))
        #expect(notification(#"{"kind":"missedCall","call":"c1","badge":2}"#)?.content == .missedCall("c1"))
    }

    @Test func isNoneWithoutAKind() {
        let texts = [
            "", "null", "[]", "3", "{}", #"{"kind":3}"#, #"{"kind":null}"#, #"{"aps":{"alert":"Hello"}}"#, "{\"kind\"",
        ]
        for text in texts {
            #expect(notification(text) == nil, "\(text)")
        }
        #expect(PushNotification(json: Data([0xFF, 0xFE, 0x00])) == nil)
        #expect(PushNotification(userInfo: [:]) == nil && PushNotification(data: [:]) == nil)
        #expect(PushNotification(userInfo: [1: "kind", "aps": 3]) == nil)
        let deep = #"{"kind":"message","a":"# + String(repeating: "[", count: 100_000)
        #expect(notification(deep) == nil)
    }

    @Test(arguments: [
        #"{"kind":"poll","title":"A","body":"B"}"#, #"{"kind":"test","title":"A","body":"B"}"#,
        #"{"kind":"ring","title":"A","body":"B"}"#, #"{"kind":"ring","call":"","title":"A","body":"B"}"#,
        #"{"kind":"ring","call":7,"title":"A","body":"B"}"#,
        #"{"kind":"message","conversation":"k1","title":"A","body":"B"}"#,
        #"{"kind":"message","conversation":"k1","number":"x","title":"A","body":"B"}"#,
        #"{"kind":"message","conversation":"k1","number":1e300,"title":"A","body":"B"}"#,
        #"{"kind":"message","conversation":"k1","number":1.5,"title":"A","body":"B"}"#,
        #"{"kind":"message","conversation":"k1","number":99999999999999999999,"title":"A","body":"B"}"#,
        #"{"kind":"ringEnded","call":["c1"],"title":"A","body":"B"}"#,
        #"{"kind":"missedCall","call":{"id":"c1"},"title":"A","body":"B"}"#,
    ])
    func showsWhatItDoesNotKnow(json: String) throws {
        let read = try #require(notification(json))
        guard case .other = read.content else {
            Issue.record("\(read.content)")
            return
        }
        #expect(read.title == "A" && read.body == "B" && read.user == nil)
    }

    @Test func leavesOutWhatIsOdd() {
        // A number that no type holds makes the text invalid, for some parsers.
        let odd = notification(#"{"kind":"ring","call":"c1","expiresAt":-1e400}"#)
        #expect(odd == nil || odd?.content == .ring("c1", isVideo: false, expiresAt: nil))
        let ring = notification(
            """
            {"kind":"ring","call":"c1","user":"","video":"yes","expiresAt":"soon","title":3,"body":null,"badge":-1,
            "photo":[]}
            """)
        #expect(ring?.content == .ring("c1", isVideo: false, expiresAt: nil))
        #expect(ring?.user == nil && ring?.title == "" && ring?.body == "")
        #expect(ring?.badge == nil && ring?.photoURL == nil)
        let plain: [AnyHashable: Any] = ["kind": "test", "aps": ["alert": "Hello", "badge": Double.nan]]
        #expect(PushNotification(userInfo: plain)?.body == "Hello")
    }

    /// Valid payloads with bytes changed, and members with values of any type: whatever comes, nothing traps.
    @Test(arguments: 0..<20) func survivesAnything(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var bytes = Array(Self.ring.utf8)
        for _ in 0..<500 {
            bytes = Array(Self.ring.utf8)
            for _ in 0...Int.random(in: 0..<6, using: &random) {
                let index = Int.random(in: bytes.indices, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: index)
                default: bytes.insert(Array("{}[]\":,0-e\\".utf8).randomElement(using: &random) ?? 0, at: index)
                }
            }
            _ = PushNotification(json: Data(bytes))
        }
        let values: [Any] = [
            "", "c1", "message", "ring", "-1", "1e9", Int.max, Int.min, UInt64.max, Int8(-1), -0.0, Double.nan,
            -Double.infinity, 1e300, Float(1.5), true, NSNumber(value: UInt64.max), NSNumber(value: Double.nan),
            NSNull(), Date(), [1], ["a": 1], Optional<Int>.none as Any,
            ["alert": ["title": 1, "body": NSNull()], "badge": UInt64.max] as [String: Any],
        ]
        let names = [
            "user", "call", "conversation", "number", "video", "expiresAt", "reason", "title", "body", "badge", "aps",
        ]
        for kind in ["message", "ring", "ringEnded", "missedCall", "other"] {
            for _ in 0..<200 {
                var members: [AnyHashable: Any] = ["kind": kind]
                for name in names where Bool.random(using: &random) {
                    members[AnyHashable(name)] = values.randomElement(using: &random)
                }
                #expect(PushNotification(userInfo: members) != nil)
            }
        }
    }
}

struct PushTokenTests {
    @Test func writesBytesInHexadecimal() {
        #expect(PushToken.apns(Data([0, 15, 16, 255])) == .apns("000f10ff"))
        #expect(PushToken.apnsVoIP(Data([1]), environment: .sandbox) == .apnsVoIP("01", environment: .sandbox))
        #expect(PushToken.apns("01") != .apnsVoIP("01") && PushToken.apns("01") != .apns("01", environment: .sandbox))
    }

    @Test func keepsItsSecret() {
        struct Holder { let token: PushToken }
        let tokens = [
            PushToken.fcm("s3cret"), .apns("s3cret"), .apnsVoIP("s3cret"),
            .web(endpoint: "https://s3cret", publicKey: "s3cret", secret: "s3cret"),
        ]
        for token in tokens {
            var dumped = ""
            dump(Holder(token: token), to: &dumped)
            for text in ["\(token)", String(reflecting: token), "\(Holder(token: token))", dumped] {
                #expect(!text.contains("s3cret") && text.contains(token.kind.rawValue))
            }
        }
    }
}
