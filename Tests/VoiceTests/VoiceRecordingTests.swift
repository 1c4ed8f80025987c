import Model
import Testing
import Voice

/// Who may record what, for how long, and what becomes of it.
@Suite("Voice takes")
struct VoiceTakeTests {
    private func rules(most: Int = 6, ofAUser: Int = 2) -> VoiceTakeRules {
        var rules = VoiceTakeRules()
        (rules.most, rules.mostOfAUser) = (most, ofAUser)
        (rules.waitSeconds, rules.soundSeconds, rules.keepSeconds) = (60, 300, 600)
        return rules
    }

    private func id<Entity>(_ number: Int) -> Identifier<Entity> {
        let digits = String(number)
        return Identifier("00000000-0000-7000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits)
            ?? .make(at: Timestamp(milliseconds: 0))
    }

    private func person(_ number: Int, endpoint: Int? = nil) -> Principal {
        Principal(user: id(number), endpoint: endpoint.map { id($0) })
    }

    /// What the book says of a begun recording.
    @discardableResult
    private func begin(
        _ number: Int, _ takes: inout VoiceTakes, by principal: Principal, at now: Int64 = 0
    ) throws -> VoiceTake? {
        try takes.begin(id(number), to: id(99), leg: id(500 + number), by: principal, at: now).replaced
    }

    @Test("an endpoint has one, which a new one replaces")
    func replacing() throws {
        var takes = VoiceTakes(rules: rules())
        try begin(1, &takes, by: person(1, endpoint: 11))
        #expect(try begin(2, &takes, by: person(1, endpoint: 11))?.id == id(1))
        #expect(takes.take(id(1)) == nil && takes.take(as: id(502))?.id == id(2))
        // Another client of the same person, and the person without one.
        #expect(try begin(3, &takes, by: person(1, endpoint: 12)) == nil)
        #expect(takes.openCount == 2)
        #expect { try begin(4, &takes, by: person(1)) } throws: { ($0 as? Problem)?.kind == .conflict }
        #expect(try begin(5, &takes, by: person(1, endpoint: 12))?.id == id(3))
        // Somebody else's are others.
        #expect(try begin(6, &takes, by: person(2)) == nil)
        #expect(try begin(7, &takes, by: person(2))?.id == id(6))
    }

    @Test("there is room for so many")
    func room() throws {
        var takes = VoiceTakes(rules: rules(most: 3))
        for number in 1...3 { try begin(number, &takes, by: person(number, endpoint: number)) }
        #expect { try begin(4, &takes, by: person(4, endpoint: 4)) } throws: { error in
            (error as? Problem)?.kind == .unavailable && (error as? Problem)?.retryAfter != nil
        }
        // Who has one may begin anew.
        #expect(try begin(5, &takes, by: person(3, endpoint: 3))?.id == id(3))
        takes.remove(id(1))
        #expect(try begin(6, &takes, by: person(4, endpoint: 4)) == nil)
    }

    @Test("only its owner finds it")
    func owner() throws {
        var takes = VoiceTakes(rules: rules())
        try begin(1, &takes, by: person(1, endpoint: 11))
        for stranger in [id(2), id(99)] as [UserID] {
            #expect(throws: Problem.self) { try takes.take(id(1), of: stranger) }
            #expect(throws: Problem.self) { try takes.send(id(1), of: stranger) }
            #expect(throws: Problem.self) { try takes.discard(id(1), of: stranger) }
        }
        #expect(try takes.take(id(1), of: id(1)).to == id(99))
        #expect(try takes.discard(id(1), of: id(1)).id == id(1))
        #expect(takes.isEmpty)
    }

