import Foundation
import Testing

@testable import SwitchboardClient

struct FriendBookTests {
    private func frame(_ text: String) throws -> ServerFrame { try ServerFrame(Array(text.utf8)) }

    private func friend(_ id: String, _ state: String, _ day: Int) -> String {
        let time = "2026-11-0\(day)T00:00:00.000Z"
        let member = state == "friend" ? "since" : "createdAt"
        return """
            {"user":{"id":"\(id)","displayName":"\(id)","languages":[]},"state":"\(state)","\(member)":"\(time)"}
            """
    }

    private func snapshot(_ friends: String?) throws -> EndpointMachine.Delivery {
        let me = """
            {"id":"me","displayName":"Me","languages":[],"callWaiting":false,"presence":"everybody",
            "createdAt":"2026-11-20T22:53:00.123Z"}
            """
        let member = friends.map { ",\"friends\":[\($0)]" } ?? ""
        let text = #"{"stream":"user:me","snapshot":{"me":\#(me),"calls":[]\#(member)},"epoch":"e1","seq":1}"#
        guard case .snapshot(_, let document, let position) = try frame(text) else { throw Unexpected() }
        return .snapshot(document, position)
    }

    private func changes(_ type: String, _ data: String) throws -> EndpointMachine.Delivery {
        let text = #"{"stream":"user:me","changes":[{"seq":2,"type":"\#(type)","data":\#(data)}]}"#
        guard case .changes(_, let changes) = try frame(text) else { throw Unexpected() }
        return .changes(changes)
    }

    private struct Unexpected: Error {}

    @Test func followsTheStream() throws {
        var book = FriendBook()
        #expect(!book.isKnown)
        #expect(book.apply(try snapshot(friend("a", "friend", 1) + "," + friend("b", "received", 3))))
        #expect(book.isKnown && book.all.map(\.id) == ["b", "a"])
        #expect(book.apply(try changes("friend", friend("c", "sulking", 2))))
        #expect(book.all.map(\.id) == ["b", "c", "a"] && book.all[1].state.rawValue == "sulking")
        #expect(book.apply(try changes("friend.removed", #"{"user":"b"}"#)))
        #expect(book.all.map(\.id) == ["c", "a"])
        #expect(!book.apply(try changes("block", #"{"user":"b","blocked":true}"#)))
        let before = book.all
        #expect(!book.apply(try snapshot(friend("a", "friend", 1) + "," + friend("c", "sulking", 2))))
        #expect(book.all == before, "a snapshot says the same")
        #expect(book.apply(try snapshot(nil)) && book.all.isEmpty, "an older server has none")
    }
}
