import Calls
import Model
import Testing

/// What is said in recordings: put together from its tracks, and told to who was in the call.
@Suite struct RecordingTranscriptTests {
    private struct Talk {
        let recording: RecordingID
        let tracks: [Recording.Track]

        /// Two tracks that can be heard, the second from 2 s on, and one of which there is nothing.
        init(_ world: World, _ anna: Client, _ ben: Client) throws {
            let id = try world.talk(anna, [ben, try world.person("Cleo")])
            let recording = try #require(try world.record(id, by: anna).call.recording?.id)
            let store = world.bench.store
            var tracks: [Recording.Track] = []
            for (endpoint, offset, duration) in [
                (anna.endpoint, 100, 9_000), (ben.endpoint, 2_000, 5_000), (ben.endpoint, 8_000, 0),
            ] {
                var track = try #require(
                    try world.commands.track(
                        endpoint, .microphone, of: recording, in: id, offset: Int64(offset), file: world.id(),
                        also: [:],
                        in: store))
                track.duration = Int64(duration)
                track.byteCount = 10
                try store.close(track, of: recording)
                tracks.append(track)
            }
            self.recording = recording
            self.tracks = tracks
            #expect(
                problem { try world.commands.askForTranscript(of: recording, by: anna.principal, in: store) }
                    == .conflict,
                "It goes on.")
            #expect(
                problem { try world.commands.transcript(of: recording, by: anna.principal, in: store) } == .conflict)
            let outcome = try world.commands.recordingEnded(
                recording, of: id, failure: nil, at: world.now, in: store)
            try world.run { _, _, _ in try #require(outcome) }
        }

        func work(_ index: Int) -> UnwrittenTrack { UnwrittenTrack(recording: recording, file: tracks[index].file) }
    }

    private static func said(_ segments: (Int64, Int64, String)...) -> FileTranscript {
        .complete(
            language: "en", text: segments.map { $0.2 }.joined(separator: " "),
            segments: segments.map { .init(start: $0.0, end: $0.1, text: $0.2) })
    }

    @Test(arguments: Backing.allCases)
    func tracksAreOneTalk(_ backing: Backing) async throws {
        try await backing.run(rules: GatewayModeTests.rules) { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben"), eve = try world.person("Eve")
            let talk = try Talk(world, anna, ben)
            let (store, commands) = (world.bench.store, world.commands)
            func news(_ user: UserID) throws -> [String] {
                try world.bench.entries(of: .user(user)).filter { $0.type == "recording.transcribed" }.map(\.data)
            }
            #expect(problem { try commands.transcript(of: talk.recording, by: anna.principal, in: store) } == .notFound)

            let asked = try commands.askForTranscript(of: talk.recording, by: ben.principal, in: store)
            #expect(asked.work == [talk.work(0), talk.work(1)], "Nothing is heard in the third.")
            #expect(asked.transcript.status == .pending && asked.transcript.tracks.map(\.track) == [0, 1])
            #expect(try store.unwrittenTracks() == asked.work, "Another process finds them.")
            #expect(try commands.askForTranscript(of: talk.recording, by: anna.principal, in: store).work.isEmpty)

            try commands.transcribed(
                talk.work(1), Self.said((200, 900, "two"), (4_000, 4_800, "four")), in: store)
            let half = try commands.transcript(of: talk.recording, by: anna.principal, in: store)
            #expect(half.status == .pending && half.segments.map(\.text) == ["two", "four"])
            try commands.transcribed(
                talk.work(0), Self.said((300, 1_500, "one"), (3_000, 4_000, "three")), in: store)
            let (whole, names) = try commands.namedTranscript(of: talk.recording, by: anna.principal, in: store)
            #expect(whole.status == .complete && whole.language == "en" && whole.failure == nil)
            #expect(whole.segments.map(\.text) == ["one", "two", "three", "four"])
            #expect(whole.segments.map(\.start) == [400, 2_200, 3_100, 6_000])
            #expect(whole.segments.map(\.end) == [1_600, 2_900, 4_100, 6_800])
            #expect(whole.segments.map(\.user) == [anna.user, ben.user, anna.user, ben.user])
            #expect(whole.segments.map(\.track) == [0, 1, 0, 1])
            #expect(names[anna.user] == "Anna" && names[ben.user] == "Ben" && names.count == 3)

            // Who was in it is told, without the words.
            for user in [anna.user, ben.user] {
                let told = try news(user)
                #expect(told.count == 2 && told[0].contains("pending") && told[1].contains("complete"))
                #expect(told.allSatisfy { $0.contains(talk.recording.text) && !$0.contains("three") })
            }
            #expect(try news(eve.user).isEmpty)
            let ask = { try commands.askForTranscript(of: talk.recording, by: eve.principal, in: store) }
            #expect(problem { try commands.transcript(of: talk.recording, by: eve.principal, in: store) } == .notFound)
            #expect(
                problem { try commands.namedTranscript(of: talk.recording, by: eve.principal, in: store) } == .notFound)
            #expect(problem { try ask() } == .notFound)

            // It goes with the recording, and what comes too late is nothing.
            _ = try commands.removeRecording(talk.recording, by: anna.principal, in: store)
            #expect(try store.transcripts(of: talk.tracks.map(\.file)).isEmpty)
            try commands.transcribed(talk.work(0), Self.said((0, 1, "late")), in: store)
            #expect(try store.transcript(of: talk.tracks[0].file) == nil)
            #expect(problem { try commands.transcript(of: talk.recording, by: anna.principal, in: store) } == .notFound)
        }
    }

    @Test(arguments: Backing.allCases)
    func whatFailedIsTriedAgainAndNothingElse(_ backing: Backing) async throws {
        try await backing.run(rules: GatewayModeTests.rules) { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben")
            let talk = try Talk(world, anna, ben)
            let (store, commands) = (world.bench.store, world.commands)
            _ = try commands.askForTranscript(of: talk.recording, by: ben.principal, in: store)
            let failure = FileTranscript.Failure(type: "timed_out", detail: "Too long.", mayRetry: true)
            try commands.transcribed(talk.work(0), .failed(failure), in: store)
            let pending = try commands.transcript(of: talk.recording, by: anna.principal, in: store)
            #expect(pending.status == .pending && pending.failure == failure, "The other one is still written down.")
            try commands.transcribed(talk.work(1), Self.said((0, 1_000, "two")), in: store)
            let failed = try commands.transcript(of: talk.recording, by: anna.principal, in: store)
            #expect(failed.status == .failed && failed.failure == failure && failed.segments.map(\.text) == ["two"])
            #expect(failed.tracks.map(\.status) == [.failed, .complete] && failed.tracks[0].failure == failure)

            let again = try commands.askForTranscript(of: talk.recording, by: anna.principal, in: store)
            #expect(again.work == [talk.work(0)])
            #expect(again.transcript.status == .pending && again.transcript.failure == nil)
            #expect(again.transcript.segments.map(\.text) == ["two"], "What is known stays.")
            // Nobody spoke.
            try commands.transcribed(talk.work(0), .complete(language: nil, text: "", segments: []), in: store)
            let whole = try commands.transcript(of: talk.recording, by: anna.principal, in: store)
            #expect(whole.status == .complete && whole.segments.map(\.text) == ["two"])
        }
    }
}
