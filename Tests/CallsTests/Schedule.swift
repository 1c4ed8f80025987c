import Calls
import Model
import Wire

/// One random schedule: four people with two endpoints each, who call, answer, signal, crash and come back while time
/// passes and the server restarts. After each step the invariants of calls are checked.
final class Schedule {
    private let harness: CallsHarness
    private var random: SeededRandom
    private var clients: [Client] = []
    private var away: Set<EndpointID> = []
    private var known: [CallID: Call] = [:]
    private var repeats: [(CreateCall, Client)] = []
    private var sequences: [StreamName: Int] = [:]

    init(_ harness: CallsHarness? = nil, seed: UInt64) throws {
        self.harness = harness ?? CallsHarness(MemoryStoreHarness(), seed: seed)
        random = SeededRandom(seed: seed &* 31 &+ 7)
        for name in ["Anna", "Ben", "Cleo", "Dora"] {
            let client = try self.harness.person(name, callWaiting: random(3))
            clients += [client, self.harness.another(client)]
        }
        if random(4) { try self.harness.block(clients[0], by: clients[2]) }
    }

    /// What broke, if anything did.
    func run(steps: Int) throws -> String? {
        for step in 0..<steps {
            let name = try act()
            if let broken = try check() { return "step \(step), after \(name): \(broken)" }
        }
        // Everybody goes away: whatever there is has to come to its end by itself.
        for _ in 0..<3 { try harness.advance(seconds: 130) }
        if let broken = try check() ?? checkEnded() { return "at the end: \(broken)" }
        if let live = known.values.first(where: \.isLive) { return "the call \(live.id) never ended" }
        if !harness.timers.isEmpty { return "timers are left: \(harness.timers.keys)" }
        return harness.leases.count == 0 ? nil : "leases are left"
    }

    private func random(_ n: Int) -> Bool { Int.random(in: 0..<n, using: &random) == 0 }
    private func anyone() -> Client { clients[Int.random(in: 0..<clients.count, using: &random)] }

    private func anyCall() -> CallID? {
        known.keys.sorted { $0.text < $1.text }.suffix(4).randomElement(using: &random)
    }
}

// Acting.
extension Schedule {
    /// Does one thing; being refused is fine, anything but a problem is not.
    private func act() throws -> String {
        let client = anyone()
        let choice = Int.random(in: 0..<20, using: &random)
        do {
            switch choice {
            case 0...2: return try create(client)
            case 3: return try time()
            case 4: return try connection(client)
            default: break
            }
            guard let call = anyCall() else { return "nothing" }
            return try act(choice, on: call, by: client)
        } catch let problem as Problem {
            if problem.kind == .internalError || problem.kind == .unavailable { throw problem }
            return "a rejection (\(problem.kind.rawValue))"
        }
    }

    private func create(_ client: Client) throws -> String {
        if random(4), let (request, caller) = repeats.randomElement(using: &random) {
            let id: CallID = harness.id()
            let outcome = try harness.run { try $0.create(request, by: caller.principal, id: id, at: $1, in: $2) }
            guard outcome.isDuplicate else { throw Broken("a repeated create is not a duplicate") }
            return "a repeated create"
        }
        let others = Set((0..<(random(3) ? 2 : 1)).map { _ in anyone().user }).subtracting([client.user])
        let callees = others.sorted { $0.text < $1.text }
        let request = CreateCall(
            clientID: harness.id(), callees: callees, kind: random(2) ? .audio : .video,
            mode: callees.count > 1 ? .direct : nil,
            offer: callees.count == 1 && random(2) ? SessionDescriptionInit(sdp: "v=0") : nil,
            ringSeconds: random(2) ? 15 : nil,
            other: [nil, .hold, .end].randomElement(using: &random) ?? nil)
        let id: CallID = harness.id()
        let outcome = try harness.run { try $0.create(request, by: client.principal, id: id, at: $1, in: $2) }
        known[outcome.call.id] = known[outcome.call.id] ?? outcome.call
        repeats.append((request, client))
        return "create"
    }

    private func time() throws -> String {
        if random(8) {
            try harness.restart()
            return "restart"
        }
        let here = clients.filter { !away.contains($0.endpoint) }
        try harness.advance(seconds: Int64.random(in: 1...25, using: &random), renewing: here)
        return "time"
    }

    private func connection(_ client: Client) throws -> String {
        if away.remove(client.endpoint) != nil {
            try harness.attach(client)
            return "attach"
        }
        away.insert(client.endpoint)
        try harness.detach(client)
        return "detach"
    }

