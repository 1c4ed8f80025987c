import Bus
import Model
import Testing

@testable import Realtime

@Suite("What listeners see of a presence")
struct PresenceViewTests {
    private let stream = StreamName.presence(bob)
    private let gone = Presence(online: false, lastSeenAt: morning)

    private func listening(_ session: inout LiveSession, _ presence: Presence, _ view: PresenceView) {
        session.machine.receive(.listen(2, stream, after: nil), at: session.now, into: &session.actions)
        open(&session, presence, view)
        _ = session.sent()
    }

    private func open(_ session: inout LiveSession, _ presence: Presence, _ view: PresenceView) {
        session.machine.opened(
            stream, ticket: session.ticket, .success(.presence(presence, view)), at: session.now, wallClock: morning,
            into: &session.actions)
    }

    private func receive(_ presence: Presence, _ session: inout LiveSession) {
        session.machine.receiveEvent(StreamEvent(EphemeralEvent(presence, of: bob)), into: &session.actions)
    }

    @Test(
        "a snapshot and events have what the view allows",
        arguments: [
            (PresenceView.nothing, #"{"online":false}"#, []),
            (.online, #"{"online":true}"#, [#"{"online":false}"#, #"{"online":true}"#]),
            (.full, #"{"online":true}"#, [#"{"online":false,"lastSeenAt":"\#(morning.text)"}"#, #"{"online":true}"#]),
        ])
    func views(_ view: PresenceView, snapshot: String, events: [String]) {
        var session = LiveSession()
        session.machine.receive(.listen(2, stream, after: nil), at: session.now, into: &session.actions)
        open(&session, Presence(online: true), view)
        #expect(session.sent().first == #"{"stream":"\#(stream)","snapshot":\#(snapshot)}"#)
        receive(gone, &session)
        receive(Presence(online: true), &session)
        #expect(session.sent() == events.map { #"{"stream":"\#(stream)","event":\#($0)}"# })
    }

    @Test("of a conversation that is new all members see each other's presence anew, and later those who come and go")
    func sharing() {
        func changes(after: Int64, _ access: [UserID: ListenerAccess] = [:]) -> Set<UserID> {
            ConversationUpdate(
                conversation: identifier(11), epoch: "e1", after: after, upTo: after + 2, rows: [], counter: 1,
                movesEverybody: true, moved: [alice, bob], access: access
            ).presenceChanges
        }
        #expect(changes(after: 0) == [alice, bob])
        #expect(changes(after: 2) == [])
        #expect(changes(after: 2, [alice: .hidden, bob: .ended]) == [bob])
    }

    @Test("who sees less than before gets an event, and one who sees the same nothing")
    func reread() {
        var session = LiveSession()
        listening(&session, Presence(online: true), .full)
        for (view, event) in [(PresenceView.full, nil), (.nothing, "false"), (.online, "true")]
            as [(PresenceView, String?)]
        {
            session.machine.rereadPresence(about: bob, into: &session.actions)
            open(&session, Presence(online: true), view)
            #expect(session.sent() == (event.map { [#"{"stream":"\#(stream)","event":{"online":\#($0)}}"#] } ?? []))
        }
    }

    @Test("what was read anew already is no event once more")
    func readBefore() {
        var session = LiveSession()
        listening(&session, Presence(online: false), .full)
        session.machine.rereadPresence(about: bob, into: &session.actions)
        open(&session, Presence(online: true), .full)
        #expect(session.sent() == [#"{"stream":"\#(stream)","event":{"online":true}}"#])
        receive(Presence(online: true), &session)
        #expect(session.sent() == [])
        receive(Presence(online: false), &session)
        #expect(session.sent() == [#"{"stream":"\#(stream)","event":{"online":false}}"#])
    }

    @Test("an event that comes while a view is read is shown by the new one")
    func held() {
        var session = LiveSession()
        listening(&session, Presence(online: false), .full)
        session.machine.rereadPresence(about: bob, into: &session.actions)
        receive(Presence(online: true), &session)
        open(&session, Presence(online: false), .nothing)
        #expect(session.sent() == [])
    }

    @Test("the user's own change of view rereads all that their session listens to")
    func own() {
        var session = LiveSession()
        listening(&session, Presence(online: false), .online)
        guard let user = session.machine.principal?.user else {
            Issue.record("no principal")
            return
        }
        session.machine.rereadPresence(about: user, into: &session.actions)
        open(&session, gone, .full)
        #expect(
            session.sent() == [#"{"stream":"\#(stream)","event":{"online":false,"lastSeenAt":"\#(morning.text)"}}"#])
    }
}
