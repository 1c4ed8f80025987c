import Calls
import Containers
import Foundation
import Logging
import MediaFiles
import Messaging
import Model
import Storage
import Synchronization
import TestSupport
import Testing
import Voice

@testable import Services

@Suite("Mixes of recordings, made in the background")
struct RecordingMixesTests {
    private static let second = (try? MixingHarness.tone(seconds: 1)) ?? []

    /// Runs the worker for as long as the test takes.
    private func working(_ harness: MixingHarness, _ test: (RecordingMixes) async throws -> Void) async throws {
        let mixes = harness.mixes
        let task = Task { await mixes.run() }
        do {
            try await test(mixes)
        } catch {
            task.cancel()
            throw error
        }
        task.cancel()
        await task.value
    }

    @Test("a mix has one file with all tracks, and its row")
    func made() async throws {
        let harness = try await MixingHarness()
        let recording = try await harness.record([(0, Self.second), (2_500, try MixingHarness.tone(seconds: 2))])
        try await working(harness) { mixes in
            try await harness.ask(recording)
            mixes.mix(recording)
            // Requested twice at once.
            mixes.mix(recording)
            let audio = try #require(try await harness.outcome(recording)?.audio)
            // The encoder's look-ahead of the last track is missing.
            #expect((4_490...4_500).contains(audio.duration), "\(audio.duration)")
            let bytes = try harness.bytes(audio.file)
            #expect(bytes.count == Int(audio.byteCount))
            let track = try OpusFile.read(bytes.span.bytes, limit: OpusLimit(seconds: 10))
            #expect(!track.isTruncated && track.sampleCount / 48 == UInt64(audio.duration))
            let row = try #require(try await harness.store.read { try $0.mediaFile(audio.file) })
            #expect(row.kind == .recording && row.resource == recording.text && row.byteCount == bytes.count)
        }
        #expect(try await harness.files.all().count == 3, "and no file is left over")
    }

    @Test("mixes that an earlier process left pending are made first")
    func restarted() async throws {
        let harness = try await MixingHarness()
        let recording = try await harness.record([(0, Self.second)])
        try await harness.ask(recording)
        try await working(harness) { _ in
            let mix = try await harness.outcome(recording)
            #expect(mix?.audio != nil)
        }
    }

    @Test("a stop leaves the mix pending for the next process, and leaves no file")
    func stopped() async throws {
        let harness = try await MixingHarness()
        let recording = try await harness.record([(0, try MixingHarness.tone(seconds: 5)), (3_600_000, Self.second)])
        try await harness.ask(recording)
        try await working(harness) { _ in
            try await eventually { try await harness.files.all().count == 3 }
        }
        #expect(try await harness.document(recording)?.mix == .pending)
        #expect(try await harness.files.all().count == 2)
    }

    @Test("the mix of a removed recording is cancelled, and leaves no file")
    func removed() async throws {
        let harness = try await MixingHarness()
        let recording = try await harness.record([(0, try MixingHarness.tone(seconds: 5)), (3_600_000, Self.second)])
        try await harness.ask(recording)
        try await working(harness) { mixes in
            try await eventually { try await harness.files.all().count == 3 }
            let (commands, principal) = (harness.commands, Principal(user: harness.people[0]))
            let gone = try await harness.store.write { store in
                try commands.removeRecording(recording, by: principal, in: store)
            }.value
            mixes.forget(recording)
            for file in gone.files { try await harness.files.remove(file) }
            #expect(try await harness.outcome(recording) == nil)
            try await eventually { try await harness.files.all().isEmpty }
        }
    }

    @Test("a failure has a message, and the mix can be retried")
    func failed() async throws {
        let harness = try await MixingHarness()
        let whole = Self.second
        let damaged = try await harness.record([(0, whole), (0, Array("no sound at all, of any kind".utf8))])
        let missing = try await harness.record([(0, whole)])
        let file = try #require(try await harness.document(missing)?.tracks.first?.file)
        try await harness.files.remove(file)
        for recording in [damaged, missing] { try await harness.ask(recording) }
        try await working(harness) { mixes in
            guard case .failed(let message) = try await harness.outcome(damaged) else {
                Issue.record("it did not fail")
                return
            }
            #expect(message.contains("damaged") && !message.contains(harness.path), "\(message)")
            #expect(try await harness.outcome(missing) == .failed("A file of the recording is missing."))
            try await harness.files.write(whole, as: file)
            try await harness.ask(missing)
            mixes.mix(missing)
            #expect(try await harness.outcome(missing)?.audio != nil)
        }
    }

