import Foundation
import Testing

@testable import SwitchboardClient

struct CallBookTests {
    private func call(_ status: Call.Status, _ state: Participant.State, version: Int, at endpoint: EndpointID? = nil)
        -> Call
    {
        let media = Participant.Media(audio: true, video: false, screen: false, held: false)
        return Call(
            id: "c1", kind: .audio, mode: "direct", status: status, version: version, caller: "ann",
            createdAt: Date(timeIntervalSince1970: 0),
            participants: [
                Participant(user: "ann", displayName: "Ann", state: .joined, connected: false, media: media),
                Participant(
                    user: "ben", displayName: "Ben", endpoint: endpoint, state: state, connected: false, media: media),
            ])
    }

    private func snapshot(_ call: Call) -> EndpointMachine.Delivery {
        .snapshot(.call(call), StreamPosition(epoch: "x", sequence: 1))
    }

    private func change(_ contents: StreamChange.Content...) -> EndpointMachine.Delivery {
        .changes(contents.enumerated().map { StreamChange(sequence: Int64($0.offset), content: $0.element) })
    }

    @Test func announcesARingOnceWhicheverStreamIsFirst() {
        let ringing = call(.ringing, .invited, version: 1)
        var book = CallBook()
        #expect(
            book.apply(change(.call(ringing)), of: "user:ben", for: "ben") == [.updated(ringing), .incoming(ringing)])
        #expect(book.apply(snapshot(ringing), of: "call:c1", for: "ben") == [])
        var other = CallBook()
        #expect(other.apply(snapshot(ringing), of: "call:c1", for: "ben") == [.updated(ringing), .incoming(ringing)])
        #expect(other.apply(change(.call(ringing)), of: "user:ben", for: "ben") == [])
    }

    @Test func doesNotAnnounceOnesOwnCall() {
        var book = CallBook()
        let ringing = call(.ringing, .invited, version: 1)
        #expect(book.apply(snapshot(ringing), of: "call:c1", for: "ann") == [.updated(ringing)])
    }

    @Test func putsChangesTogether() throws {
        var book = CallBook()
        _ = book.apply(snapshot(call(.ringing, .ringing, version: 1)), of: "call:c1", for: "ann")
        let joined = call(.active, .joined, version: 2, at: "e2")
        var fields = joined
        fields.participants = []
        let events = book.apply(
            change(.participant(joined.participants[1], version: 2), .call(fields)), of: "call:c1", for: "ann")
        #expect(events == [.updated(joined)])
    }

    @Test func aChangeThatAnAnswerOvertookIsOld() {
        var book = CallBook()
        _ = book.apply(snapshot(call(.ringing, .invited, version: 1)), of: "call:c1", for: "ben")
        let joined = call(.active, .joined, version: 3, at: "e2")
        #expect(book.apply(joined, for: "ben") == [.updated(joined)])
        let ringing = call(.ringing, .ringing, version: 2).participants[1]
        #expect(book.apply(change(.participant(ringing, version: 2)), of: "call:c1", for: "ben") == [])
        #expect(book.live["c1"] == joined)
    }

    @Test func aCallsOwnStreamHasTheLastWord() {
        var book = CallBook()
        _ = book.apply(snapshot(call(.active, .joined, version: 3)), of: "call:c1", for: "ben")
        #expect(book.apply(change(.call(call(.ringing, .ringing, version: 1))), of: "user:ben", for: "ben") == [])
        #expect(book.live["c1"]?.status == .active)
    }

    @Test func endsOnceAndForEver() {
        var book = CallBook()
        _ = book.apply(snapshot(call(.active, .joined, version: 3)), of: "call:c1", for: "ben")
        let ended = call(.ended, .left, version: 4)
        #expect(book.apply(change(.call(ended)), of: "user:ben", for: "ben") == [.ended(ended)])
        #expect(book.apply(snapshot(ended), of: "call:c1", for: "ben") == [])
        #expect(book.apply(change(.call(call(.ringing, .ringing, version: 1))), of: "user:ben", for: "ben") == [])
        #expect(book.live.isEmpty)
    }

    @Test func expectsAMailboxIfItsEndpointIsInTheCall() {
        var book = CallBook()
        _ = book.apply(snapshot(call(.active, .joined, version: 2, at: "mine")), of: "call:c1", for: "ben")
        #expect(book.streams(of: "ben", at: "mine") == ["call:c1", "signals:c1:mine"])
        #expect(book.streams(of: "ben", at: "other") == ["call:c1"])
    }

    @Test func reportsSignalsOfTheirCall() {
        var book = CallBook()
        let signal = Signal(from: .init(user: "ann", endpoint: "e1"), content: .offer(sdp: "v=0"), generation: 1)
        #expect(
            book.apply(change(.signal(signal)), of: "signals:c1:mine", for: "ben") == [
                .signals("c1", [signal], isWhole: false)
            ])
    }

    /// A restored server may report an earlier state: its versions are not comparable.
    @Test func versionsAreForgottenWithAnEpoch() {
        var book = CallBook()
        func whole(_ call: Call, _ epoch: String) -> EndpointMachine.Delivery {
            .snapshot(.call(call), StreamPosition(epoch: epoch, sequence: 1))
        }
        func user(_ calls: [Call], _ epoch: String) -> EndpointMachine.Delivery {
            let me = Me(
                id: "ben", email: nil, displayName: "Ben", photoURL: nil, languages: [], callWaiting: false,
                presence: .everybody, createdAt: Date(timeIntervalSince1970: 0))
            return .snapshot(.user(UserDocument(me: me, calls: calls)), StreamPosition(epoch: epoch, sequence: 1))
        }
        let late = call(.active, .joined, version: 9, at: "e2"), early = call(.active, .joined, version: 4, at: "e2")
        _ = book.apply(user([], "x"), of: "user:ben", for: "ben")
        _ = book.apply(whole(late, "x"), of: "call:c1", for: "ben")
        #expect(book.apply(early, for: "ben") == [])
        _ = book.apply(user([], "y"), of: "user:ben", for: "ben")
        #expect(book.apply(early, for: "ben") == [.updated(early)])
        _ = book.apply(whole(call(.ended, .left, version: 12), "x"), of: "call:c1", for: "ben")
        #expect(book.live.isEmpty)
        #expect(book.apply(user([early], "y"), of: "user:ben", for: "ben").count == 1)
        #expect(book.apply(user([early], "z"), of: "user:ben", for: "ben").contains(.updated(early)))
    }
}
