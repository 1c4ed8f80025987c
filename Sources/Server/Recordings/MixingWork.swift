import Audio
import Calls
import Containers
import MediaFiles
import Model
import Synchronization

/// Mixes one recording, on a thread that is there to be blocked.
struct MixingWork: Sendable {
    /// So much of each file is in memory at a time.
    private static let pieceByteCount = 16 * 1024

    private let tracks: [Recording.Track]
    private let files: MediaFiles
    private let file: FileID

    init(_ recording: Recording, in files: MediaFiles, to file: FileID) {
        tracks = recording.tracks.filter(\.isHeard)
        self.files = files
        self.file = file
    }

    /// - Throws: `CancellationError` when it is stopped.
    func run(until stop: MixingStop) throws -> RecordingMix.Sound {
        let growing = try files.appendBlocking(to: file)
        var mix = try VoiceMix(
            tracks.map { voice($0) }, serial: .random(in: .min ... .max),
            tags: OpusTags(vendor: "Switchboard", comments: ["TITLE=mix"]))
        var byteCount: Int64 = 0
        let count = try mix.run { piece in
            try growing.appendBlocking(piece)
            byteCount += Int64(piece.count)
        } check: {
            try stop.check()
        }
        try growing.syncBlocking()
        return RecordingMix.Sound(file: file, byteCount: byteCount, duration: Int64(clamping: count / 48))
    }

    private func voice(_ track: Recording.Track) -> VoiceMix.Voice {
        VoiceMix.Voice(offset: track.offset) { [files] in
            let stored = try files.openBlocking(track.file)
            var position = 0
            return {
                let piece = try stored.readBlocking(from: position, count: Self.pieceByteCount)
                position += piece.count
                return piece
            }
        }
    }
}

/// Tells a thread that its work is not wanted any more.
final class MixingStop: Sendable {
    private let isStopped = Atomic(false)

    func stop() { isStopped.store(true, ordering: .relaxed) }

    func check() throws { if isStopped.load(ordering: .relaxed) { throw CancellationError() } }
}

/// Errors in words for participants: nothing of the server's insides.
enum MixingFailure {
    static func words(_ error: any Error) -> String {
        switch error {
        case let error as MediaFileError where error.kind == .missing: "A file of the recording is not there any more."
        case let error as MediaFileError: error.problem.detail
        case let error as ContainerError: "A file of the recording is damaged: \(error)."
        default: "The recording could not be put into one file."
        }
    }
}