    @Test("a full disk has its own message")
    func full() async throws {
        let harness = try await MixingHarness()
        let recording = try await harness.record([(0, Self.second)])
        try await harness.ask(recording)
        let mixes = RecordingMixes(
            store: harness.store, commands: harness.commands,
            files: try .init(path: harness.path + "/media", minFreeBytes: .max),
            logger: Logger(label: "mixes"))
        let task = Task { await mixes.run() }
        #expect(try await harness.outcome(recording) == .failed("The server has no room for more files."))
        task.cancel()
        await task.value
        #expect(try await harness.files.all().count == 1)
    }
}

@Suite("Retention periods")
struct RetentionTests {
    private func retention(_ harness: MixingHarness, _ days: Retention.Days) -> Retention {
        Retention(
            store: harness.store, calls: harness.commands, voice: VoiceCommands(), files: harness.files,
            mixes: RecordingMixes(
                store: harness.store, commands: harness.commands, files: harness.files, logger: Logger(label: "mixes")),
            days: days, logger: Logger(label: "retention"))
    }

    /// A voice message of the first to the second.
    private func send(_ harness: MixingHarness) async throws -> FileID {
        let file = FileID.make(at: harness.now)
        try await harness.files.write([1, 2, 3], as: file)
        let (people, now, commands) = (harness.people, harness.now, ConversationCommands())
        _ = try await harness.store.write { store in
            try store.sql.execute(
                """
                INSERT INTO users (id, display_name, languages, call_waiting, presence, created_at)
                VALUES (?1, 'Ann', '', 0, 'everybody', 0) ON CONFLICT DO NOTHING
                """, [.id(people[0])])
            let audio = VoiceAudio(durationMs: 1, byteCount: 3, contentType: "audio/ogg", waveform: [1], level: -20)
            try store.insert(VoiceFile(id: file, author: people[0], createdAt: now, audio: audio))
            let id = try commands.createGroup(
                name: nil, members: [], id: .make(at: now), by: people[0], in: store
            ).conversation.id
            var outgoing = OutgoingMessage(clientID: .make(at: now), forward: nil, digest: [1])
            outgoing.voice = OutgoingVoice(file: file, isTranscribed: false)
            _ = try commands.send(outgoing, to: id, by: people[0], in: store)
        }
        return file
    }

    @Test("expired items are removed with their files, and others are kept")
    func removed() async throws {
        let harness = try await MixingHarness()
        let old = try await harness.record([(0, [1]), (5, [2])])
        for _ in 0..<60 { _ = try await harness.record([]) }
        let oldMessage = try await send(harness)
        harness.advance(days: 3)
        let new = try await harness.record([(0, [3])])
        let newMessage = try await send(harness)
        #expect(try await harness.files.all().count == 5)
        let removed = Mutex<[FileID]>([])
        harness.store.observeVoice { notice in removed.withLock { $0 += notice.removed } }

        try await retention(harness, .init(recordings: 0, voiceMessages: 0)).sweep()
        #expect(try await harness.files.all().count == 5, "for ever")
        try await retention(harness, .init(recordings: 4, voiceMessages: 4)).sweep()
        #expect(try await harness.files.all().count == 5, "not yet")
        try await retention(harness, .init(recordings: 2, voiceMessages: 0)).sweep()
        #expect(try await harness.document(old) == nil)
        #expect(try await harness.document(new) != nil)
        #expect(try await harness.store.read { try $0.recordings(before: harness.now, limit: 100) }.isEmpty)
        try await retention(harness, .init(recordings: 0, voiceMessages: 2)).sweep()
        #expect(try await harness.store.read { try $0.voiceFile(oldMessage) } == nil)
        #expect(try await harness.store.read { try $0.voiceFile(newMessage)?.location?.number } == 1)
        // The bytes of a voice message are removed by who observes the store.
        #expect(removed.withLock { $0 } == [oldMessage])
        let changeTypes = try await harness.store.read { store in
            let user = "user:\(harness.people[1])"
            return try store.sql.query("SELECT type FROM changes WHERE stream = ?1", [.text(user)]).map {
                try $0.text(0)
            }
        }
        #expect(changeTypes.filter { $0 == "recording.removed" }.count == 61)
    }
}
