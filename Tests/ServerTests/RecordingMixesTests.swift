import Calls
import Containers
import Foundation
import Logging
import MediaFiles
import Model
import Storage
import Testing
import Voice

@testable import Server

@Suite("Mixes of recordings, made in the background")
struct RecordingMixesTests {
    private static let second = (try? MixingLab.tone(seconds: 1)) ?? []

    /// Runs the worker for as long as the test takes.
    private func working(_ lab: MixingLab, _ test: (RecordingMixes) async throws -> Void) async throws {
        let mixes = lab.mixes
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

    @Test("one file with all tracks, and its row")
    func made() async throws {
        let lab = try await MixingLab()
        defer { lab.clean() }
        let recording = try await lab.record([(0, Self.second), (2_500, try MixingLab.tone(seconds: 2))])
        try await working(lab) { mixes in
            try await lab.ask(recording)
            mixes.mix(recording)
            // Asked for twice at once.
            mixes.mix(recording)
            let sound = try #require(try await lab.outcome(recording)?.sound)
            // The encoder's look-ahead is not heard of the last track.
            #expect((4_490...4_500).contains(sound.duration), "\(sound.duration)")
            let bytes = try lab.bytes(sound.file)
            #expect(bytes.count == Int(sound.byteCount))
            let track = try OpusFile.read(bytes.span.bytes, limit: OpusLimit(seconds: 10))
            #expect(!track.isCutOff && track.sampleCount / 48 == UInt64(sound.duration))
            let row = try #require(try await lab.store.read { try $0.mediaFile(sound.file) })
            #expect(row.kind == .recording && row.resource == recording.text && row.byteCount == bytes.count)
        }
        #expect(try await lab.files.all().count == 3, "and no file is left over")
    }

    @Test("what a process before left pending is done first")
    func restarted() async throws {
        let lab = try await MixingLab()
        defer { lab.clean() }
        let recording = try await lab.record([(0, Self.second)])
        try await lab.ask(recording)
        try await working(lab) { _ in
            let mix = try await lab.outcome(recording)
            #expect(mix?.sound != nil)
        }
    }

    @Test("a stop leaves it pending for the next process, and no file")
    func stopped() async throws {
        let lab = try await MixingLab()
        defer { lab.clean() }
        let recording = try await lab.record([(0, try MixingLab.tone(seconds: 5)), (3_600_000, Self.second)])
        try await lab.ask(recording)
        try await working(lab) { _ in
            while try await lab.files.all().count < 3 { try await Task.sleep(for: .milliseconds(1)) }
        }
        #expect(try await lab.document(recording)?.mix == .pending)
        #expect(try await lab.files.all().count == 2)
    }

    @Test("one that is removed meanwhile is given up, and leaves no file")
    func removed() async throws {
        let lab = try await MixingLab()
        defer { lab.clean() }
        let recording = try await lab.record([(0, try MixingLab.tone(seconds: 5)), (3_600_000, Self.second)])
        try await lab.ask(recording)
        try await working(lab) { mixes in
            while try await lab.files.all().count < 3 { try await Task.sleep(for: .milliseconds(1)) }
            let (commands, principal) = (lab.commands, Principal(user: lab.people[0]))
            let gone = try await lab.store.write { store in
                try commands.removeRecording(recording, by: principal, in: store)
            }.value
            mixes.forget(recording)
            for file in gone.files { try await lab.files.remove(file) }
            #expect(try await lab.outcome(recording) == nil)
            while try await !lab.files.all().isEmpty { try await Task.sleep(for: .milliseconds(1)) }
        }
    }

    @Test("what stands in the way is told in words, and can be tried again")
    func failed() async throws {
        let lab = try await MixingLab()
        defer { lab.clean() }
        let whole = Self.second
        let damaged = try await lab.record([(0, whole), (0, Array("no sound at all, of any kind".utf8))])
        let missing = try await lab.record([(0, whole)])
        let file = try #require(try await lab.document(missing)?.tracks.first?.file)
        try await lab.files.remove(file)
        for recording in [damaged, missing] { try await lab.ask(recording) }
        try await working(lab) { mixes in
            guard case .failed(let words) = try await lab.outcome(damaged) else {
                Issue.record("it did not fail")
                return
            }
            #expect(words.contains("damaged") && !words.contains(lab.place), "\(words)")
            #expect(try await lab.outcome(missing) == .failed("A file of the recording is not there any more."))
            try await lab.files.write(whole, as: file)
            try await lab.ask(missing)
            mixes.mix(missing)
            #expect(try await lab.outcome(missing)?.sound != nil)
        }
    }

    @Test("a full disk is told as one")
    func full() async throws {
        let lab = try await MixingLab()
        defer { lab.clean() }
        let recording = try await lab.record([(0, Self.second)])
        try await lab.ask(recording)
        let mixes = RecordingMixes(
            store: lab.store, commands: lab.commands, files: try .init(path: lab.place + "/media", minFreeBytes: .max),
            logger: Logger(label: "mixes"))
        let task = Task { await mixes.run() }
        #expect(try await lab.outcome(recording) == .failed("The server has no room for more files."))
        task.cancel()
        await task.value
        #expect(try await lab.files.all().count == 1)
    }
}

@Suite("What is kept for so many days")
struct RetentionTests {
    private func retention(_ lab: MixingLab, _ days: Retention.Days) -> Retention {
        Retention(
            store: lab.store, calls: lab.commands, voice: VoiceCommands(), files: lab.files, days: days,
            forget: { _ in }, logger: Logger(label: "retention"))
    }

