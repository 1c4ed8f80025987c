import Calls
import Model
import Storage
import Testing

/// Recordings of calls in the gateway: who begins and ends them, who is told, and who reaches what was recorded.
@Suite struct RecordingTests {
    private static let rules = GatewayModeTests.rules

    @Test(arguments: Backing.allCases)
    func everybodyIsShownThatTheCallIsRecorded(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules) { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben"), cleo = try world.person("Cleo")
            let id = try world.talk(anna, [ben, cleo])
            let begun = try world.record(id, by: ben)
            let recording = try #require(begun.call.recording)
            #expect(recording.by == ben.user && recording.since == world.now)
            #expect(world.recorded == [id: recording.id])
            let told = try #require(try world.bench.entries(of: .call(id)).last)
            #expect(
                told.type == "call"
                    && told.data.contains("\"recording\":{\"id\":\"\(recording.id)\",\"by\":\"\(ben.user)\""))
            #expect(try world.call(id).recording == recording, "The store has it.")

            let again = try world.record(id, by: anna)
            #expect(again.isDuplicate && again.call.recording == recording)
            try world.stopRecording(id, by: cleo)
            #expect(world.recorded.isEmpty)
            #expect(try world.call(id).recording == nil)
            #expect(try world.bench.entries(of: .call(id)).last?.data.contains("recording") == false)
            #expect(try world.stopRecording(id, by: cleo).effects.isEmpty)
            #expect(try world.call(id).wasRecorded)
            #expect(try world.call(id).json(at: world.now).contains("\"recorded\":true"))
        }
    }

    @Test(arguments: Backing.allCases)
    func onlyWhoIsInTheCallBeginsAndEnds(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules) { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben"), cleo = try world.person("Cleo")
            let eve = try world.person("Eve")
            let id = try world.create(by: anna, to: [ben, cleo]).call.id
            try world.accept(id, by: ben)
            #expect(problem { try world.record(id, by: cleo) } == .conflict, "She has not accepted.")
            #expect(problem { try world.record(id, by: eve) } == .notFound)
            #expect(problem { try world.record(id, by: world.another(ben)) } == .answeredElsewhere)
            try world.record(id, by: anna)
            #expect(problem { try world.stopRecording(id, by: cleo) } == .conflict)
            #expect(problem { try world.stopRecording(id, by: eve) } == .notFound)
            #expect(world.recorded[id] != nil)
            let direct = try world.talk(try world.person("Dora"), [try world.person("Emil")])
            let caller = try #require(try world.call(direct).participants.first)
            let dora = Client(user: caller.user, endpoint: try #require(caller.endpoint))
            #expect(problem { try world.record(direct, by: dora) } == .conflict, "Its media goes past the server.")
        }
    }

    @Test(arguments: Backing.allCases)
    func aRecordingBelongsToWhoWasJoinedWhileItWasMade(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules) { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben")
            let early = try world.person("Early"), late = try world.person("Late"), after = try world.person("After")
            let ringing = try world.person("Ringing"), declined = try world.person("Declined")
            let everybody = [ben, early, late, after, ringing, declined]
            let id = try world.create(by: anna, to: everybody).call.id
            try world.accept(id, by: ben)
            try world.accept(id, by: early)
            try world.hangUp(id, by: early)
            try world.decline(id, by: declined)
            let first = try #require(try world.record(id, by: anna).call.recording?.id)
            try world.accept(id, by: late)
            // Who goes keeps what was made until then and after, though their last interval is another one.
            try world.hangUp(id, by: ben)
            try world.stopRecording(id, by: anna)
            try world.accept(id, by: after)
            try world.accept(id, by: ben)
            let second = try #require(try world.record(id, by: late).call.recording?.id)
            try world.hangUp(id, .end, by: anna)

            let store = world.bench.store
            for (recording, audience) in [(first, [anna, ben, late]), (second, [anna, ben, late, after])] {
                #expect(try Set(store.audience(of: recording)) == Set(audience.map(\.user)))
                for person in everybody + [anna] {
                    let isIn = audience.contains(person)
                    let found = problem { try world.commands.recording(recording, by: person.principal, in: store) }
                    #expect(found == (isIn ? nil : .notFound))
                    let listed = try world.commands.recordings(of: id, by: person.principal, in: store).map(\.id)
                    #expect(listed.contains(recording) == isIn)
                }
            }
            _ = try world.commands.recordingEnded(first, of: id, failure: nil, at: world.now, in: store)
            _ = try world.commands.removeRecording(first, by: anna.principal, in: store)
            let told = try everybody.filter { person in
                try world.bench.entries(of: .user(person.user)).contains { $0.type == "recording.removed" }
            }
            #expect(Set(told) == [ben, late], "Only those to whom it belonged.")
            #expect(try store.audience(of: first).isEmpty)
        }
    }

    @Test(arguments: Backing.allCases)
    func itEndsWithTheCallAndWithTheGateway(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules) { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben"), cleo = try world.person("Cleo")
            let first = try world.talk(anna, [ben, cleo])
            try world.record(first, by: anna)
            try world.hangUp(first, .end, by: anna)
            #expect(world.recorded.isEmpty)
            #expect(try world.call(first).recording == nil)
            #expect(problem { try world.record(first, by: anna) } == .callEnded)
            #expect(try world.stopRecording(first, by: anna).effects.isEmpty, "It has ended.")

            let second = try world.talk(anna, [ben, cleo])
            try world.record(second, by: anna)
            world.restart(with: GatewayModeTests.rules(epoch: 8))
            for outcome in try world.commands.renewGateway(at: world.now, in: world.bench.store) {
                try world.run { _, _, _ in outcome }
            }
            #expect(world.recorded.isEmpty)
            #expect(try world.call(second).recording == nil)
        }
    }

    @Test(arguments: Backing.allCases)
    func tracksBelongToTheUsersOfTheirEndpoints(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules) { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben"), cleo = try world.person("Cleo")
            let eve = try world.person("Eve")
            let id = try world.talk(anna, [ben, cleo])
            let recording = try #require(try world.record(id, by: anna).call.recording?.id)
            func track(_ endpoint: EndpointID, _ offset: Int64) throws -> Recording.Track? {
                try world.commands.track(
                    endpoint, .microphone, of: recording, in: id, offset: offset, file: world.id(), also: [:],
                    in: world.bench.store)
            }
            var first = try #require(try track(ben.endpoint, 40))
            #expect(first.number == 0 && first.user == ben.user && first.offset == 40)
            #expect(try track(eve.endpoint, 50) == nil, "Nobody knows whose it is.")
            try world.hangUp(id, by: ben)
            let second = try #require(try track(ben.endpoint, 90), "The packets of who has just left.")
            #expect(second.number == 1 && second.user == ben.user)
            first.duration = 1_000
            first.byteCount = 4_000
            try world.bench.store.close(first, of: recording)

            // The recorder says that it is whole.
            let outcome = try world.commands.recordingEnded(
                recording, of: id, failure: "There is no room.", at: world.now, in: world.bench.store)
            try world.run { _, _, _ in try #require(outcome) }
            let document = try world.commands.recording(recording, by: cleo.principal, in: world.bench.store)
            #expect(document.status == .failed && document.failure == "There is no room.")
            #expect(document.endedAt == world.now && document.tracks == [first, second])
            #expect(try world.bench.store.ongoingRecordings().isEmpty)
            #expect(
                try world.commands.recordings(of: id, by: ben.principal, in: world.bench.store) == [document],
                "He was in the call.")
            var writer = JSONWriter()
            document.write(to: &writer) { _ in "{}" }
            #expect(writer.text.contains("\"offsetMs\":40,\"durationMs\":1000,\"byteCount\":4000,\"audio\":{}}"))

            let store = world.bench.store
            #expect(problem { try world.commands.recording(recording, by: eve.principal, in: store) } == .notFound)
            #expect(problem { try world.commands.recordings(of: id, by: eve.principal, in: store) } == .notFound)
            #expect(
                problem { try world.commands.removeRecording(recording, by: eve.principal, in: store) } == .notFound)
            #expect(
                problem { try world.commands.removeRecording(recording, by: ben.principal, in: store) } == .forbidden)
            #expect(try world.commands.removeRecording(recording, by: anna.principal, in: store) == document)
            #expect(problem { try world.commands.recording(recording, by: anna.principal, in: store) } == .notFound)
        }
    }

    @Test(arguments: Backing.allCases)
    func itEndsWhenWhoBeganItHasNoRoomLeft(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules) { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben"), cleo = try world.person("Cleo")
            let id = try world.talk(anna, [ben, cleo])
            let recording = try #require(try world.record(id, by: ben).call.recording).id
            try world.run { commands, now, store in
                try #require(try commands.recordingExceededQuota(recording, of: id, at: now, in: store))
            }
            #expect(world.recorded.isEmpty)
            #expect(try world.call(id).recordingEnd == .quotaExceeded)
            #expect(
                try world.bench.entries(of: .call(id)).last?.data.contains("\"recordingEnded\":\"quota_exceeded\"")
                    == true)
            // The recorder says when its files are whole; the reason stays.
            _ = try world.commands.recordingEnded(recording, of: id, failure: nil, at: world.now, in: world.bench.store)
            let document = try #require(try world.bench.store.recording(recording))
            #expect(document.status == .complete && document.reason == .quotaExceeded)
            let late = try world.commands.recordingExceededQuota(
                recording, of: id, at: world.now, in: world.bench.store)
            #expect(late == nil)
        }
    }

    @Test func whoHasNoRoomLeftRecordsNothing() async throws {
        var rules = Self.rules
        rules.quota = MediaQuota(userBytes: 1000)
        let bounded = rules
        try await Backing.database { sql in
            let world = World(DatabaseBench(sql, now: World.start), rules: bounded)
            let anna = try world.person("Anna"), ben = try world.person("Ben")
            let id = try world.create(by: anna, to: [ben], mode: .gateway).call.id
            try world.accept(id, by: ben)
            let store = StoreTransaction(sql, now: World.start)
            let file = MediaFile(
                id: world.id(), kind: .voice, resource: "1", contentType: "audio/ogg", byteCount: 1000,
                createdAt: World.start, owner: anna.user)
            try store.insert(file)
            let refused = try #require(refusal { try world.record(id, by: anna) })
            #expect(refused.kind == .quotaExceeded && refused.kind.status == 403)
            #expect(refused.members == ["used": "1000", "allowed": "1000"])
            // It counts for who begins it alone.
            try world.record(id, by: ben)
            try world.stopRecording(id, by: ben)
            try store.removeMediaFile(file.id)
            try world.record(id, by: anna)
        }
    }

    @Test func mixesCountForWhoAskedForThem() async throws {
        var rules = Self.rules
        rules.quota = MediaQuota(userBytes: 1000)
        let bounded = rules
        try await Backing.database { sql in
            let world = World(DatabaseBench(sql, now: World.start), rules: bounded)
            let anna = try world.person("Anna"), ben = try world.person("Ben")
            let id = try world.create(by: anna, to: [ben], mode: .gateway).call.id
            try world.accept(id, by: ben)
            let recording = try #require(try world.record(id, by: anna).call.recording).id
            let store = StoreTransaction(sql, now: World.start)
            let track = Recording.Track(
                number: 0, user: anna.user, endpoint: anna.endpoint, source: .microphone, offset: 0, file: world.id(),
                duration: 1000, byteCount: 600)
            try store.insert(track, of: recording)
            try store.insert(
                MediaFile(
                    id: track.file, kind: .recording, resource: recording.text, contentType: "audio/ogg", byteCount: 0,
                    createdAt: World.start, owner: anna.user))
            try store.close(track, of: recording)
            #expect(try store.mediaBytes(of: anna.user) == 600)
            try world.stopRecording(id, by: anna)
            _ = try world.commands.recordingEnded(recording, of: id, failure: nil, at: world.now, in: store)
            let sound = { (bytes: Int64) in
                RecordingMix.complete(.init(file: world.id(), byteCount: bytes, duration: 1000))
            }
            _ = try world.commands.askForMix(of: recording, by: ben.principal, in: store)
            #expect(try !world.commands.mixed(recording, sound(1001), in: store))
            guard case .failed = try store.recording(recording)?.mix else {
                Issue.record("A mix was kept that there is no room for.")
                return
            }
            _ = try world.commands.askForMix(of: recording, by: ben.principal, in: store)
            #expect(try world.commands.mixed(recording, sound(900), in: store))
            #expect(try store.mediaBytes(of: ben.user) == 900 && store.mediaBytes(of: anna.user) == 600)
            try store.remove(recording)
            #expect(try store.mediaBytes(of: ben.user) == 0 && store.mediaBytes(of: anna.user) == 0)
        }
    }
}
