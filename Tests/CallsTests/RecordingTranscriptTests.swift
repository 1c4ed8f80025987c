import Calls
import Model
import Testing

/// Transcripts of recordings: merged from the tracks, with notifications for who was in the call.
@Suite struct RecordingTranscriptTests {
    private struct Talk {
        let recording: RecordingID
        let tracks: [Recording.Track]

        /// Two tracks that can be heard, the second from 2 s on, and one of which there is nothing.
        init(_ harness: CallsHarness, _ anna: Client, _ ben: Client) throws {
            let id = try harness.talk(anna, [ben, try harness.person("Cleo")])
            let recording = try #require(try harness.record(id, by: anna).call.recording?.id)
            let store = harness.backend.store
            var tracks: [Recording.Track] = []
            for (endpoint, offset, duration) in [
                (anna.endpoint, 100, 9_000), (ben.endpoint, 2_000, 5_000), (ben.endpoint, 8_000, 0),
            ] {
                var track = try #require(
                    try harness.commands.track(
                        endpoint, .microphone, of: recording, in: id, offset: Int64(offset), file: harness.id(),
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
                problem { try harness.commands.requestTranscript(of: recording, by: anna.principal, in: store) }
                    == .conflict,
                "It goes on.")
            #expect(
                problem { try harness.commands.transcript(of: recording, by: anna.principal, in: store) } == .conflict)
            let outcome = try harness.commands.recordingEnded(
                recording, of: id, failure: nil, at: harness.now, in: store)
            try harness.run { _, _, _ in try #require(outcome) }
        }

        func work(_ index: Int) -> UntranscribedTrack {
            UntranscribedTrack(recording: recording, file: tracks[index].file)
        }
    }

    private static func said(_ segments: (Int64, Int64, String)...) -> FileTranscript {
        .complete(
            language: "en", text: segments.map { $0.2 }.joined(separator: " "),
            segments: segments.map { .init(start: $0.0, end: $0.1, text: $0.2) })
    }

    @Test(arguments: Backing.allCases)
    func tracksAreOneTalk(_ backing: Backing) async throws {
        try await backing.run(rules: GatewayModeTests.rules) { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben"), eve = try harness.person("Eve")
            let talk = try Talk(harness, anna, ben)
            let (store, commands) = (harness.backend.store, harness.commands)
            func notices(_ user: UserID) throws -> [String] {
                try harness.backend.entries(of: .user(user)).filter { $0.type == "recording.transcribed" }.map(\.data)
            }
            #expect(problem { try commands.transcript(of: talk.recording, by: anna.principal, in: store) } == .notFound)

            let asked = try commands.requestTranscript(of: talk.recording, by: ben.principal, in: store)
            #expect(asked.work == [talk.work(0), talk.work(1)], "Nothing is heard in the third.")
            #expect(asked.transcript.status == .pending && asked.transcript.tracks.map(\.track) == [0, 1])
            #expect(try store.untranscribedTracks() == asked.work, "Another process finds them.")
            #expect(try commands.requestTranscript(of: talk.recording, by: anna.principal, in: store).work.isEmpty)

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

            // The audience is notified, without the text.
            for user in [anna.user, ben.user] {
                let received = try notices(user)
                #expect(received.count == 2 && received[0].contains("pending") && received[1].contains("complete"))
                #expect(received.allSatisfy { $0.contains(talk.recording.text) && !$0.contains("three") })
            }
            #expect(try notices(eve.user).isEmpty)
            let ask = { try commands.requestTranscript(of: talk.recording, by: eve.principal, in: store) }
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
        try await backing.run(rules: GatewayModeTests.rules) { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben")
            let talk = try Talk(harness, anna, ben)
            let (store, commands) = (harness.backend.store, harness.commands)
            _ = try commands.requestTranscript(of: talk.recording, by: ben.principal, in: store)
            let failure = FileTranscript.Failure(type: "timed_out", detail: "Too long.", mayRetry: true)
            try commands.transcribed(talk.work(0), .failed(failure), in: store)
            let pending = try commands.transcript(of: talk.recording, by: anna.principal, in: store)
            #expect(pending.status == .pending && pending.failure == failure, "The other one is still written down.")
            try commands.transcribed(talk.work(1), Self.said((0, 1_000, "two")), in: store)
            let failed = try commands.transcript(of: talk.recording, by: anna.principal, in: store)
            #expect(failed.status == .failed && failed.failure == failure && failed.segments.map(\.text) == ["two"])
            #expect(failed.tracks.map(\.status) == [.failed, .complete] && failed.tracks[0].failure == failure)

            let again = try commands.requestTranscript(of: talk.recording, by: anna.principal, in: store)
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