    private func send(_ lab: MixingLab) async throws -> VoiceMessage {
        let file = FileID.make(at: lab.now)
        try await lab.files.write([1, 2, 3], as: file)
        let message = VoiceMessage(
            id: .make(at: lab.now), from: lab.people[0], to: lab.people[1], createdAt: lab.now,
            sound: VoiceSound(durationMs: 1, byteCount: 3, contentType: "audio/ogg", waveform: [1], level: -20),
            file: file)
        _ = try await lab.store.write { try $0.insert(message) }
        return message
    }

    @Test("goes then with its files, and nothing else does")
    func removed() async throws {
        let lab = try await MixingLab()
        defer { lab.clean() }
        let old = try await lab.record([(0, [1]), (5, [2])])
        for _ in 0..<60 { _ = try await lab.record([]) }
        let oldMessage = try await send(lab)
        lab.advance(days: 3)
        let new = try await lab.record([(0, [3])])
        let newMessage = try await send(lab)
        #expect(try await lab.files.all().count == 5)

        try await retention(lab, .init()).sweep()
        #expect(try await lab.files.all().count == 5, "for ever")
        try await retention(lab, .init(recordings: 4, voiceMessages: 4)).sweep()
        #expect(try await lab.files.all().count == 5, "not yet")
        try await retention(lab, .init(recordings: 2, voiceMessages: 0)).sweep()
        #expect(try await lab.document(old) == nil)
        #expect(try await lab.document(new) != nil)
        #expect(try await lab.store.read { try $0.recordings(before: lab.now, limit: 100) }.isEmpty)
        try await retention(lab, .init(recordings: 0, voiceMessages: 2)).sweep()
        #expect(try await lab.store.read { try $0.voiceMessage(oldMessage.id) } == nil)
        #expect(try await lab.store.read { try $0.voiceMessage(newMessage.id) } == newMessage)
        let track = try #require(try await lab.document(new)?.tracks.first?.file)
        #expect(try await Set(lab.files.all()) == [track, newMessage.file])
        let told = try await lab.store.read { store in
            try store.sql.query("SELECT type FROM changes WHERE stream = ?1", [.text("user:\(lab.people[1])")]).map {
                try $0.text(0)
            }
        }
        #expect(told.filter { $0 == "recording.removed" }.count == 61)
        #expect(told.filter { $0 == "voice.removed" }.count == 1)
    }
}
