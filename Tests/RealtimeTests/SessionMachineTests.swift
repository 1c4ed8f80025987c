import Bus
import Model
import NIOCore
import Synchronization
import Testing

@testable import Realtime

/// A session that is live, alone with the test.
struct LiveSession: ~Copyable {
    var machine: SessionMachine
    var now = NIODeadline.uptimeNanoseconds(1_000_000_000)
    var actions: [SessionAction] = []

    init(
        limits: RealtimeLimits = RealtimeLimits(), tokenLives: TimeAmount = .hours(1),
        admitListen: @escaping @Sendable (Principal) -> Problem? = { _ in nil }
    ) {
        machine = SessionMachine(
            session: identifier(9), rules: SessionRules(limits: limits), at: now, admitListen: admitListen,
            isPage: { $0 == "page" })
        machine.receive(.hello(1, Hello(token: "t")), at: now, into: &actions)
        let admission = Admission(
            principal: Principal(user: alice), grant: EndpointGrant(endpoint: identifier(5)), expires: now + tokenLives)
        machine.authenticated(.success(admission), at: now, wallClock: morning, into: &actions)
        actions = []
    }

    /// The frames sent since the last look.
    mutating func sent() -> [String] {
        defer { actions = [] }
        return actions.compactMap { if case .send(let frame) = $0 { frame.string } else { nil } }
    }

    var bye: Bye? {
        for case .end(let bye) in actions { return bye }
        return nil
    }

    /// Events that gave way since the last look.
    var dropped: Int { actions.reduce(0) { if case .dropped(let count) = $1 { $0 + count } else { $0 } } }

    /// The tickets of reads that nobody needs, since the last look.
    var cancelled: [UInt32] {
        actions.compactMap { if case .cancelRead(let ticket) = $0 { ticket } else { nil } }
    }

    /// The ids of requests that are to be handled, since the last look.
    mutating func handled() -> [Int64] {
        defer { actions = [] }
        return actions.compactMap { if case .handle(let id, _, _) = $0 { id } else { nil } }
    }

    mutating func request(_ name: String, _ ids: ClosedRange<Int64>) {
        for id in ids {
            now = now + .milliseconds(10)
            machine.receive(.request(id, name: name, params: []), at: now, into: &actions)
        }
    }

    mutating func answer(_ id: Int64, bytes: Int) {
        machine.handled(
            id, .result(Array(repeating: 0x31, count: bytes), positions: [:]), at: now, into: &actions)
    }

    /// The last question to the store.
    var ticket: UInt32 {
        for case .open(_, _, let ticket) in actions.reversed() { return ticket }
        return 0
    }

    mutating func listen(_ stream: StreamName, at sequence: Int64) {
        machine.receive(.listen(50, stream, after: nil), at: now, into: &actions)
        machine.opened(
            stream, ticket: ticket,
            .success(.snapshot(Array("{}".utf8), Position(epoch: "e1", sequence: sequence))), at: now,
            wallClock: morning, into: &actions)
        actions = []
    }

    mutating func advance(by amount: TimeAmount, unsent: Int = 0) {
        now = now + amount
        machine.advance(to: now, unsent: unsent, heartbeat: .heartbeat(at: morning), into: &actions)
    }
}

/// Admits two of those that it counts.
private final class ListenCounter: Sendable {
    let users = Mutex<[UserID]>([])

    @Sendable func admit(_ principal: Principal) -> Problem? {
        users.withLock { users in
            users.append(principal.user)
            return users.count > 2 ? Problem(.rateLimited, "Too many.", retryAfter: 700) : nil
        }
    }
}

private let call = StreamName.call(identifier(10))
private let user = StreamName.user(alice)

@Suite("The session machine: its hello")
struct SessionHelloTests {
    private func fresh() -> SessionMachine {
        SessionMachine(session: identifier(9), rules: SessionRules(limits: RealtimeLimits()), at: .uptimeNanoseconds(0))
    }

