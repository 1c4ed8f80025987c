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
        try await backing.run(rules: Self.rules(seconds: 600)) { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben")
            let id = try harness.talk(anna, [ben, try harness.person("Cleo")])
            let begun = try #require(try harness.record(id, by: anna).call.recording)
            #expect(begun.until == harness.now.adding(seconds: 600))
            #expect(try harness.call(id).recording == begun, "The store has it.")
            #expect(try harness.call(id).json(at: harness.now).contains("\"until\":"))
            try harness.advance(seconds: 599, renewing: [anna, ben])
            #expect(harness.recorded[id] == begun.id)
            try harness.advance(seconds: 1, renewing: [anna, ben])
            #expect(harness.recorded.isEmpty)
            #expect(try harness.call(id).recording == nil && harness.call(id).isLive)
            let entries = try #require(try harness.backend.entries(of: .call(id)).last)
            #expect(entries.type == "call" && entries.data.contains("\"recordingEnded\":\"longest\""))
            // The recorder has finished its files.
            let store = harness.backend.store
            _ = try harness.commands.recordingEnded(begun.id, of: id, failure: nil, at: harness.now, in: store)
            let document = try #require(try store.recording(begun.id))
            #expect(document.status == .complete && document.reason == .maxDuration)

            // Another one has a time of its own, and one that somebody ends has no reason.
            try harness.advance(seconds: 30, renewing: [anna, ben])
            let second = try #require(try harness.record(id, by: ben).call.recording)
            #expect(try harness.call(id).recordingEnd == nil)
            try harness.stopRecording(id, by: anna)
            try harness.advance(seconds: 700, renewing: [anna, ben])
            #expect(try harness.call(id).recordingEnd == nil)
            _ = try harness.commands.recordingEnded(second.id, of: id, failure: nil, at: harness.now, in: store)
            #expect(try store.recording(second.id)?.reason == nil)
        }
    }

    @Test(arguments: Backing.allCases)
    func theEndReasonIsShown(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules(seconds: 600)) { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben")
            let id = try harness.talk(anna, [ben, try harness.person("Cleo")])
            let first = try #require(try harness.record(id, by: anna).call.recording?.id)
            try harness.run { commands, now, store in
                try #require(
                    try commands.recordingEnded(first, of: id, failure: "There is no room.", at: now, in: store))
            }
            #expect(try harness.call(id).recordingEnd == .failed)
            #expect(try harness.backend.store.recording(first)?.reason == .failed)
            try harness.record(id, by: anna)
            harness.restart(with: GatewayModeTests.rules(epoch: 8))
            for outcome in try harness.commands.gatewayRestarted(at: harness.now, in: harness.backend.store) {
                try harness.run { _, _, _ in outcome }
            }
            #expect(try harness.call(id).recordingEnd == .interrupted)
            #expect(try harness.commands.deadlines(in: harness.backend.store).isEmpty)
        }
    }

    /// A recording of a call that has ended, of which a track can be heard.
    private func recorded(_ harness: CallsHarness, by anna: Client, _ others: [Client]) throws -> RecordingID {
        let id = try harness.talk(anna, others)
        let recording = try #require(try harness.record(id, by: anna).call.recording?.id)
        let store = harness.backend.store
        var track = try #require(
            try harness.commands.track(
                anna.endpoint, .microphone, of: recording, in: id, offset: 40, file: harness.id(), also: [:], in: store)
        )
        #expect(problem { try harness.commands.requestMix(of: recording, by: anna.principal, in: store) } == .conflict)
        try harness.hangUp(id, .end, by: anna)
        _ = try harness.commands.recordingEnded(recording, of: id, failure: nil, at: harness.now, in: store)
        #expect(
            problem { try harness.commands.requestMix(of: recording, by: anna.principal, in: store) } == .conflict,
            "Nothing is heard.")
        (track.duration, track.byteCount) = (1_000, 4_000)
        try store.close(track, of: recording)
        return recording
    }

    @Test(arguments: Backing.allCases)
    func whoWasInTheCallHasItPutIntoOneFile(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules(seconds: 600)) { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben"), eve = try harness.person("Eve")
            let recording = try recorded(harness, by: anna, [ben, try harness.person("Cleo")])
            let (commands, store) = (harness.commands, harness.backend.store)
            #expect(problem { try commands.requestMix(of: recording, by: eve.principal, in: store) } == .notFound)
            #expect(try commands.requestMix(of: recording, by: ben.principal, in: store).isNew)
            #expect(try store.unmixedRecordings() == [recording])
            let again = try commands.requestMix(of: recording, by: anna.principal, in: store)
            #expect(!again.isNew && again.recording.mix == .pending)

            #expect(try commands.mixed(recording, .failed("No room."), in: store))
            #expect(try store.recording(recording)?.mix == .failed("No room."))
            #expect(try store.unmixedRecordings().isEmpty)
            #expect(try commands.requestMix(of: recording, by: anna.principal, in: store).isNew, "It is tried again.")
            let audio = RecordingMix.MixedAudio(file: harness.id(), byteCount: 6_000, duration: 1_040)
            #expect(try commands.mixed(recording, .complete(audio), in: store))
            #expect(try !commands.mixed(recording, .failed("Late."), in: store), "Nobody waits for it any more.")
            let document = try commands.requestMix(of: recording, by: ben.principal, in: store).recording
            #expect(document.mix == .complete(audio))
            var writer = JSONWriter()
            document.write(to: &writer) { "\"\($0)\"" }
            #expect(
                writer.text.contains(
                    "\"mix\":{\"status\":\"complete\",\"durationMs\":1040,\"byteCount\":6000,\"audio\":\"\(audio.file)\"}"
                ))
            for client in [anna, ben] {
                let entries = try harness.entries(.user(client.user)).filter { $0.type == "recording.mixed" }
                #expect(entries.count == 4)
                #expect(entries.last?.data.contains("\"status\":\"complete\"") == true)
            }
            #expect(try harness.entries(.user(eve.user)).isEmpty)

            let removed = try commands.removeRecording(recording, by: anna.principal, in: store)
            #expect(removed.files == [document.tracks[0].file, audio.file])
            #expect(try !commands.mixed(recording, .complete(audio), in: store))
            let entries = try harness.entries(.user(ben.user))
            #expect(entries.last?.type == "recording.removed" && entries.last?.data.contains(recording.text) == true)
        }
    }

    @Test(arguments: Backing.allCases)
    func whatIsOldGoes(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules(seconds: 600)) { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben"), cleo = try harness.person("Cleo")
            var old: [RecordingID] = []
            for _ in 0..<3 {
                old.append(try recorded(harness, by: anna, [ben, cleo]))
                harness.now = harness.now.adding(seconds: 60)
            }
            let (commands, store) = (harness.commands, harness.backend.store)
            _ = try commands.requestMix(of: old[0], by: anna.principal, in: store)
            harness.now = harness.now.adding(seconds: 86_400)
            let id = try harness.talk(anna, [ben, cleo])
            let ongoing = try #require(try harness.record(id, by: anna).call.recording?.id)
            #expect(try commands.removeRecordings(before: CallsHarness.start, limit: 10, in: store).isEmpty)
            // What goes on stays, whatever its age.
            let later = harness.now.adding(seconds: 60)
            #expect(try commands.removeRecordings(before: later, limit: 2, in: store).map(\.id) == Array(old[..<2]))
            #expect(try commands.removeRecordings(before: later, limit: 2, in: store).map(\.id) == [old[2]])
            #expect(try commands.removeRecordings(before: later, limit: 2, in: store).isEmpty)
            for recording in old { #expect(try store.recording(recording) == nil) }
            #expect(try store.unmixedRecordings().isEmpty)
            #expect(try store.recording(ongoing) != nil)
            #expect(try harness.entries(.user(cleo.user)).filter { $0.type == "recording.removed" }.count == 3)
        }
    }
}
