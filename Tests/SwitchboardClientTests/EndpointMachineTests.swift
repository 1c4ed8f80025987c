import Testing

@testable import SwitchboardClient

struct EndpointMachineTests {
    private let greeting = Greeting(session: "s1", user: "u1", endpoint: "e1", heartbeat: 20, resumed: nil)

    private func machine() -> EndpointMachine { EndpointMachine(endpoint: "e1", secret: "secret", seed: 1) }

    /// A machine with a connection, and the frames that it sent after the hello.
    private func live(_ machine: inout EndpointMachine, lifetime: Int64? = nil, at now: Int64 = 0) -> [ClientFrame] {
        var actions: [EndpointMachine.Action] = []
        machine.start(at: now, into: &actions)
        machine.opened(token: "t", lifetime: lifetime, at: now, into: &actions)
        guard case .hello(let id, _, _, _, _)? = actions.sent.first else { return [] }
        machine.receive(.result(id: id, ResultFrame(greeting: greeting, frame: [])), at: now, into: &actions)
        return Array(actions.sent.dropFirst())
    }

    @Test func listensToItsUserOnceGreeted() {
        var machine = machine()
        #expect(live(&machine) == [.listen(id: 2, stream: "user:u1", after: nil)])
    }

    @Test func greetsWithThePositionsItKnows() {
        var machine = machine()
        _ = live(&machine)
        var actions: [EndpointMachine.Action] = []
        let position = StreamPosition(epoch: "x", sequence: 7)
        machine.receive(.snapshot(stream: "user:u1", .unknown, position), at: 1, into: &actions)
        machine.receive(
            .changes(stream: "user:u1", [StreamChange(sequence: 8, content: .unknown(type: "a"))]), at: 2,
            into: &actions)
        machine.lost(at: 3, into: &actions)
        actions = []
        machine.advance(to: 60_000, into: &actions)
        machine.opened(token: "t", lifetime: nil, at: 60_000, into: &actions)
        guard case .hello(_, _, _, _, let resume)? = actions.sent.first else { Issue.record("no hello"); return }
        #expect(resume == ["user:u1": StreamPosition(epoch: "x", sequence: 8)])
    }

    @Test func asksForWhatIsMissing() {
        var machine = machine()
        _ = live(&machine)
        var actions: [EndpointMachine.Action] = []
        let position = StreamPosition(epoch: "x", sequence: 7)
        machine.receive(.result(id: 2, ResultFrame(frame: [])), at: 1, into: &actions)
        machine.receive(.snapshot(stream: "user:u1", .unknown, position), at: 1, into: &actions)
        actions = []
        machine.receive(
            .changes(stream: "user:u1", [StreamChange(sequence: 9, content: .unknown(type: "a"))]), at: 2,
            into: &actions)
        #expect(actions.sent == [.listen(id: 3, stream: "user:u1", after: position)])
        #expect(actions.count == 1, "nothing is delivered across the gap")
    }

