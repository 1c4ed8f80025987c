import Model
import Testing
import Voice

/// Who may record what, for how long, and what becomes of it.
@Suite("Voice recordings")
struct VoiceRecordingTests {
    private func rules(maxCount: Int = 6, ofAUser: Int = 2) -> VoiceRecordingRules {
        var rules = VoiceRecordingRules()
        (rules.maxCount, rules.maxPerUser) = (maxCount, ofAUser)
        (rules.firstAudioSeconds, rules.maxAudioSeconds, rules.keepSeconds) = (60, 300, 600)
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

    /// Begins a recording; returns the replaced one.
    @discardableResult
    private func begin(
        _ number: Int, _ recordings: inout VoiceRecordings, by principal: Principal, at now: Int64 = 0
    ) throws -> VoiceRecording? {
        try recordings.begin(id(number), leg: id(500 + number), by: principal, at: now).replaced
    }

    @Test("an endpoint has one, which a new one replaces")
    func replacing() throws {
        var recordings = VoiceRecordings(rules: rules())
        try begin(1, &recordings, by: person(1, endpoint: 11))
        #expect(try begin(2, &recordings, by: person(1, endpoint: 11))?.id == id(1))
        #expect(recordings.recording(id(1)) == nil && recordings.recording(as: id(502))?.id == id(2))
        // Another client of the same person, and the person without one.
        #expect(try begin(3, &recordings, by: person(1, endpoint: 12)) == nil)
        #expect(recordings.openCount == 2)
        #expect { try begin(4, &recordings, by: person(1)) } throws: { ($0 as? Problem)?.kind == .conflict }
        #expect(try begin(5, &recordings, by: person(1, endpoint: 12))?.id == id(3))
        // Somebody else's are others.
        #expect(try begin(6, &recordings, by: person(2)) == nil)
        #expect(try begin(7, &recordings, by: person(2))?.id == id(6))
    }

    @Test("the number of recordings is limited")
    func limits() throws {
        var recordings = VoiceRecordings(rules: rules(maxCount: 3))
        for number in 1...3 { try begin(number, &recordings, by: person(number, endpoint: number)) }
        #expect { try begin(4, &recordings, by: person(4, endpoint: 4)) } throws: { error in
            (error as? Problem)?.kind == .unavailable && (error as? Problem)?.retryAfter != nil
        }
        // An owner may replace their own.
        #expect(try begin(5, &recordings, by: person(3, endpoint: 3))?.id == id(3))
        recordings.remove(id(1))
        #expect(try begin(6, &recordings, by: person(4, endpoint: 4)) == nil)
    }

    @Test("only its owner finds it")
    func owner() throws {
        var recordings = VoiceRecordings(rules: rules())
        try begin(1, &recordings, by: person(1, endpoint: 11))
        for unknownUser in [id(2), id(99)] as [UserID] {
            #expect(throws: Problem.self) { try recordings.recording(id(1), of: unknownUser) }
            #expect(throws: Problem.self) { try recordings.send(id(1), of: unknownUser) }
            #expect(throws: Problem.self) { try recordings.discard(id(1), of: unknownUser) }
        }
        #expect(try recordings.recording(id(1), of: id(1)).from == id(1))
        #expect(try recordings.discard(id(1), of: id(1)).id == id(1))
        #expect(recordings.isEmpty)
    }

    @Test("it lasts from its first audio, is kept, and is removed")
    func time() throws {
        var recordings = VoiceRecordings(rules: rules())
        try begin(1, &recordings, by: person(1), at: 1_000)
        try begin(2, &recordings, by: person(2), at: 1_000)
        recordings.audioStarted(id(1), at: 31_000)
        // The second track of the same leg does not restart it.
        recordings.audioStarted(id(1), at: 40_000)
        #expect(recordings.advance(to: 60_999) == [])
        let silent = recordings.advance(to: 61_000)
        #expect(silent.count == 1 && recordings.openCount == 1 && recordings.keptCount == 1)
        guard case .end(let recording) = silent.first else {
            Issue.record("\(silent)")
            return
        }
        #expect(recording.id == id(2))
        #expect(recordings.advance(to: 330_999) == [])
        guard case .end(let spoken) = recordings.advance(to: 331_000).first else {
            Issue.record("it goes on")
            return
        }
        #expect(spoken.id == id(1) && recordings.keptCount == 2)
        // Ten minutes each.
        guard case .discard(let gone) = recordings.advance(to: 661_000).first else {
            Issue.record("it stays")
            return
        }
        #expect(gone.id == id(2) && recordings.recording(id(2)) == nil)
        #expect(recordings.advance(to: 930_999) == [])
        #expect(recordings.advance(to: 931_000).count == 1 && recordings.isEmpty)
    }

