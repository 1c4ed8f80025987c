import Gateway
import Logging
import MediaFiles
import MediaGateway
import Model
import Synchronization

/// The file of a voice message that is being recorded. The first thing that is heard is recorded, and nothing else that
/// the same leg may send.
final class TakeFiles: RecordingFiles {
    enum Event: Sendable {
        /// Milliseconds after the recording began.
        case began(offset: Int64)
        /// It has all the bytes that it may have.
        case isFull
    }

    private let files: MediaFiles
    private let file: FileID
    private let limit: Int
    private let logger: Logger
    private let tell: @Sendable (Event) -> Void
    private let isMade = Mutex(false)

    init(
        files: MediaFiles, file: FileID, limit: Int, logger: Logger, tell: @escaping @Sendable (Event) -> Void
    ) {
        self.files = files
        self.file = file
        self.limit = limit
        self.logger = logger
        self.tell = tell
    }

    func make(_ track: RecordedTrack) async throws -> any RecordingFile {
        let isFirst = isMade.withLock { isMade in
            defer { isMade = true }
            return !isMade
        }
        guard isFirst else { return Nowhere() }
        tell(.began(offset: Int64(clamping: track.offset)))
        do {
            return TakeFile(files: self, growing: try await files.append(to: file))
        } catch let error as MediaFileError {
            throw shown(error)
        }
    }

    /// The operator is told all of it, who speaks what concerns them.
    private func shown(_ error: MediaFileError) -> Shown {
        logger.error("a voice message cannot be recorded", metadata: ["reason": "\(error)"])
        return Shown(description: error.problem.detail)
    }

    private final class TakeFile: RecordingFile {
        let files: TakeFiles
        let growing: GrowingFile
        let byteCount = Mutex(0)

        init(files: TakeFiles, growing: GrowingFile) {
            self.files = files
            self.growing = growing
        }

        func append(_ bytes: [UInt8]) async throws {
            let count = byteCount.withLock { count in
                count += bytes.count
                return count
            }
            guard count <= files.limit else {
                files.tell(.isFull)
                return
            }
            do {
                try await growing.append(bytes)
            } catch let error as MediaFileError {
                throw files.shown(error)
            }
        }

        /// What becomes a message is written once more, for good.
        func finish(duration: UInt64?) async throws {}
    }

    private struct Shown: Error, CustomStringConvertible {
        let description: String
    }

    private struct Nowhere: RecordingFile {
        func append(_ bytes: [UInt8]) async throws {}
        func finish(duration: UInt64?) async throws {}
    }
}
