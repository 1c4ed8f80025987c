import Audio
import Calls
import Containers
import MediaFiles
import Model
import Synchronization

/// Mixes one recording, on a thread that may block.
struct MixingWork: Sendable {
    /// How much of each file is in memory at a time.
    private static let chunkByteCount = 16 * 1024

    private let tracks: [Recording.Track]
    private let files: MediaFiles
    private let file: FileID

    init(_ recording: Recording, in files: MediaFiles, to file: FileID) {
        tracks = recording.tracks.filter(\.hasAudio)
        self.files = files
        self.file = file
    }

    /// - Throws: `CancellationError` if it is stopped.
    func run(until stop: MixingStop) throws -> RecordingMix.MixedAudio {
        let growing = try files.appendBlocking(to: file)
        var mix = try VoiceMix(
            tracks.map { voice($0) }, serial: .random(in: .min ... .max),
            tags: OpusTags(vendor: "Switchboard", comments: ["TITLE=mix"]))
        var byteCount: Int64 = 0
        let count = try mix.run { chunk in
            try growing.appendBlocking(chunk)
            byteCount += Int64(chunk.count)
        } check: {
            try stop.check()
        }
        try growing.syncBlocking()
        return RecordingMix.MixedAudio(file: file, byteCount: byteCount, duration: Int64(clamping: count / 48))
    }

    private func voice(_ track: Recording.Track) -> VoiceMix.Voice {
        VoiceMix.Voice(offset: track.offset) { [files] in
            let stored = try files.openBlocking(track.file)
            var position = 0
            return {
                let chunk = try stored.readBlocking(from: position, count: Self.chunkByteCount)
                position += chunk.count
                return chunk
            }
        }
    }
}

/// Tells a thread to stop its work.
final class MixingStop: Sendable {
    private let isStopped = Atomic(false)

    func stop() { isStopped.store(true, ordering: .relaxed) }

    func check() throws { if isStopped.load(ordering: .relaxed) { throw CancellationError() } }
}

/// Error messages for participants, without internals of the server.
enum MixingFailure {
    static func message(for error: any Error) -> String {
        switch error {
        case let error as MediaFileError where error.kind == .missing: "A file of the recording is missing."
        case let error as MediaFileError: error.problem.detail
        case let error as ContainerError: "A file of the recording is damaged: \(error)."
        default: "The recording could not be mixed into one file."
        }
    }
}