    @Test func aListenThatWasGivenUpDoesNotEndTheNextOne() {
        var machine = machine()
        _ = live(&machine)
        var actions: [EndpointMachine.Action] = []
        machine.listen("marks:c1", into: &actions)
        machine.unlisten("marks:c1", into: &actions)
        machine.listen("marks:c1", into: &actions)
        #expect(
            actions.sent == [
                .listen(id: 3, stream: "marks:c1", after: nil), .unlisten(id: 4, stream: "marks:c1"),
                .listen(id: 5, stream: "marks:c1", after: nil),
            ])
        actions = []
        let problem = Problem(kind: .conflict, title: "", status: 409, detail: "stopped listening")
        machine.receive(.failure(id: 3, problem), at: 1, into: &actions)
        #expect(actions.isEmpty)
        machine.receive(.result(id: 4, ResultFrame(frame: [])), at: 1, into: &actions)
        machine.receive(.result(id: 5, ResultFrame(frame: [])), at: 1, into: &actions)
        guard case .deliver("marks:c1", .listening)? = actions.last else { Issue.record("\(actions)"); return }
        #expect(machine.streams["marks:c1"]?.phase == .open)
    }

    @Test func repeatsARequestWhoseAnswerWasLost() {
        var machine = machine()
        _ = live(&machine)
        var actions: [EndpointMachine.Action] = []
        machine.submit("calls.create", params: [1, 2], for: 9, at: 1, into: &actions)
        #expect(actions.sent == [.request(id: 3, name: "calls.create", params: [1, 2])])
        machine.lost(at: 2, into: &actions)
        actions = []
        machine.advance(to: 2_000, into: &actions)
        machine.opened(token: "t", lifetime: nil, at: 2_000, into: &actions)
        machine.receive(.result(id: 4, ResultFrame(greeting: greeting, frame: [])), at: 2_001, into: &actions)
        let again = ClientFrame.request(id: 6, name: "calls.create", params: [1, 2])
        #expect(actions.sent.last == again)
        actions = []
        machine.receive(.result(id: 6, ResultFrame(frame: [5])), at: 2_002, into: &actions)
        machine.receive(.result(id: 6, ResultFrame(frame: [5])), at: 2_003, into: &actions)
        #expect(actions.answers == [9])
    }

    @Test func keepsWithinTheServersBoundOfRequests() {
        var machine = machine()
        _ = live(&machine)
        var actions: [EndpointMachine.Action] = []
        for key in 1...100 { machine.submit("me.get", params: [], for: UInt64(key), at: 1, into: &actions) }
        #expect(actions.sent.count == 64)
        machine.receive(.result(id: 3, ResultFrame(frame: [])), at: 2, into: &actions)
        #expect(actions.sent.count == 65)
    }

    @Test func givesUpOnARequestInTime() {
        var machine = machine()
        var actions: [EndpointMachine.Action] = []
        machine.start(at: 0, into: &actions)
        machine.submit("me.get", params: [], for: 1, at: 0, into: &actions)
        #expect(machine.deadline == 30_000)
        actions = []
        machine.advance(to: 30_000, into: &actions)
        #expect(actions.answers == [1])
        #expect(machine.requests.isEmpty)
    }

    @Test func rejectsMoreThanItMayQueue() {
        var machine = machine()
        machine.limits.pendingRequests = 1
        var actions: [EndpointMachine.Action] = []
        machine.submit("me.get", params: [], for: 1, at: 0, into: &actions)
        machine.submit("me.get", params: [], for: 2, at: 0, into: &actions)
        #expect(actions.answers == [2])
    }

    @Test func waitsAsLongAsTheServerSays() {
        var machine = machine()
        _ = live(&machine)
        var actions: [EndpointMachine.Action] = []
        machine.receive(.bye(code: 4008, reason: "slow", retryAfter: 1_500), at: 10, into: &actions)
        machine.lost(at: 10, into: &actions)
        let until = machine.deadline ?? 0
        #expect((1_510...2_260).contains(until))
        machine.advance(to: until - 1, into: &actions)
        #expect(!actions.connects)
        machine.advance(to: until, into: &actions)
        #expect(actions.connects)
    }

    /// However often it is cut, a connection that was greeted is opened again within a second.
    @Test func comesBackQuicklyToAServerThatAnswers() {
        var machine = machine()
        var actions: [EndpointMachine.Action] = []
        var now: Int64 = 0
        _ = live(&machine)
        for _ in 0..<50 {
            machine.lost(at: now, into: &actions)
            let until = machine.deadline ?? .max
            #expect(until - now <= 2 * Backoff.initial)
            now = until
            actions = []
            machine.advance(to: now, into: &actions)
            machine.opened(token: "t", lifetime: nil, at: now, into: &actions)
            guard case .hello(let id, _, _, _, _)? = actions.sent.first else { Issue.record("no hello"); return }
            machine.receive(.result(id: id, ResultFrame(greeting: greeting, frame: [])), at: now, into: &actions)
        }
    }

    @Test func startsAgainAfterSigningOutButNotOnceClosed() {
        var machine = machine()
        _ = live(&machine)
        var actions: [EndpointMachine.Action] = []
        machine.stop(.signedOut, into: &actions)
        actions = []
        machine.stop(.timedOut, into: &actions)
        #expect(actions.isEmpty && machine.connectionState == .stopped(.signedOut))
        machine.start(at: 1, into: &actions)
        #expect(actions.connects)
        machine.stop(.signedOut, into: &actions)
        actions = []
        machine.stop(.closed, into: &actions)
        guard case .stopped(.closed)? = actions.last else { Issue.record("\(actions)"); return }
        actions = []
        machine.start(at: 2, into: &actions)
        machine.stop(.signedOut, into: &actions)
        #expect(actions.isEmpty && machine.connectionState == .stopped(.closed))
    }

    @Test(arguments: [4003, 4004, 4010])
    func doesNotComeBackUnasked(code: Int) {
        var machine = machine()
        _ = live(&machine)
        var actions: [EndpointMachine.Action] = []
        machine.submit("me.get", params: [], for: 1, at: 1, into: &actions)
        machine.receive(.bye(code: code, reason: "no", retryAfter: nil), at: 2, into: &actions)
        machine.lost(at: 2, into: &actions)
        #expect(machine.connectionState == .stopped(.disconnected(code: code, reason: "no")))
        #expect(actions.answers == [1])
        #expect(machine.deadline == nil)
    }

    @Test func triesAFreshTokenOnce() {
        var machine = machine()
        _ = live(&machine)
        var actions: [EndpointMachine.Action] = []
        machine.receive(.bye(code: 4001, reason: "expired", retryAfter: nil), at: 2, into: &actions)
        machine.lost(at: 2, into: &actions)
        guard case .connect(freshToken: true)? = actions.last else { Issue.record("no fresh token"); return }
        machine.opened(token: "t2", lifetime: nil, at: 3, into: &actions)
        machine.receive(.bye(code: 4001, reason: "no", retryAfter: nil), at: 4, into: &actions)
        machine.lost(at: 4, into: &actions)
        #expect(machine.connectionState == .stopped(.signedOut))
    }

    @Test func renewsItsTokenInTime() {
        var machine = machine()
        _ = live(&machine, lifetime: 900_000)
        var actions: [EndpointMachine.Action] = []
        var now: Int64 = 0
        while now < 720_000 {
            now += 20_000
            machine.receive(.heartbeat, at: now, into: &actions)
        }
        machine.advance(to: now, into: &actions)
        guard case .refreshToken? = actions.last else { Issue.record("no renewal"); return }
        actions = []
        machine.renew(token: "t2", lifetime: 900_000, at: now, into: &actions)
        #expect(actions.sent == [.token(id: 3, "t2")])
    }

    @Test func respondsToHeartbeatsAndDetectsSilence() {
        var machine = machine()
        _ = live(&machine)
        var actions: [EndpointMachine.Action] = []
        machine.receive(.heartbeat, at: 20_000, into: &actions)
        #expect(actions.sent == [.heartbeat])
        #expect(machine.deadline == 65_000)
        machine.advance(to: 65_000, into: &actions)
        guard case .disconnect? = actions.last else { Issue.record("silence was not noticed"); return }
        #expect(!machine.isOpen)
    }

    @Test func asksForACallThatTheServerDidNotBring() {
        var machine = machine()
        _ = live(&machine)
        var actions: [EndpointMachine.Action] = []
        machine.expect("call:c1", at: 100)
        machine.advance(to: 1_599, into: &actions)
        #expect(actions.sent.isEmpty)
        machine.advance(to: 1_600, into: &actions)
        #expect(actions.sent == [.listen(id: 3, stream: "call:c1", after: nil)])
    }

    @Test func closesWhatItMayNoLongerSee() {
        var machine = machine()
        _ = live(&machine)
        var actions: [EndpointMachine.Action] = []
        machine.receive(.snapshot(stream: "call:c1", .unknown, .init(epoch: "x", sequence: 1)), at: 1, into: &actions)
        actions = []
        machine.receive(.reset(stream: "call:c1", reason: "access"), at: 2, into: &actions)
        guard case .deliver("call:c1", .closed(.streamClosed))? = actions.last else {
            Issue.record("not closed")
            return
        }
        #expect(machine.streams["call:c1"] == nil)
    }
}

extension [EndpointMachine.Action] {
    var sent: [ClientFrame] { compactMap { if case .send(let frame) = $0 { frame } else { nil } } }
    var answers: [EndpointMachine.Key] { compactMap { if case .complete(let key, _) = $0 { key } else { nil } } }
    var connects: Bool { contains { if case .connect = $0 { true } else { false } } }
}