    @Test("what ended by itself is kept for as long, and its failure is remembered")
    func ending() throws {
        var recordings = VoiceRecordings(rules: rules())
        try begin(1, &recordings, by: person(1), at: 0)
        recordings.ended(id(1), at: 5_000)
        recordings.ended(id(1), at: 500_000)
        #expect(recordings.recording(id(1))?.state == .kept(until: 605_000))
        // Late audio does not bring it back.
        recordings.audioStarted(id(1), at: 5_001)
        #expect(recordings.recording(id(1))?.state == .kept(until: 605_000))
        recordings.ended(id(1), failure: "no room", at: 6_000)
        recordings.ended(id(1), failure: "another", at: 7_000)
        #expect(recordings.recording(id(1))?.failure == "no room")
        recordings.ended(id(7), at: 0)
        #expect(recordings.recording(id(7)) == nil)
    }

    @Test("what was begun with a sign-in goes with it, unless it is being sent")
    func signedOut() throws {
        var recordings = VoiceRecordings(rules: rules())
        let (lost, kept): (SignInID, SignInID) = (id(71), id(72))
        for (number, signIn) in [(1, lost), (2, kept), (3, lost)] {
            let principal = Principal(user: id(number), signIn: signIn)
            try begin(number, &recordings, by: principal)
        }
        _ = try recordings.send(id(3), of: id(3))
        let over = recordings.removeAll { $0.signIn == lost }
        #expect(over.map(\.id) == [id(1)])
        #expect(
            recordings.recording(id(1)) == nil && recordings.recording(id(2)) != nil
                && recordings.recording(id(3)) != nil)
    }

    @Test("a stall of the server extends the timeouts")
    func stalls() throws {
        var recordings = VoiceRecordings(rules: rules())
        try begin(1, &recordings, by: person(1), at: 0)
        let waiting = recordings.recording(id(1))?.state
        recordings.extend(by: 100_000)
        guard case .waiting(let before) = waiting, case .waiting(let after) = recordings.recording(id(1))?.state else {
            Issue.record("it waits no more")
            return
        }
        #expect(after == before + 100_000)
        #expect(recordings.advance(to: before + 99_999) == [])
        recordings.ended(id(1), at: 0)
        recordings.extend(by: 1_000)
        #expect(recordings.recording(id(1))?.state == .kept(until: 601_000))
    }

    @Test("while it is being sent, nothing else can be done with it")
    func sending() throws {
        var recordings = VoiceRecordings(rules: rules())
        let principal = person(1, endpoint: 11)
        try begin(1, &recordings, by: principal)
        #expect(try recordings.send(id(1), of: id(1)).id == id(1))
        #expect { try recordings.send(id(1), of: id(1)) } throws: { ($0 as? Problem)?.kind == .conflict }
        #expect { try recordings.discard(id(1), of: id(1)) } throws: { ($0 as? Problem)?.kind == .conflict }
        recordings.ended(id(1), at: 1_000)
        #expect(recordings.advance(to: .max) == [] && recordings.recording(id(1))?.state == .sending)
        // A next one may begin meanwhile.
        #expect(try begin(2, &recordings, by: principal) == nil)
        recordings.sendFailed(id(1), at: 10_000)
        #expect(recordings.recording(id(1))?.state == .kept(until: 610_000))
        _ = try recordings.send(id(1), of: id(1))
        recordings.remove(id(1))
        recordings.sendFailed(id(1), at: 0)
        #expect(recordings.recording(id(1)) == nil && recordings.recording(id(2)) != nil)
    }
}