    @Test("no hello within three seconds ends it")
    func timeout() {
        var machine = fresh()
        var actions: [SessionAction] = []
        machine.advance(
            to: .uptimeNanoseconds(2_900_000_000), unsent: 0, heartbeat: .heartbeat(at: morning), into: &actions)
        #expect(actions.isEmpty)
        machine.advance(
            to: .uptimeNanoseconds(3_000_000_000), unsent: 0, heartbeat: .heartbeat(at: morning), into: &actions)
        guard case .end(.helloTimeout) = actions.last else { return #expect(Bool(false), "\(actions)") }
    }

    @Test("nothing is done before the hello")
    func before() {
        var machine = fresh()
        var actions: [SessionAction] = []
        machine.receive(
            .request(7, name: "calls.list", params: []), at: .uptimeNanoseconds(1), into: &actions)
        guard case .send(let frame) = actions.first else { return #expect(Bool(false), "\(actions)") }
        #expect(frame.string.hasPrefix(#"{"id":7,"error":{"type":"unauthenticated""#))
        #expect(actions.count == 1)
    }

    @Test("an error has the id of its request, or a new one if the session rejects the request itself")
    func requestIDs() throws {
        let own = try #require(RequestID(traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"))
        let other = RequestID.make()
        var machine = SessionMachine(
            session: identifier(9), rules: SessionRules(limits: RealtimeLimits(), makeRequestID: { own }),
            at: .uptimeNanoseconds(0))
        var actions: [SessionAction] = []
        machine.receive(.request(7, name: "calls.list", params: []), at: .uptimeNanoseconds(1), into: &actions)
        var problem = Problem(.conflict, "No.")
        problem.request = other
        machine.reject(8, problem, into: &actions)
        let requests = actions.compactMap { action -> String? in
            guard case .send(let frame) = action else { return nil }
            return (frame.json["error"] as? [String: Any])?["request"] as? String
        }
        #expect(requests == [own.text, other.text])
    }

    @Test("an invalid token gets an error and ends the session; an invalid hello may be corrected")
    func rejections() {
        for (problem, expected) in [
            (Problem(.unauthenticated, "No."), Bye.unauthenticated), (Problem(.forbidden, "No."), .unauthenticated),
            (Problem(.internalError, "No."), .internalError),
        ] {
            var machine = fresh()
            var actions: [SessionAction] = []
            machine.receive(.hello(1, Hello(token: "t")), at: .uptimeNanoseconds(1), into: &actions)
            machine.authenticated(
                .failure(problem), at: .uptimeNanoseconds(2), wallClock: morning, into: &actions)
            guard case .end(let bye) = actions.last else { return #expect(Bool(false), "\(actions)") }
            #expect(bye == expected)
        }
        var machine = fresh()
        var actions: [SessionAction] = []
        machine.receive(.hello(1, Hello(token: "t")), at: .uptimeNanoseconds(1), into: &actions)
        machine.authenticated(
            .failure(.invalid("hello.secret", "Too short.")), at: .uptimeNanoseconds(2), wallClock: morning,
            into: &actions)
        machine.receive(.hello(2, Hello(token: "t")), at: .uptimeNanoseconds(3), into: &actions)
        guard case .authenticate = actions.last else { return #expect(Bool(false), "\(actions)") }
    }

    @Test("frames that follow the hello at once are handled after its result")
    func early() {
        var machine = fresh()
        var actions: [SessionAction] = []
        let now = NIODeadline.uptimeNanoseconds(1)
        machine.receive(.hello(1, Hello(token: "t")), at: now, into: &actions)
        machine.receive(.request(2, name: "me.get", params: []), at: now, into: &actions)
        machine.authenticated(
            .success(
                Admission(
                    principal: Principal(user: alice), grant: EndpointGrant(endpoint: identifier(5), newSecret: "s"),
                    expires: .distantFuture)), at: now, wallClock: morning, into: &actions)
        let order = actions.compactMap { action -> String? in
            switch action {
            case .send(let frame): frame.string
            case .handle(let id, _, _): "handle \(id)"
            default: nil
            }
        }
        #expect(
            order == [
                #"{"id":1,"result":{"session":"00000000-0000-7000-8000-000000000009","#
                    + #""user":"00000000-0000-7000-8000-000000000001","#
                    + #""endpoint":"00000000-0000-7000-8000-000000000005","secret":"s","heartbeat":20,"#
                    + #""serverTime":"\#(morning.text)","resumed":{}}}"#,
                "handle 2",
            ])
    }

    @Test func theHelloResultNamesTheServersVersion() {
        var machine = SessionMachine(
            session: identifier(9), rules: SessionRules(limits: RealtimeLimits(), serverVersion: "1.2.3-beta.1"),
            at: .uptimeNanoseconds(0))
        var actions: [SessionAction] = []
        machine.receive(.hello(1, Hello(token: "t")), at: .uptimeNanoseconds(0), into: &actions)
        machine.authenticated(
            .success(
                Admission(
                    principal: Principal(user: alice), grant: EndpointGrant(endpoint: identifier(5)),
                    expires: .distantFuture)), at: .uptimeNanoseconds(0), wallClock: morning, into: &actions)
        let sent = actions.compactMap { action -> String? in
            if case .send(let frame) = action { frame.string } else { nil }
        }
        #expect(sent.count == 1)
        #expect(
            sent.first?.contains(#","server":{"name":"Switchboard","version":"1.2.3-beta.1"},"resumed":{}}}"#) == true)
    }
}

@Suite("The session machine: requests")
struct SessionRequestTests {
    @Test("a result follows the changes it caused")
    func order() {
        var session = LiveSession()
        session.listen(call, at: 3)
        session.machine.receive(.request(2, name: "calls.accept", params: []), at: session.now, into: &session.actions)
        session.machine.handled(
            2, .result(Array("{}".utf8), positions: [call: Position(epoch: "e1", sequence: 5)]), at: session.now,
            into: &session.actions)
        #expect(session.sent() == [])
        session.machine.receiveChanges(.make(call, 4...4), at: session.now, into: &session.actions)
        #expect(session.sent().count == 1)
        session.machine.receiveChanges(.make(call, 5...5), at: session.now, into: &session.actions)
        let sent = session.sent()
        #expect(sent.count == 2)
        #expect(sent.first?.contains(#""seq":5"#) == true)
        #expect(sent.last == #"{"id":2,"result":{},"positions":{"\#(call)":["e1",5]}}"#)
    }

    @Test("a result waits for an attached stream's snapshot, but not for streams that nobody listens to")
    func attached() {
        var session = LiveSession()
        let position = Position(epoch: "e1", sequence: 1)
        session.machine.receive(.request(2, name: "calls.create", params: []), at: session.now, into: &session.actions)
        session.machine.attach(call, into: &session.actions)
        let ticket = session.ticket
        session.machine.handled(
            2, .result(Array("{}".utf8), positions: [call: position, .user(bob): position]), at: session.now,
            into: &session.actions)
        #expect(session.sent() == [])
        session.machine.opened(
            call, ticket: ticket, .success(.snapshot(Array("{}".utf8), position)), at: session.now, wallClock: morning,
            into: &session.actions)
        let sent = session.sent()
        #expect(sent.count == 2)
        #expect(sent.first == #"{"stream":"\#(call)","snapshot":{},"epoch":"e1","seq":1}"#)
    }

    @Test("a change that was not published is read from the store for the result")
    func lost() {
        var session = LiveSession()
        session.listen(call, at: 3)
        session.machine.receive(.request(2, name: "calls.end", params: []), at: session.now, into: &session.actions)
        session.machine.handled(
            2, .result(Array("{}".utf8), positions: [call: Position(epoch: "e1", sequence: 4)]), at: session.now,
            into: &session.actions)
        session.actions = []
        session.advance(by: .seconds(2))
        let ticket = session.ticket
        #expect(ticket > 0)
        let change = StreamBatch.make(call, 4...4).changes
        session.machine.opened(
            call, ticket: ticket, .success(.changes(change, Position(epoch: "e1", sequence: 4))), at: session.now,
            wallClock: morning, into: &session.actions)
        #expect(session.sent().count == 2)
    }

    @Test("the sixty-fifth request in flight is rejected")
    func inFlight() {
        var session = LiveSession()
        for id in 1...65 {
            session.machine.receive(
                .request(Int64(id), name: "me.get", params: []), at: session.now, into: &session.actions)
        }
        let sent = session.sent()
        #expect(sent.count == 1)
        #expect(sent.first?.hasPrefix(#"{"id":65,"error":{"type":"rate_limited""#) == true)
        session.machine.handled(1, .problem(.notFound("call")), at: session.now, into: &session.actions)
        session.actions = []
        session.machine.receive(.request(66, name: "me.get", params: []), at: session.now, into: &session.actions)
        #expect(session.sent() == [])
    }

    @Test("a newer token of the same user is accepted, another user's is not")
    func token() {
        var session = LiveSession(tokenLives: .seconds(10))
        session.machine.receive(.token(4, "newer"), at: session.now, into: &session.actions)
        session.machine.verified(
            4, .success((Principal(user: bob), session.now + .seconds(900))), at: session.now, into: &session.actions)
        #expect(session.sent().last?.contains(#""type":"forbidden""#) == true)
        session.machine.receive(.token(5, "newer"), at: session.now, into: &session.actions)
        session.machine.verified(
            5, .success((Principal(user: alice), session.now + .seconds(900))), at: session.now, into: &session.actions)
        #expect(session.sent().last == #"{"id":5,"result":{"expiresIn":900}}"#)
        session.advance(by: .seconds(30))
        #expect(session.bye == nil)
    }
}

@Suite("The session machine: time")
struct SessionTimeTests {
    @Test("a token that expires ends the session")
    func expiry() {
        var session = LiveSession(tokenLives: .seconds(10))
        session.advance(by: .seconds(9))
        #expect(session.bye == nil)
        session.advance(by: .seconds(1))
        #expect(session.bye == .unauthenticated)
    }

    @Test("heartbeats come every twenty seconds, and 45 seconds of silence end it")
    func heartbeats() {
        var session = LiveSession()
        session.advance(by: .seconds(19))
        #expect(session.sent() == [])
        session.advance(by: .seconds(1))
        #expect(session.sent() == [#"{"heartbeat":{"serverTime":"\#(morning.text)"}}"#])
        session.machine.receive(.heartbeat, at: session.now, into: &session.actions)
        session.advance(by: .seconds(44))
        #expect(session.bye == nil)
        session.advance(by: .seconds(1))
        #expect(session.bye == .idle)
    }

    @Test("time in which the server read nothing does not count as silence, but tokens expire")
    func serverStall() {
        var session = LiveSession(tokenLives: .seconds(200))
        session.advance(by: .seconds(20))
        session.now = session.now + .seconds(100)
        session.machine.extend(by: .seconds(100), at: session.now)
        session.advance(by: .seconds(24))
        #expect(session.bye == nil)
        // What was read before it was made up for counts from now and no later.
        session.machine.receive(.heartbeat, at: session.now, into: &session.actions)
        session.machine.extend(by: .seconds(100), at: session.now)
        session.advance(by: .seconds(44))
        #expect(session.bye == nil)
        session.machine.receive(.heartbeat, at: session.now, into: &session.actions)
        session.now = session.now + .seconds(12)
        session.machine.extend(by: .seconds(12), at: session.now)
        session.advance(by: .seconds(0))
        #expect(session.bye == .unauthenticated)
    }

    @Test("a user is told who else is writing, and not what they do themselves")
    func ownTyping() {
        let typing = StreamName.typing(identifier(11))
        var session = LiveSession()
        func note(_ user: UserID, _ session: inout LiveSession) {
            let event = EphemeralEvent(stream: typing, data: #"{"user":"\#(user)"}"#, subject: user)
            session.machine.receiveEvent(StreamEvent(event), into: &session.actions)
        }
        session.machine.receive(.listen(2, typing, after: nil), at: session.now, into: &session.actions)
        // Those of a moment when the stream is read wait.
        for user in [alice, bob] { note(user, &session) }
        session.machine.opened(
            typing, ticket: session.ticket, .success(.snapshot(Array("{}".utf8), .ephemeral)), at: session.now,
            wallClock: morning, into: &session.actions)
        let event = #"{"stream":"\#(typing)","event":{"user":"\#(bob)"}}"#
        #expect(session.sent().filter { $0.contains("event") } == [event])
        for user in [alice, bob] { note(user, &session) }
        #expect(session.sent() == [event])
    }

    @Test("a stall of the server extends the hello timeout")
    func stallBeforeHello() {
        var machine = SessionMachine(
            session: identifier(9), rules: SessionRules(limits: RealtimeLimits()), at: .uptimeNanoseconds(0))
        var actions: [SessionAction] = []
        func end(at seconds: Int64) -> Bool {
            machine.advance(
                to: .uptimeNanoseconds(0) + .seconds(seconds), unsent: 0, heartbeat: .heartbeat(at: morning),
                into: &actions)
            return !actions.isEmpty
        }
        machine.extend(by: .seconds(60), at: .uptimeNanoseconds(0) + .seconds(60))
        #expect(!end(at: 62))
        #expect(end(at: 63))
    }

    @Test("a client that reads nothing for fifteen seconds is disconnected, one that reads a little is not")
    func stall() {
        var session = LiveSession()
        session.listen(call, at: 0)
        session.machine.receiveChanges(.make(call, 1...50), at: session.now, into: &session.actions)
        session.machine.setTransportWritable(false, at: session.now, into: &session.actions)
        session.machine.receiveChanges(.make(call, 51...51), at: session.now, into: &session.actions)
        for unsent in stride(from: 900, through: 100, by: -100) {
            session.advance(by: .seconds(5), unsent: unsent)
            #expect(session.bye == nil)
            session.machine.receive(.heartbeat, at: session.now, into: &session.actions)
        }
        session.advance(by: .seconds(14), unsent: 100)
        #expect(session.bye == nil)
        session.advance(by: .seconds(1), unsent: 100)
        #expect(session.bye == .slow)
    }
}

@Suite("The session machine: a client that reads slowly")
struct SessionBackPressureTests {
    private static var tight: RealtimeLimits {
        var limits = RealtimeLimits()
        limits.softQueueBytes = 400
        limits.hardQueueBytes = 2000
        return limits
    }

    @Test("above the soft limit streams lag, and catch up from the store when there is space")
    func lagging() {
        var session = LiveSession(limits: Self.tight)
        session.listen(call, at: 0)
        session.machine.setTransportWritable(false, at: session.now, into: &session.actions)
        for sequence in 1...100 {
            session.machine.receiveChanges(
                .make(call, Int64(sequence)...Int64(sequence)), at: session.now, into: &session.actions)
        }
        #expect(session.sent() == [])
        #expect(session.machine.queue.bytes < 600)
        #expect(session.machine.laggingStreams == 1)
        session.machine.setTransportWritable(true, at: session.now, into: &session.actions)
        let queued = session.actions.count { if case .send = $0 { true } else { false } }
        guard case .open(call, let after, _) = session.actions.last else { return #expect(Bool(false)) }
        #expect(after == Position(epoch: "e1", sequence: Int64(queued)))
    }

    @Test("of ephemeral events only the latest of each stream waits")
    func coalescing() {
        var session = LiveSession(limits: Self.tight)
        let presence = StreamName.presence(bob)
        session.machine.receive(.listen(50, presence, after: nil), at: session.now, into: &session.actions)
        session.machine.opened(
            presence, ticket: session.ticket, .success(.snapshot(Array("{}".utf8), .ephemeral)), at: session.now,
            wallClock: morning, into: &session.actions)
        #expect(session.sent().last == #"{"id":50,"result":{"stream":"\#(presence)","position":["",0]}}"#)
        session.machine.setTransportWritable(false, at: session.now, into: &session.actions)
        for number in 1...1000 {
            session.machine.receiveEvent(
                StreamEvent(.init(stream: presence, data: #"{"n":\#(number)}"#)), into: &session.actions)
        }
        session.machine.setTransportWritable(true, at: session.now, into: &session.actions)
        #expect(session.sent() == [#"{"stream":"\#(presence)","event":{"n":1000}}"#])
        #expect(session.machine.queue.bytes == 0)
    }

    @Test("ordered events wait up to a limit, the oldest are dropped and counted")
    func ordered() {
        var limits = Self.tight
        limits.softQueueBytes = 1024
        var session = LiveSession(limits: limits)
        let captions = StreamName.captions(identifier(10))
        func event(_ number: Int, _ padding: Int = 0) -> StreamEvent {
            let text = String(repeating: "x", count: padding)
            return StreamEvent(.init(stream: captions, data: #"{"n":\#(number),"t":"\#(text)"}"#))
        }
        func numbers(_ frames: [String]) -> [Int] {
            frames.compactMap { frame in
                frame.firstRange(of: #""n":"#).flatMap { Int(frame[$0.upperBound...].prefix { $0.isNumber }) }
            }
        }
        session.machine.receive(.listen(50, captions, after: nil), at: session.now, into: &session.actions)
        let many = limits.orderedEvents + 6
        // While the stream is read.
        for number in 1...many { session.machine.receiveEvent(event(number), into: &session.actions) }
        session.machine.opened(
            captions, ticket: session.ticket, .success(.snapshot(Array("{}".utf8), .ephemeral)), at: session.now,
            wallClock: morning, into: &session.actions)
        #expect(session.dropped == 6)
        #expect(numbers(session.sent()) == Array(7...many))
        // While the client does not read: so many of them, or so many bytes.
        session.machine.setTransportWritable(false, at: session.now, into: &session.actions)
        for number in 1...3 { session.machine.receiveEvent(event(number, 300), into: &session.actions) }
        #expect(session.dropped == 1)
        for number in 4...40 { session.machine.receiveEvent(event(number), into: &session.actions) }
        #expect(session.machine.queue.bytes <= limits.softQueueBytes)
        session.machine.setTransportWritable(true, at: session.now, into: &session.actions)
        let rest = numbers(session.sent())
        #expect(rest == Array((40 - rest.count + 1)...40) && rest.count > 5, "The newest, in their order.")
        #expect(session.machine.queue.bytes == 0)
        session.machine.setTransportWritable(false, at: session.now, into: &session.actions)
        session.machine.receiveEvent(event(1), into: &session.actions)
        session.machine.drop(captions, into: &session.actions)
        session.machine.setTransportWritable(true, at: session.now, into: &session.actions)
        #expect(numbers(session.sent()).isEmpty, "What waited for it is not for it any more.")
    }

    @Test("above the hard limit the session ends")
    func hardBound() {
        var session = LiveSession(limits: Self.tight)
        session.machine.setTransportWritable(false, at: session.now, into: &session.actions)
        for id in 1...40 {
            session.machine.receive(
                FrameError(id: Int64(id), problem: .invalid("x", "y")), at: session.now, into: &session.actions)
        }
        #expect(session.bye == .slow)
    }
}

@Suite("The session machine: streams attached by the server")
struct SessionAttachmentTests {
    @Test("a stream that has ended is forgotten after its last change, also when it is still being read")
    func detach() {
        var session = LiveSession()
        session.machine.attach(call, into: &session.actions)
        let ticket = session.ticket
        session.machine.receiveChanges(.make(call, 2...2), at: session.now, into: &session.actions)
        session.machine.detach(call, into: &session.actions)
        session.machine.opened(
            call, ticket: ticket, .success(.snapshot(Array("{}".utf8), Position(epoch: "e1", sequence: 1))),
            at: session.now, wallClock: morning, into: &session.actions)
        guard case .unsubscribe(call) = session.actions.last else { return #expect(Bool(false)) }
        #expect(session.sent().count == 2)
        #expect(session.machine.listens.isEmpty)
    }

    @Test("pages are read two at a time, and none while the client does not read: asking for many ends no session")
    func pages() {
        var session = LiveSession()
        session.request("page", 1...60)
        session.request("other", 61...64)
        #expect(session.handled() == [1, 2, 61, 62, 63, 64])
        session.request("page", 65...65)
        #expect(session.sent().first?.hasPrefix(#"{"id":65,"error":{"type":"rate_limited""#) == true)
        session.answer(2, bytes: 300_000)
        #expect(session.handled() == [3])
        session.machine.setTransportWritable(false, at: session.now, into: &session.actions)
        for id: Int64 in [1, 3] { session.answer(id, bytes: 1_500_000) }
        #expect(session.bye == nil)
        #expect(session.handled() == [])
        // What waits is sent page by page.
        session.machine.setTransportWritable(true, at: session.now, into: &session.actions)
        #expect(session.handled() == [])
        session.machine.setTransportWritable(true, at: session.now, into: &session.actions)
        #expect(session.handled() == [4, 5])
        session.machine.setTransportWritable(false, at: session.now, into: &session.actions)
        for id: Int64 in [61, 62] { session.answer(id, bytes: 500_000) }
        #expect(session.bye == nil)
        session.answer(63, bytes: 500_000)
        #expect(session.bye == .slow)
    }

    @Test("a removed participant gets a reset, nothing more, and no delayed results")
    func drop() {
        var session = LiveSession()
        session.listen(call, at: 3)
        session.machine.receive(.request(2, name: "calls.leave", params: []), at: session.now, into: &session.actions)
        session.machine.handled(
            2, .result(Array("{}".utf8), positions: [call: Position(epoch: "e1", sequence: 4)]), at: session.now,
            into: &session.actions)
        session.machine.drop(call, into: &session.actions)
        session.machine.receiveChanges(.make(call, 4...4), at: session.now, into: &session.actions)
        let sent = session.sent()
        #expect(sent.count == 2)
        #expect(sent.first == #"{"stream":"\#(call)","reset":{"reason":"access"}}"#)
    }

    @Test("a stream that cannot be read later ends the session instead of going silent")
    func unreadable() {
        var session = LiveSession()
        session.listen(call, at: 3)
        session.machine.receiveChanges(.make(call, 9...9), at: session.now, into: &session.actions)
        session.machine.opened(
            call, ticket: session.ticket, .failure(Problem(.unavailable, "Later.")), at: session.now,
            wallClock: morning,
            into: &session.actions)
        #expect(session.bye == .internalError)
    }

    @Test("a listen without access gets the problem")
    func denied() {
        var session = LiveSession()
        session.machine.receive(.listen(2, user, after: nil), at: session.now, into: &session.actions)
        session.machine.opened(
            user, ticket: session.ticket, .failure(.notFound("stream")), at: session.now, wallClock: morning,
            into: &session.actions)
        let sent = session.sent()
        #expect(sent.count == 1)
        #expect(sent.first?.hasPrefix(#"{"id":2,"error":{"type":"not_found""#) == true)
        #expect(session.machine.listens.isEmpty)
    }

    @Test("a session listens to at most 256 streams")
    func tooMany() {
        var session = LiveSession()
        for number in 0..<257 {
            session.now = session.now + .milliseconds(10)
            session.machine.receive(
                .listen(Int64(number), .call(identifier(1000 + number)), after: nil), at: session.now,
                into: &session.actions)
        }
        let sent = session.sent()
        #expect(sent.count == 1)
        #expect(sent.first?.contains(#""field":"listen.stream""#) == true)
    }

    @Test("unlisten rejects pending listens of the stream")
    func unlisten() {
        var session = LiveSession()
        session.machine.receive(.listen(2, call, after: nil), at: session.now, into: &session.actions)
        session.machine.receive(.unlisten(3, call), at: session.now, into: &session.actions)
        let sent = session.sent()
        #expect(sent.first?.hasPrefix(#"{"id":2,"error":{"type":"conflict""#) == true)
        #expect(sent.last == #"{"id":3,"result":{}}"#)
    }

    @Test("a listen counts as a request of the user, and so does an unlisten, which is always done")
    func listensCount() {
        let counter = ListenCounter()
        var session = LiveSession(admitListen: counter.admit)
        session.listen(call, at: 1)
        session.listen(user, at: 1)
        session.machine.receive(.listen(3, .call(identifier(11)), after: nil), at: session.now, into: &session.actions)
        #expect(session.actions.count == 1)
        #expect(session.sent().first?.contains(#""type":"rate_limited""#) == true)
        session.machine.receive(.unlisten(4, call), at: session.now, into: &session.actions)
        #expect(session.machine.listens.count == 1)
        #expect(session.sent() == [#"{"id":4,"result":{}}"#])
        #expect(counter.users.withLock { $0 } == Array(repeating: alice, count: 4))
    }

    @Test("whoever stops listening ends the read, which counts until it has ended")
    func unlistenEndsTheRead() {
        var limits = RealtimeLimits()
        limits.listens = 2
        var session = LiveSession(limits: limits)
        var tickets: [UInt32] = []
        for id in 1...3 {
            session.machine.receive(.listen(Int64(id), call, after: nil), at: session.now, into: &session.actions)
            guard id < 3 else { break }
            tickets.append(session.ticket)
            session.actions = []
            session.machine.receive(.unlisten(9, call), at: session.now, into: &session.actions)
            #expect(session.cancelled == [session.machine.tickets])
            session.actions = []
        }
        #expect(session.sent().first?.contains(#""type":"rate_limited""#) == true)
        session.machine.opened(
            call, ticket: tickets[0], .failure(Problem(.internalError, "Nobody reads this.")), at: session.now,
            wallClock: morning, into: &session.actions)
        #expect(session.actions.isEmpty)
        session.machine.receive(.listen(8, call, after: nil), at: session.now, into: &session.actions)
        let last = session.ticket
        #expect(last > tickets[1])
        session.actions = []
        session.machine.close(into: &session.actions)
        #expect(session.cancelled == [last])
    }

    @Test("a flood of frames ends the session")
    func flood() {
        var session = LiveSession()
        for _ in 0..<500 { #expect(session.machine.admitFrame(at: session.now, into: &session.actions)) }
        #expect(session.bye == nil)
        #expect(!session.machine.admitFrame(at: session.now, into: &session.actions))
        #expect(session.bye == .rateLimited)
    }
}
