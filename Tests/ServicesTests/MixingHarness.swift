import Audio
import Calls
import Containers
import Foundation
import Logging
import MediaFiles
import Model
import Storage
import TestSupport

@testable import Services

/// A store and a directory of files with recordings, on a manual clock.
struct MixingHarness {
    let store: Store
    let files: MediaFiles
    let commands = CallCommands()
    let path: String
    let people: [UserID]
    private let clock: ManualClock<Timestamp>

    init(minFreeBytes: Int = 0) async throws {
        let directory = try ScratchDirectory()
        path = directory.path
        let clock = ManualClock<Timestamp>()
        self.clock = clock
        store = Store(
            database: try SQLiteDatabase(path: directory.database), clock: { clock.now }, publish: { _ in })
        try await store.prepare()
        files = try MediaFiles(path: path + "/media", minFreeBytes: minFreeBytes)
        people = (0..<2).map { _ in UserID.make(at: clock.now) }
    }

    var now: Timestamp { clock.now }
    func advance(days: Int64) { clock.advance(seconds: days * 86_400) }

    var mixes: RecordingMixes {
        RecordingMixes(store: store, commands: commands, files: files, logger: Logger(label: "mixes"))
    }

    /// A recording that has ended, with these files at these offsets.
    func record(_ tracks: [(offset: Int64, bytes: [UInt8])]) async throws -> RecordingID {
        let now = now
        var rows: [Recording.Track] = []
        for (number, track) in tracks.enumerated() {
            let file = FileID.make(at: now)
            try await files.write(track.bytes, as: file)
            rows.append(
                Recording.Track(
                    number: number, user: people[0], endpoint: .make(at: now), source: .microphone,
                    offset: track.offset, file: file, duration: 1_000, byteCount: Int64(track.bytes.count)))
        }
        let (people, tracks) = (people, rows)
        return try await store.write { store in
            let call = Call(
                id: .make(at: now), conversation: nil, kind: .audio, mode: .gateway(epoch: 1), createdAt: now,
                version: 1, status: .ended(.init(reason: .hungUp, by: nil, at: now, answeredAt: now)),
                participants: people.map {
                    Participant(
                        user: $0, displayName: "Somebody", photoURL: nil, isWithheld: false, state: .missed,
                        media: MediaState(for: .audio))
                })
            try store.insert(call)
            let recording = Recording(
                id: .make(at: now), call: call.id, by: people[0], startedAt: now, status: .complete, endedAt: now)
            try store.insert(recording)
            try store.admit(people, to: recording.id)
            for track in tracks {
                try store.insert(track, of: recording.id)
                try store.insert(
                    MediaFile(
                        id: track.file, kind: .recording, resource: recording.id.text, contentType: "audio/ogg",
                        byteCount: 1, createdAt: now, owner: people[0]))
            }
            return recording.id
        }.value
    }

    func ask(_ recording: RecordingID) async throws {
        let (commands, principal) = (commands, Principal(user: people[1]))
        _ = try await store.write { try commands.requestMix(of: recording, by: principal, in: $0) }
    }

    func document(_ recording: RecordingID) async throws -> Recording? {
        try await store.read { try $0.recording(recording) }
    }

    /// Waits for the outcome of a mix in progress.
    func outcome(_ recording: RecordingID) async throws -> RecordingMix? {
        while let mix = try await document(recording)?.mix {
            if mix != .pending { return mix }
            try await Task.sleep(for: .milliseconds(5))
        }
        return nil
    }

    func bytes(_ file: FileID) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(filePath: path + "/media/\(file)")))
    }

    /// An Ogg Opus file with a tone.
    static func tone(seconds: Int) throws -> [UInt8] {
        let encoder = try VoiceEncoder(.full)
        var writer = OggOpusWriter(serial: 1, head: OpusHead(preSkip: encoder.preSkip))
        var file = writer.begin(OpusTags(vendor: "test"))
        let frame = (0..<960).map { Int16(8_000 * sin(Double($0) * .pi / 40)) }
        for _ in 0..<seconds * 50 { file += writer.append(try encoder.encode(frame)[...], duration: 960) }
        return file + writer.end()
    }
}