    @Test("it lasts from its first sound, is kept, and goes")
    func time() throws {
        var takes = VoiceTakes(rules: rules())
        try begin(1, &takes, by: person(1), at: 1_000)
        try begin(2, &takes, by: person(2), at: 1_000)
        takes.heard(id(1), at: 31_000)
        // The second track of the same leg begins nothing anew.
        takes.heard(id(1), at: 40_000)
        #expect(takes.advance(to: 60_999) == [])
        let silent = takes.advance(to: 61_000)
        #expect(silent.count == 1 && takes.openCount == 1 && takes.keptCount == 1)
        guard case .end(let take) = silent.first else {
            Issue.record("\(silent)")
            return
        }
        #expect(take.id == id(2))
        #expect(takes.advance(to: 330_999) == [])
        guard case .end(let spoken) = takes.advance(to: 331_000).first else {
            Issue.record("it goes on")
            return
        }
        #expect(spoken.id == id(1) && takes.keptCount == 2)
        // Ten minutes each.
        guard case .discard(let gone) = takes.advance(to: 661_000).first else {
            Issue.record("it stays")
            return
        }
        #expect(gone.id == id(2) && takes.take(id(2)) == nil)
        #expect(takes.advance(to: 930_999) == [])
        #expect(takes.advance(to: 931_000).count == 1 && takes.isEmpty)
    }

    @Test("what ended by itself is kept for as long, and its failure is remembered")
    func ending() throws {
        var takes = VoiceTakes(rules: rules())
        try begin(1, &takes, by: person(1), at: 0)
        takes.ended(id(1), at: 5_000)
        takes.ended(id(1), at: 500_000)
        #expect(takes.take(id(1))?.state == .kept(until: 605_000))
        // Sound that was on its way does not bring it back.
        takes.heard(id(1), at: 5_001)
        #expect(takes.take(id(1))?.state == .kept(until: 605_000))
        takes.ended(id(1), failure: "no room", at: 6_000)
        takes.ended(id(1), failure: "another", at: 7_000)
        #expect(takes.take(id(1))?.failure == "no room")
        takes.ended(id(7), at: 0)
        #expect(takes.take(id(7)) == nil)
    }

    @Test("what was begun with a sign-in goes with it, unless it is being sent")
    func signedOut() throws {
        var takes = VoiceTakes(rules: rules())
        let (lost, kept): (SignInID, SignInID) = (id(71), id(72))
        for (number, signIn) in [(1, lost), (2, kept), (3, lost)] {
            let principal = Principal(user: id(number), signIn: signIn)
            try begin(number, &takes, by: principal)
        }
        _ = try takes.send(id(3), of: id(3))
        let over = takes.removeAll { $0.signIn == lost }
        #expect(over.map(\.id) == [id(1)])
        #expect(takes.take(id(1)) == nil && takes.take(id(2)) != nil && takes.take(id(3)) != nil)
    }

    @Test("time in which nobody read what came is no silence of who speaks")
    func stalls() throws {
        var takes = VoiceTakes(rules: rules())
        try begin(1, &takes, by: person(1), at: 0)
        let waiting = takes.take(id(1))?.state
        takes.extend(by: 100_000)
        guard case .waiting(let before) = waiting, case .waiting(let after) = takes.take(id(1))?.state else {
            Issue.record("it waits no more")
            return
        }
        #expect(after == before + 100_000)
        #expect(takes.advance(to: before + 99_999) == [])
        takes.ended(id(1), at: 0)
        takes.extend(by: 1_000)
        #expect(takes.take(id(1))?.state == .kept(until: 601_000))
    }

    @Test("while it is sent nothing else happens to it")
    func sending() throws {
        var takes = VoiceTakes(rules: rules())
        let principal = person(1, endpoint: 11)
        try begin(1, &takes, by: principal)
        #expect(try takes.send(id(1), of: id(1)).id == id(1))
        #expect { try takes.send(id(1), of: id(1)) } throws: { ($0 as? Problem)?.kind == .conflict }
        #expect { try takes.discard(id(1), of: id(1)) } throws: { ($0 as? Problem)?.kind == .conflict }
        takes.ended(id(1), at: 1_000)
        #expect(takes.advance(to: .max) == [] && takes.take(id(1))?.state == .sending)
        // A next one may begin meanwhile.
        #expect(try begin(2, &takes, by: principal) == nil)
        takes.notSent(id(1), at: 10_000)
        #expect(takes.take(id(1))?.state == .kept(until: 610_000))
        _ = try takes.send(id(1), of: id(1))
        takes.remove(id(1))
        takes.notSent(id(1), at: 0)
        #expect(takes.take(id(1)) == nil && takes.take(id(2)) != nil)
    }
}
