import Calls
import Model
import Storage
import Testing

/// Recordings of calls in the gateway: who starts and stops them, who is notified, and who may access them.
@Suite struct RecordingTests {
    private static let rules = GatewayModeTests.rules

    @Test(arguments: Backing.allCases)
    func everybodyIsShownThatTheCallIsRecorded(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules) { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben"), cleo = try harness.person("Cleo")
            let id = try harness.talk(anna, [ben, cleo])
            let begun = try harness.record(id, by: ben)
            let recording = try #require(begun.call.recording)
            #expect(recording.by == ben.user && recording.since == harness.now)
            #expect(harness.recorded == [id: recording.id])
            let entry = try #require(try harness.backend.entries(of: .call(id)).last)
            #expect(
                entry.type == "call"
                    && entry.data.contains("\"recording\":{\"id\":\"\(recording.id)\",\"by\":\"\(ben.user)\""))
            #expect(try harness.call(id).recording == recording, "The store has it.")

            let again = try harness.record(id, by: anna)
            #expect(again.isDuplicate && again.call.recording == recording)
            try harness.stopRecording(id, by: cleo)
            #expect(harness.recorded.isEmpty)
            #expect(try harness.call(id).recording == nil)
            #expect(try harness.backend.entries(of: .call(id)).last?.data.contains("recording") == false)
            #expect(try harness.stopRecording(id, by: cleo).effects.isEmpty)
            #expect(try harness.call(id).wasRecorded)
            #expect(try harness.call(id).json(at: harness.now).contains("\"recorded\":true"))
        }
    }

    @Test(arguments: Backing.allCases)
    func onlyWhoIsInTheCallBeginsAndEnds(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules) { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben"), cleo = try harness.person("Cleo")
            let eve = try harness.person("Eve")
            let id = try harness.create(by: anna, to: [ben, cleo]).call.id
            try harness.accept(id, by: ben)
            #expect(problem { try harness.record(id, by: cleo) } == .conflict, "She has not accepted.")
            #expect(problem { try harness.record(id, by: eve) } == .notFound)
            #expect(problem { try harness.record(id, by: harness.another(ben)) } == .answeredElsewhere)
            try harness.record(id, by: anna)
            #expect(problem { try harness.stopRecording(id, by: cleo) } == .conflict)
            #expect(problem { try harness.stopRecording(id, by: eve) } == .notFound)
            #expect(harness.recorded[id] != nil)
            let direct = try harness.talk(try harness.person("Dora"), [try harness.person("Emil")])
            let caller = try #require(try harness.call(direct).participants.first)
            let dora = Client(user: caller.user, endpoint: try #require(caller.endpoint))
            #expect(problem { try harness.record(direct, by: dora) } == .conflict, "Its media goes past the server.")
        }
    }

    @Test(arguments: Backing.allCases)
    func aRecordingBelongsToWhoWasJoinedWhileItWasMade(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules) { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben")
            let early = try harness.person("Early"), late = try harness.person("Late"),
                after = try harness.person("After")
            let ringing = try harness.person("Ringing"), declined = try harness.person("Declined")
            let everybody = [ben, early, late, after, ringing, declined]
            let id = try harness.create(by: anna, to: everybody).call.id
            try harness.accept(id, by: ben)
            try harness.accept(id, by: early)
            try harness.hangUp(id, by: early)
            try harness.decline(id, by: declined)
            let first = try #require(try harness.record(id, by: anna).call.recording?.id)
            try harness.accept(id, by: late)
            // Who goes keeps what was made until then and after, though their last interval is another one.
            try harness.hangUp(id, by: ben)
            try harness.stopRecording(id, by: anna)
            try harness.accept(id, by: after)
            try harness.accept(id, by: ben)
            let second = try #require(try harness.record(id, by: late).call.recording?.id)
            try harness.hangUp(id, .end, by: anna)

            let store = harness.backend.store
            for (recording, audience) in [(first, [anna, ben, late]), (second, [anna, ben, late, after])] {
                #expect(try Set(store.audience(of: recording)) == Set(audience.map(\.user)))
                for person in everybody + [anna] {
                    let isIn = audience.contains(person)
                    let found = problem { try harness.commands.recording(recording, by: person.principal, in: store) }
                    #expect(found == (isIn ? nil : .notFound))
                    let listed = try harness.commands.recordings(of: id, by: person.principal, in: store).map(\.id)
                    #expect(listed.contains(recording) == isIn)
                }
            }
            _ = try harness.commands.recordingEnded(first, of: id, failure: nil, at: harness.now, in: store)
            _ = try harness.commands.removeRecording(first, by: anna.principal, in: store)
            let entry = try everybody.filter { person in
                try harness.backend.entries(of: .user(person.user)).contains { $0.type == "recording.removed" }
            }
            #expect(Set(entry) == [ben, late], "Only those to whom it belonged.")
            #expect(try store.audience(of: first).isEmpty)
        }
    }

    @Test(arguments: Backing.allCases)
    func itEndsWithTheCallAndWithTheGateway(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules) { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben"), cleo = try harness.person("Cleo")
            let first = try harness.talk(anna, [ben, cleo])
            try harness.record(first, by: anna)
            try harness.hangUp(first, .end, by: anna)
            #expect(harness.recorded.isEmpty)
            #expect(try harness.call(first).recording == nil)
            #expect(problem { try harness.record(first, by: anna) } == .callEnded)
            #expect(try harness.stopRecording(first, by: anna).effects.isEmpty, "It has ended.")

            let second = try harness.talk(anna, [ben, cleo])
            try harness.record(second, by: anna)
            harness.restart(with: GatewayModeTests.rules(epoch: 8))
            for outcome in try harness.commands.gatewayRestarted(at: harness.now, in: harness.backend.store) {
                try harness.run { _, _, _ in outcome }
            }
            #expect(harness.recorded.isEmpty)
            #expect(try harness.call(second).recording == nil)
        }
    }

    @Test(arguments: Backing.allCases)
    func tracksBelongToTheUsersOfTheirEndpoints(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules) { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben"), cleo = try harness.person("Cleo")
            let eve = try harness.person("Eve")
            let id = try harness.talk(anna, [ben, cleo])
            let recording = try #require(try harness.record(id, by: anna).call.recording?.id)
            func track(_ endpoint: EndpointID, _ offset: Int64) throws -> Recording.Track? {
                try harness.commands.track(
                    endpoint, .microphone, of: recording, in: id, offset: offset, file: harness.id(), also: [:],
                    in: harness.backend.store)
            }
            var first = try #require(try track(ben.endpoint, 40))
            #expect(first.number == 0 && first.user == ben.user && first.offset == 40)
            #expect(try track(eve.endpoint, 50) == nil, "Nobody knows whose it is.")
            try harness.hangUp(id, by: ben)
            let second = try #require(try track(ben.endpoint, 90), "The packets of who has just left.")
            #expect(second.number == 1 && second.user == ben.user)
            first.duration = 1_000
            first.byteCount = 4_000
            try harness.backend.store.close(first, of: recording)

            // The recorder says that it is whole.
            let outcome = try harness.commands.recordingEnded(
                recording, of: id, failure: "There is no room.", at: harness.now, in: harness.backend.store)
            try harness.run { _, _, _ in try #require(outcome) }
            let document = try harness.commands.recording(recording, by: cleo.principal, in: harness.backend.store)
            #expect(document.status == .failed && document.failure == "There is no room.")
            #expect(document.endedAt == harness.now && document.tracks == [first, second])
            #expect(try harness.backend.store.ongoingRecordings().isEmpty)
            #expect(
                try harness.commands.recordings(of: id, by: ben.principal, in: harness.backend.store) == [document],
                "He was in the call.")
            var writer = JSONWriter()
            document.write(to: &writer) { _ in "{}" }
            #expect(writer.text.contains("\"offsetMs\":40,\"durationMs\":1000,\"byteCount\":4000,\"audio\":{}}"))

            let store = harness.backend.store
            #expect(problem { try harness.commands.recording(recording, by: eve.principal, in: store) } == .notFound)
            #expect(problem { try harness.commands.recordings(of: id, by: eve.principal, in: store) } == .notFound)
            #expect(
                problem { try harness.commands.removeRecording(recording, by: eve.principal, in: store) } == .notFound)
            #expect(
                problem { try harness.commands.removeRecording(recording, by: ben.principal, in: store) } == .forbidden)
            #expect(try harness.commands.removeRecording(recording, by: anna.principal, in: store) == document)
            #expect(problem { try harness.commands.recording(recording, by: anna.principal, in: store) } == .notFound)
        }
    }

    @Test(arguments: Backing.allCases)
    func itEndsWhenTheQuotaIsExhausted(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules) { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben"), cleo = try harness.person("Cleo")
            let id = try harness.talk(anna, [ben, cleo])
            let recording = try #require(try harness.record(id, by: ben).call.recording).id
            try harness.run { commands, now, store in
                try #require(try commands.recordingExceededQuota(recording, of: id, at: now, in: store))
            }
            #expect(harness.recorded.isEmpty)
            #expect(try harness.call(id).recordingEnd == .quotaExceeded)
            #expect(
                try harness.backend.entries(of: .call(id)).last?.data.contains("\"recordingEnded\":\"quota_exceeded\"")
                    == true)
            // The recorder says when its files are whole; the reason stays.
            _ = try harness.commands.recordingEnded(
                recording, of: id, failure: nil, at: harness.now, in: harness.backend.store)
            let document = try #require(try harness.backend.store.recording(recording))
            #expect(document.status == .complete && document.reason == .quotaExceeded)
            let late = try harness.commands.recordingExceededQuota(
                recording, of: id, at: harness.now, in: harness.backend.store)
            #expect(late == nil)
        }
    }

    @Test func anExhaustedQuotaPreventsRecordings() async throws {
        var rules = Self.rules
        rules.quota = MediaQuota(userBytes: 1000)
        let bounded = rules
        try await Backing.database { sql in
            let harness = CallsHarness(DatabaseStoreHarness(sql, now: CallsHarness.start), rules: bounded)
            let anna = try harness.person("Anna"), ben = try harness.person("Ben")
            let id = try harness.create(by: anna, to: [ben], mode: .gateway).call.id
            try harness.accept(id, by: ben)
            let store = StoreTransaction(sql, now: CallsHarness.start)
            let file = MediaFile(
                id: harness.id(), kind: .voice, resource: "1", contentType: "audio/ogg", byteCount: 1000,
                createdAt: CallsHarness.start, owner: anna.user)
            try store.insert(file)
            let refused = try #require(rejection { try harness.record(id, by: anna) })
            #expect(refused.kind == .quotaExceeded && refused.kind.status == 403)
            #expect(refused.members == ["used": "1000", "allowed": "1000"])
            // It counts for who begins it alone.
            try harness.record(id, by: ben)
            try harness.stopRecording(id, by: ben)
            try store.removeMediaFile(file.id)
            try harness.record(id, by: anna)
        }
    }

    @Test func mixesCountForWhoAskedForThem() async throws {
        var rules = Self.rules
        rules.quota = MediaQuota(userBytes: 1000)
        let bounded = rules
        try await Backing.database { sql in
            let harness = CallsHarness(DatabaseStoreHarness(sql, now: CallsHarness.start), rules: bounded)
            let anna = try harness.person("Anna"), ben = try harness.person("Ben")
            let id = try harness.create(by: anna, to: [ben], mode: .gateway).call.id
            try harness.accept(id, by: ben)
            let recording = try #require(try harness.record(id, by: anna).call.recording).id
            let store = StoreTransaction(sql, now: CallsHarness.start)
            let track = Recording.Track(
                number: 0, user: anna.user, endpoint: anna.endpoint, source: .microphone, offset: 0, file: harness.id(),
                duration: 1000, byteCount: 600)
            try store.insert(track, of: recording)
            try store.insert(
                MediaFile(
                    id: track.file, kind: .recording, resource: recording.text, contentType: "audio/ogg", byteCount: 0,
                    createdAt: CallsHarness.start, owner: anna.user))
            try store.close(track, of: recording)
            #expect(try store.mediaBytes(of: anna.user) == 600)
            try harness.stopRecording(id, by: anna)
            _ = try harness.commands.recordingEnded(recording, of: id, failure: nil, at: harness.now, in: store)
            let audio = { (bytes: Int64) in
                RecordingMix.complete(.init(file: harness.id(), byteCount: bytes, duration: 1000))
            }
            _ = try harness.commands.requestMix(of: recording, by: ben.principal, in: store)
            #expect(try !harness.commands.mixed(recording, audio(1001), in: store))
            guard case .failed = try store.recording(recording)?.mix else {
                Issue.record("A mix was kept that there is no room for.")
                return
            }
            _ = try harness.commands.requestMix(of: recording, by: ben.principal, in: store)
            #expect(try harness.commands.mixed(recording, audio(900), in: store))
            #expect(try store.mediaBytes(of: ben.user) == 900 && store.mediaBytes(of: anna.user) == 600)
            try store.remove(recording)
            #expect(try store.mediaBytes(of: ben.user) == 0 && store.mediaBytes(of: anna.user) == 0)
        }
    }
}
