import Testing

@testable import SwitchboardClient

/// The promise of the machine, on random schedules: cut the connection anywhere, lose and repeat what you like, and
/// still every change comes out once and in order, and every request is answered once and applied once.
struct EndpointMachineProperties {
    @Test(arguments: 0..<400)
    func everyChangeAndEveryAnswerComeOnce(seed: UInt64) throws {
        var run = ScheduledRun(seed: seed)
        for _ in 0..<400 { run.step() }
        run.settle()
        #expect(run.violations.isEmpty, "seed \(seed): \(run.violations)")
        for (stream, log) in run.server.logs where run.listened.contains(stream) {
            #expect(run.seen[stream] == log.position, "seed \(seed): \(stream) is not up to date")
        }
        #expect(run.answers.keys.sorted() == run.asked, "seed \(seed): not everything was answered")
        #expect(run.answers.values.allSatisfy { $0 == 1 }, "seed \(seed): something was answered twice")
        #expect(run.server.applied.count == run.asked.count, "seed \(seed): not everything was applied")
    }
}

/// One schedule: a machine, a model server, and chance between them.
private struct ScheduledRun {
    private static let calls = ["call:c1", "call:c2"]

    var server = ModelServer()
    var seen: [String: StreamPosition] = [:]
    var listened: Set<String> = [StreamName.user(ModelServer.user)]
    var asked: [EndpointMachine.Key] = []
    var answers: [EndpointMachine.Key: Int] = [:]
    var violations: [String] = []

    private var machine: EndpointMachine
    private var random: SeededGenerator
    private var now: Int64 = 0
    private var entries = 0
    private var rebuilds = 1
    private var wantsConnection = false

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        var limits = EndpointMachine.Limits()
        limits.requestTimeout = .max / 4
        limits.requestsInFlight = Int(seed % 3) + 1
        machine = EndpointMachine(endpoint: "me", secret: "secret", seed: seed, limits: limits)
        for call in Self.calls { server.logs[call] = .init() }
        act { $0.start(at: $1, into: &$2) }
    }

    mutating func step() {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<30: server.serve()
        case 30..<60: receive()
        case 60..<72: append(skips: Int.random(in: 0..<12, using: &random) == 0)
        case 72..<80: request()
        case 80..<84: cut()
        case 84..<86: server.trim(anyStream())
        case 86..<87:
            rebuilds += 1
            server.rebuild(anyStream(), epoch: "e\(rebuilds)")
        case 87..<90: listen()
        case 90..<92:
            let call = anyCall()
            server.attach(call)
            if server.attached.contains(call) { listened.insert(call) }
        case 92..<94: refuseOpening()
        default: pass(Int64.random(in: 1...3_000, using: &random))
        }
        openWhereWanted()
    }

    /// Leaves everything in peace until nothing happens any more; a last change shows every gap.
    mutating func settle() {
        for call in Self.calls where listened.contains(call) { act { $0.listen(call, into: &$2) } }
        for round in 0..<2_000 {
            openWhereWanted()
            while server.isConnected, !server.fromClient.isEmpty || !server.toClient.isEmpty {
                server.serve()
                receive()
            }
            if round == 1_000 { for stream in listened.sorted() { append(to: stream, skips: false) } }
            // Far enough for every wait, near enough for the silence that ends a connection.
            pass(500)
            if round % 40 == 0, server.isGreeted { server.toClient.append(.heartbeat) }
        }
    }

    private mutating func act(_ decide: (inout EndpointMachine, Int64, inout [EndpointMachine.Action]) -> Void) {
        var actions: [EndpointMachine.Action] = []
        decide(&machine, now, &actions)
        for action in actions { perform(action) }
    }

    private mutating func perform(_ action: EndpointMachine.Action) {
        switch action {
        case .connect: wantsConnection = true
        case .send(let frame):
            guard server.isConnected else { return violations.append("sent without a connection: \(frame)") }
            server.fromClient.append(frame)
        case .disconnect: server.cut()
        case .complete(let key, let result):
            answers[key, default: 0] += 1
            if case .failure(let error) = result { violations.append("request \(key) failed: \(error)") }
        case .deliver(let stream, .snapshot(_, let position)): hasSnapshot(of: stream, at: position)
        case .deliver(let stream, .changes(let changes)): for change in changes { observe(change, of: stream) }
        case .deliver(let stream, .closed(let error)): violations.append("\(stream) closed: \(error)")
        case .stopped(let error): violations.append("stopped: \(error)")
        case .refreshToken, .greeted, .deliver(_, .presence), .deliver(_, .caption), .deliver(_, .captionTranslation),
            .deliver(_, .rows), .deliver(_, .listening), .deliver(_, .typing), .deliver(_, .run):
            break
        }
    }

    /// A snapshot is the whole stream, so it may be ahead of what was seen, and as far after a reset; never behind.
    private mutating func hasSnapshot(of stream: String, at position: StreamPosition) {
        if let known = seen[stream], known.epoch == position.epoch, position.sequence < known.sequence {
            violations.append("\(stream) went back from \(known) to \(position)")
        }
        if seen[stream] == position, server.resets[stream] == nil { violations.append("\(stream) came twice") }
        seen[stream] = position
    }

    private mutating func observe(_ change: StreamChange, of stream: String) {
        guard let known = seen[stream] else { return violations.append("\(stream) changed before it was there") }
        guard change.sequence == known.sequence + 1 else {
            return violations.append("\(stream): \(change.sequence) after \(known.sequence)")
        }
        seen[stream]?.sequence = change.sequence
        if let log = server.logs[stream], log.epoch == known.epoch, let entry = log.entry(change.sequence),
            change.content != .unknown(type: entry)
        {
            violations.append("\(stream): \(change) is not \(entry)")
        }
    }

    private mutating func receive() {
        guard server.isConnected, !server.toClient.isEmpty else { return }
        let frame = server.toClient.removeFirst()
        act { $0.receive(frame, at: $1, into: &$2) }
    }

    private mutating func append(to stream: String? = nil, skips: Bool) {
        entries += 1
        let twice = Int.random(in: 0..<8, using: &random) == 0
        server.append("change \(entries)", to: stream ?? anyStream(), twice: twice, skips: skips)
    }

    private mutating func request() {
        let key = EndpointMachine.Key(asked.count + 1)
        asked.append(key)
        let stream = anyStream()
        act { $0.submit(stream, params: Array("request \(key)".utf8), for: key, at: $1, into: &$2) }
    }

    private mutating func listen() {
        let call = anyCall()
        listened.insert(call)
        act { $0.listen(call, into: &$2) }
    }

    private mutating func cut() {
        guard server.isConnected else { return }
        server.cut()
        act { $0.lost(at: $1, into: &$2) }
    }

    private mutating func refuseOpening() {
        guard wantsConnection else { return }
        wantsConnection = false
        act { $0.lost(at: $1, into: &$2) }
    }

    private mutating func openWhereWanted() {
        guard wantsConnection else { return }
        wantsConnection = false
        server.accept()
        act { $0.opened(token: "token", lifetime: 900_000, at: $1, into: &$2) }
    }

    private mutating func pass(_ milliseconds: Int64) {
        now += milliseconds
        act { $0.advance(to: $1, into: &$2) }
    }

    private mutating func anyCall() -> String { Self.calls[Int.random(in: 0..<Self.calls.count, using: &random)] }

    private mutating func anyStream() -> String {
        Bool.random(using: &random) ? StreamName.user(ModelServer.user) : anyCall()
    }
}
