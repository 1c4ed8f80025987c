import Calls
import Containers
import Gateway
package import Logging
package import MediaFiles
package import MediaGateway
package import Model
import Storage
import Synchronization

/// The files of recordings in the media directory, and their rows.
package struct RecordedFiles: RecordingFiles {
    /// The maximum length of a recording that is measured after a crash.
    private static let limit = OpusLimit(seconds: 24 * 3600)

    private let calls: CallService
    private let files: MediaFiles
    private let whip: WHIPSessions
    private let logger: Logger
    private var store: Store { calls.store }
    private var commands: CallCommands { calls.commands }

    package init(calls: CallService, files: MediaFiles, whip: WHIPSessions, logger: Logger) {
        self.calls = calls
        self.files = files
        self.whip = whip
        self.logger = logger
    }

    package func make(_ track: RecordedTrack) async throws -> any RecordingFile {
        guard let recording = RecordingID(track.recording), let call = CallID(track.call),
            let endpoint = EndpointID(track.track.participant)
        else { return DiscardingFile() }
        let file = FileID.make(at: .systemClock())
        let growing: GrowingFile
        do {
            growing = try await files.append(to: file)
        } catch let error as MediaFileError {
            throw userFacing(error)
        }
        let source = LegTrack(track.track).map(\.source) ?? .microphone
        let (commands, others) = (commands, whip.users(in: call))
        let (inserted, owner) = try await store.write { store in
            let inserted = try commands.track(
                endpoint, source, of: recording, in: call, offset: Int64(clamping: track.offset), file: file,
                also: others, in: store)
            let owner = try store.recording(recording)?.by
            guard inserted != nil else { return (inserted, owner) }
            try store.insert(
                MediaFile(
                    id: file, kind: .recording, resource: recording.text, contentType: "audio/ogg", byteCount: 0,
                    createdAt: store.now, owner: owner))
            return (inserted, owner)
        }.value
        guard let inserted, let owner else {
            try await files.remove(file)
            return DiscardingFile()
        }
        return TrackFile(files: self, growing: growing, recording: recording, call: call, owner: owner, track: inserted)
    }

    /// Reserves quota for bytes of a file. Returns false if the quota is exceeded, which ends the recording.
    fileprivate func reserve(_ bytes: Int64, adding more: Int64, for file: TrackFile) async throws -> Bool {
        let (commands, id, owner) = (commands, file.track.file, file.owner)
        do {
            _ = try await store.write { store in
                try commands.rules.quota.check(owner, adding: more, in: store)
                try store.setByteCount(bytes, of: id)
            }
            return true
        } catch let problem as Problem where problem.kind == .quotaExceeded {
            let (calls, recording, call) = (calls, file.recording, file.call)
            try await calls.note { store, commands in
                try commands.recordingExceededQuota(recording, of: call, at: store.now, in: store)
            }
            return false
        }
    }

    /// Logs the error, and returns the part of it that is for participants.
    fileprivate func userFacing(_ error: MediaFileError) -> UserFacingError {
        logger.error("a recording cannot be written", metadata: ["reason": "\(error)"])
        return UserFacingError(description: error.problem.detail)
    }

    fileprivate func close(_ track: Recording.Track, of recording: RecordingID, duration: Int64) async throws {
        let number = track.number
        let isKept = try await store.read { store in
            try store.recording(recording)?.tracks.contains { $0.number == number } ?? false
        }
        // The account of its user was deleted meanwhile.
        guard isKept else { return }
        var track = track
        track.duration = duration
        track.byteCount = Int64(try await files.open(track.file).byteCount)
        let whole = track
        _ = try await store.write { try $0.close(whole, of: recording) }
    }

    /// Finishes recordings that an earlier process left unfinished; their files are playable as far as they go. Returns
    /// the ids of these recordings.
    package func recover() async throws -> [RecordingID] {
        let left = try await store.read { try $0.ongoingRecordings() }
        for recording in left {
            var last: Int64 = 0
            for track in recording.tracks {
                var duration = track.duration ?? 0
                if track.duration == nil {
                    duration = await self.duration(of: track.file)
                    try await close(track, of: recording.id, duration: duration)
                }
                last = max(last, track.offset + duration)
            }
            let end = recording.startedAt.adding(milliseconds: last)
            let commands = calls.commands
            _ = try await store.write {
                try commands.recordingInterrupted(recording.id, endedAt: end, at: $0.now, in: $0)
            }
        }
        return left.map(\.id)
    }

    /// The duration in milliseconds; 0 if nothing can be decoded.
    fileprivate func duration(of file: FileID) async -> Int64 {
        var stream = OggOpusStream(limit: Self.limit)
        var count: UInt64 = 0
        do {
            let stored = try await files.open(file)
            try await stored.read(0..<stored.byteCount) { bytes in
                stream.append(bytes)
                while let page = try stream.nextPage() { count += page.reduce(0) { $0 + UInt64($1.duration) } }
            }
            let skipped = min(UInt64(stream.head?.preSkip ?? 0), count)
            return Int64(clamping: (stream.sampleCount ?? count - skipped) / 48)
        } catch {
            return 0
        }
    }
}

/// The file of a track that is being recorded.
private final class TrackFile: RecordingFile {
    /// How many bytes are reserved at a time: a quarter of a minute of speech.
    private static let reservation: Int64 = 64 * 1024

    private struct Count {
        var written: Int64 = 0
        /// Bytes that count towards the owner's quota.
        var reserved: Int64 = 0
        var isFull = false
    }

    let files: RecordedFiles
    let growing: GrowingFile
    let recording: RecordingID
    let call: CallID
    let owner: UserID
    let track: Recording.Track
    private let count = Mutex(Count())

    init(
        files: RecordedFiles, growing: GrowingFile, recording: RecordingID, call: CallID, owner: UserID,
        track: Recording.Track
    ) {
        self.files = files
        self.growing = growing
        self.recording = recording
        self.call = call
        self.owner = owner
        self.track = track
    }

    /// Once the quota is exceeded, nothing more is written: the recording is about to end.
    func append(_ bytes: [UInt8]) async throws {
        let reserved = count.withLock { count -> Int64? in
            count.written += Int64(bytes.count)
            return count.written > count.reserved && !count.isFull ? count.reserved : nil
        }
        if let reserved {
            let more = max(Self.reservation, Int64(bytes.count))
            let isReserved = try await files.reserve(reserved + more, adding: more, for: self)
            count.withLock { count in
                count.reserved = reserved + more
                count.isFull = !isReserved
            }
        }
        if count.withLock({ $0.isFull }) { return }
        do {
            try await growing.append(bytes)
        } catch let error as MediaFileError {
            throw files.userFacing(error)
        }
    }

    func finish(duration: UInt64?) async throws {
        do {
            try await growing.sync()
        } catch let error as MediaFileError {
            throw files.userFacing(error)
        }
        let length: Int64 =
            if let duration { Int64(clamping: duration) } else { await files.duration(of: track.file) }
        try await files.close(track, of: recording, duration: length)
    }
}

/// An error with a message for participants.
private struct UserFacingError: Error, CustomStringConvertible {
    let description: String
}

/// Discards the audio of an endpoint that is no longer known.
private struct DiscardingFile: RecordingFile {
    func append(_ bytes: [UInt8]) async throws {}
    func finish(duration: UInt64?) async throws {}
}
