import Foundation
import Testing

@testable import SwitchboardClient

/// Messages that are no text, as they stand in JSON.
struct MessageKindTests {
    private static let common = """
        "conversation":"c1","number":3,"version":7,"clientID":"m1","author":"ann","sentAt":"2026-11-20T22:53:00.123Z",\
        "ranges":[],"textVersion":7,"reactions":{}
        """

    @Test("a call is decoded, with what it was and who was in it")
    func call() throws {
        let json = """
            {\(Self.common),"kind":"call","call":{"id":"k1","kind":"video","state":"ended",\
            "startedAt":"2026-11-20T22:53:00.123Z","answeredAt":"2026-11-20T22:53:05Z",\
            "endedAt":"2026-11-20T22:54:05Z","duration":60,"reason":"hangup","endedBy":"ben",\
            "participants":[{"user":"ann","state":"left"},{"user":"ben","state":"dreaming"}]}}
            """
        let message = try JSON.decode(Message.self, from: json.utf8)
        #expect(message.kind == .call && message.text == nil)
        let call = try #require(message.call)
        #expect(call.id == "k1" && call.kind == .video && call.state == .ended && call.duration == 60)
        #expect(call.endedBy == "ben" && call.participants.map(\.user) == ["ann", "ben"])
        let shown = ChatMessage(message)
        #expect(shown.call == call && !shown.isDeleted && shown.text == nil)
        let stored = try StoredJSON.decode(Message.self, try StoredJSON.encode(message))
        #expect(stored == message)
    }

    @Test(
        "of a kind that is not known, the text is shown, and one without text is no deleted message",
        arguments: [
            "poll", "voice_of_tomorrow",
        ])
    func unknown(kind: String) throws {
        let json = #"{\#(Self.common),"kind":"\#(kind)","text":"Lunch?","poll":{"options":[1,2]}}"#
        let message = try JSON.decode(Message.self, from: json.utf8)
        #expect(message.kind == Message.Kind(rawValue: kind) && message.text == "Lunch?" && message.call == nil)
        let list = #"[{"message":\#(json)},{"unheardOf":{"a":1}}]"#
        let rows = try JSON.decode([ConversationRow].self, from: list.utf8)
        #expect(rows == [.message(message), .unknown])
    }

    @Test("one of a kind that has no text is not shown as deleted")
    func withoutText() throws {
        var message = try JSON.decode(Message.self, from: #"{\#(Self.common),"kind":"sticker"}"#.utf8)
        #expect(!ChatMessage(message).isDeleted)
        message.deletedAt = Date(timeIntervalSince1970: 0)
        #expect(ChatMessage(message).isDeleted)
    }
}
