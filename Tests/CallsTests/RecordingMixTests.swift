import Calls
import Model
import Testing

/// Recordings that end by themselves, that are put into one file, and that go after a while.
@Suite struct RecordingMixTests {
    private static func rules(seconds: Int64) -> CallRules {
        var rules = GatewayModeTests.rules
        rules.recordingSeconds = seconds
        return rules
    }

    @Test(arguments: Backing.allCases)
    func aRecordingEndsWhenItIsAsLongAsItMayBe(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules(seconds: 600)) { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben")
            let id = try world.talk(anna, [ben, try world.person("Cleo")])
            let begun = try #require(try world.record(id, by: anna).call.recording)
            #expect(begun.until == world.now.adding(seconds: 600))
            #expect(try world.call(id).recording == begun, "The store has it.")
            #expect(try world.call(id).json(at: world.now).contains("\"until\":"))
            try world.advance(seconds: 599, renewing: [anna, ben])
            #expect(world.recorded[id] == begun.id)
            try world.advance(seconds: 1, renewing: [anna, ben])
            #expect(world.recorded.isEmpty)
            #expect(try world.call(id).recording == nil && world.call(id).isLive)
            let told = try #require(try world.bench.entries(of: .call(id)).last)
            #expect(told.type == "call" && told.data.contains("\"recordingEnded\":\"longest\""))
            // The recorder has finished its files.
            let store = world.bench.store
            _ = try world.commands.recordingEnded(begun.id, of: id, failure: nil, at: world.now, in: store)
            let document = try #require(try store.recording(begun.id))
            #expect(document.status == .complete && document.reason == .longest)

            // Another one has a time of its own, and one that somebody ends has no reason.
            try world.advance(seconds: 30, renewing: [anna, ben])
            let second = try #require(try world.record(id, by: ben).call.recording)
            #expect(try world.call(id).recordingEnd == nil)
            try world.stopRecording(id, by: anna)
            try world.advance(seconds: 700, renewing: [anna, ben])
            #expect(try world.call(id).recordingEnd == nil)
            _ = try world.commands.recordingEnded(second.id, of: id, failure: nil, at: world.now, in: store)
            #expect(try store.recording(second.id)?.reason == nil)
        }
    }

    @Test(arguments: Backing.allCases)
    func whyARecordingEndedIsTold(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules(seconds: 600)) { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben")
            let id = try world.talk(anna, [ben, try world.person("Cleo")])
            let first = try #require(try world.record(id, by: anna).call.recording?.id)
            try world.run { commands, now, store in
                try #require(
                    try commands.recordingEnded(first, of: id, failure: "There is no room.", at: now, in: store))
            }
            #expect(try world.call(id).recordingEnd == .failed)
            #expect(try world.bench.store.recording(first)?.reason == .failed)
            try world.record(id, by: anna)
            world.restart(with: GatewayModeTests.rules(epoch: 8))
            for outcome in try world.commands.renewGateway(at: world.now, in: world.bench.store) {
                try world.run { _, _, _ in outcome }
            }
            #expect(try world.call(id).recordingEnd == .interrupted)
            #expect(try world.commands.deadlines(in: world.bench.store).isEmpty)
        }
    }

    /// A recording of a call that has ended, of which a track can be heard.
    private func recorded(_ world: World, by anna: Client, _ others: [Client]) throws -> RecordingID {
        let id = try world.talk(anna, others)
        let recording = try #require(try world.record(id, by: anna).call.recording?.id)
        let store = world.bench.store
        var track = try #require(
            try world.commands.track(
                anna.endpoint, .microphone, of: recording, in: id, offset: 40, file: world.id(), also: [:], in: store))
        #expect(problem { try world.commands.askForMix(of: recording, by: anna.principal, in: store) } == .conflict)
        try world.hangUp(id, .end, by: anna)
        _ = try world.commands.recordingEnded(recording, of: id, failure: nil, at: world.now, in: store)
        #expect(
            problem { try world.commands.askForMix(of: recording, by: anna.principal, in: store) } == .conflict,
            "Nothing is heard.")
        (track.duration, track.byteCount) = (1_000, 4_000)
        try store.close(track, of: recording)
        return recording
    }

    @Test(arguments: Backing.allCases)
    func whoWasInTheCallHasItPutIntoOneFile(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules(seconds: 600)) { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben"), eve = try world.person("Eve")
            let recording = try recorded(world, by: anna, [ben, try world.person("Cleo")])
            let (commands, store) = (world.commands, world.bench.store)
            #expect(problem { try commands.askForMix(of: recording, by: eve.principal, in: store) } == .notFound)
            #expect(try commands.askForMix(of: recording, by: ben.principal, in: store).isNew)
            #expect(try store.unmixedRecordings() == [recording])
            let again = try commands.askForMix(of: recording, by: anna.principal, in: store)
            #expect(!again.isNew && again.recording.mix == .pending)

            #expect(try commands.mixed(recording, .failed("No room."), in: store))
            #expect(try store.recording(recording)?.mix == .failed("No room."))
            #expect(try store.unmixedRecordings().isEmpty)
            #expect(try commands.askForMix(of: recording, by: anna.principal, in: store).isNew, "It is tried again.")
            let sound = RecordingMix.Sound(file: world.id(), byteCount: 6_000, duration: 1_040)
            #expect(try commands.mixed(recording, .complete(sound), in: store))
            #expect(try !commands.mixed(recording, .failed("Late."), in: store), "Nobody waits for it any more.")
            let document = try commands.askForMix(of: recording, by: ben.principal, in: store).recording
            #expect(document.mix == .complete(sound))
            var writer = JSONWriter()
            document.write(to: &writer) { "\"\($0)\"" }
            #expect(
                writer.text.contains(
                    "\"mix\":{\"status\":\"complete\",\"durationMs\":1040,\"byteCount\":6000,\"audio\":\"\(sound.file)\"}"
                ))
            for client in [anna, ben] {
                let told = try world.entries(.user(client.user)).filter { $0.type == "recording.mixed" }
                #expect(told.count == 4)
                #expect(told.last?.data.contains("\"status\":\"complete\"") == true)
            }
            #expect(try world.entries(.user(eve.user)).isEmpty)

            let removed = try commands.removeRecording(recording, by: anna.principal, in: store)
            #expect(removed.files == [document.tracks[0].file, sound.file])
            #expect(try !commands.mixed(recording, .complete(sound), in: store))
            let told = try world.entries(.user(ben.user))
            #expect(told.last?.type == "recording.removed" && told.last?.data.contains(recording.text) == true)
        }
    }

    @Test(arguments: Backing.allCases)
    func whatIsOldGoes(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules(seconds: 600)) { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben"), cleo = try world.person("Cleo")
            var old: [RecordingID] = []
            for _ in 0..<3 {
                old.append(try recorded(world, by: anna, [ben, cleo]))
                world.now = world.now.adding(seconds: 60)
            }
            let (commands, store) = (world.commands, world.bench.store)
            _ = try commands.askForMix(of: old[0], by: anna.principal, in: store)
            world.now = world.now.adding(seconds: 86_400)
            let id = try world.talk(anna, [ben, cleo])
            let ongoing = try #require(try world.record(id, by: anna).call.recording?.id)
            #expect(try commands.removeRecordings(before: World.start, limit: 10, in: store).isEmpty)
            // What goes on stays, whatever its age.
            let later = world.now.adding(seconds: 60)
            #expect(try commands.removeRecordings(before: later, limit: 2, in: store).map(\.id) == Array(old[..<2]))
            #expect(try commands.removeRecordings(before: later, limit: 2, in: store).map(\.id) == [old[2]])
            #expect(try commands.removeRecordings(before: later, limit: 2, in: store).isEmpty)
            for recording in old { #expect(try store.recording(recording) == nil) }
            #expect(try store.unmixedRecordings().isEmpty)
            #expect(try store.recording(ongoing) != nil)
            #expect(try world.entries(.user(cleo.user)).filter { $0.type == "recording.removed" }.count == 3)
        }
    }
}