    private func act(_ choice: Int, on call: CallID, by client: Client) throws -> String {
        switch choice {
        case 5...6: try harness.ringing(call, by: client); return "ringing"
        case 7...9:
            let other: OtherCalls? = [nil, .hold, .end].randomElement(using: &random) ?? nil
            try harness.accept(call, by: client, other: other)
            // The compare-and-set: nobody else of this user is in now.
            guard try harness.call(call).participant(client.user)?.endpoint == client.endpoint else {
                throw Broken("an accepted endpoint is not in the call")
            }
            return "accept"
        case 10: try harness.decline(call, by: client); return "decline"
        case 11:
            let request = Call.HangUp.allCases.randomElement(using: &random) ?? .leave
            try harness.hangUp(call, request, by: client)
            return request.rawValue
        case 12...13: try harness.connected(call, by: client); return "connected"
        case 14: try harness.invite([anyone()], to: call, by: client); return "invite"
        case 15:
            let change = MediaState.Change(audio: random(2), video: random(2))
            try harness.run { try $0.media(call, change, by: client.principal, at: $1, in: $2) }
            return "media"
        default: return try signal(call, from: client)
        }
    }

    private func signal(_ call: CallID, from client: Client) throws -> String {
        let kind = Signal.Kind.allCases.randomElement(using: &random) ?? .offer
        let joined = try harness.call(call).participants.compactMap { participant in
            participant.endpoint.map { Client(user: participant.user, endpoint: $0) }
        }
        let to = random(2) ? joined.randomElement(using: &random) : nil
        let generation = Int64.random(in: 0...3, using: &random)
        let candidates = Int.random(in: 0...40, using: &random)
        try harness.signal(call, from: client, to: to, kind, generation: generation, candidates: candidates)
        return kind.rawValue
    }
}

struct Broken: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

// Checking.
extension Schedule {
    private func check() throws -> String? {
        for (id, before) in known where before.isLive || before.version == 0 {
            let call = try harness.call(id)
            guard call != before || before.version == 0 else { continue }
            if let broken = try progress(from: before, to: call) ?? state(of: call) ?? mail(of: call) { return broken }
            known[id] = call
        }
        let live = known.values.filter(\.isLive)
        let pairs = live.compactMap(\.pair)
        if Set(pairs).count != pairs.count { return "two live calls of a pair" }
        // Timers and leases are those of the documents, no more and no fewer.
        let deadlines = Set(live.flatMap(\.deadlines))
        if deadlines != Set(harness.timers.values) { return "timers \(harness.timers.values) are not \(deadlines)" }
        let joined = live.reduce(0) { $0 + $1.participants.count(where: \.isJoined) }
        return joined == harness.leases.count ? nil : "\(harness.leases.count) leases for \(joined) joined"
    }

    /// An ended call stays as it is, and its stream is silent.
    private func checkEnded() throws -> String? {
        for before in known.values where !before.isLive {
            if try harness.call(before.id) != before { return "\(before.id) changed after its end" }
            if let broken = try mail(of: before) { return broken }
        }
        return nil
    }

    private func progress(from before: Call, to call: Call) -> String? {
        func rank(_ status: Call.Status) -> Int {
            switch status {
            case .ringing: 0
            case .active: 1
            case .ended: 2
            }
        }
        if rank(call.status) < rank(before.status) { return "\(call.id) went back to \(call.status.name)" }
        if call.version < before.version { return "\(call.id) lost versions" }
        return nil
    }

    private func state(of call: Call) -> String? {
        if !call.isLive, call.participants.contains(where: { $0.isRinging || $0.isJoined }) {
            return "\(call.id) has ended, and somebody is joined or rings"
        }
        guard call.isLive else { return nil }
        let joined = call.participants.count(where: \.isJoined), rings = call.participants.contains(where: \.isRinging)
        if joined == 0, !rings { return "\(call.id) is live without anybody" }
        if call.status == .ringing, joined != 1 || !rings { return "\(call.id) rings without a caller or a callee" }
        if case .active(_, let emptyUntil) = call.status, (emptyUntil != nil) != (joined == 0) {
            return "\(call.id) is empty without a deadline, or has one without being empty"
        }
        return nil
    }

    private func mail(of call: Call) throws -> String? {
        for client in clients {
            let mailbox = StreamName.signals(call.id, client.endpoint)
            let isIn = call.participant(client.user)?.endpoint == client.endpoint
            if !isIn, try !harness.entries(mailbox).isEmpty { return "\(call.id) keeps mail for who is not in it" }
        }
        let stream = StreamName.call(call.id)
        let entries = try harness.entries(stream)
        if !call.isLive, let seen = sequences[stream], entries.count > seen { return "\(call.id) speaks after its end" }
        if !call.isLive {
            if entries.count > 0, entries.last?.type != "call" { return "\(call.id) does not end with its end" }
            sequences[stream] = entries.count
        }
        for joining in call.participants.compactMap(\.joining) {
            let held = try harness.backend.store.heldSignals(in: call.id, from: joining.endpoint, to: nil)
            if held.count > 64 + 64 + 1 { return "\(call.id) holds \(held.count) signals" }
        }
        return nil
    }
}
