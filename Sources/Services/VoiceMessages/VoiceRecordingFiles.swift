import Gateway
import Logging
import MediaFiles
import MediaGateway
import Model
import Synchronization

/// The file of a voice message that is being recorded. Only the first audio track of the leg is recorded.
final class VoiceRecordingFiles: RecordingFiles {
    enum Event: Sendable {
        /// Milliseconds since the recording began.
        case began(offset: Int64)
        /// The file has reached its maximum size.
        case isFull
    }

    private let files: MediaFiles
    private let file: FileID
    private let limit: Int
    private let logger: Logger
    private let notify: @Sendable (Event) -> Void
    private let isMade = Mutex(false)

    init(
        files: MediaFiles, file: FileID, limit: Int, logger: Logger, notify: @escaping @Sendable (Event) -> Void
    ) {
        self.files = files
        self.file = file
        self.limit = limit
        self.logger = logger
        self.notify = notify
    }

    func make(_ track: RecordedTrack) async throws -> any RecordingFile {
        let isFirst = isMade.withLock { isMade in
            defer { isMade = true }
            return !isMade
        }
        guard isFirst else { return DiscardingFile() }
        notify(.began(offset: Int64(clamping: track.offset)))
        do {
            return VoiceRecordingFile(files: self, growing: try await files.append(to: file))
        } catch let error as MediaFileError {
            throw userFacing(error)
        }
    }

    /// Logs the error, and returns the part of it that is for the speaker.
    private func userFacing(_ error: MediaFileError) -> UserFacingError {
        logger.error("a voice message cannot be recorded", metadata: ["reason": "\(error)"])
        return UserFacingError(description: error.problem.detail)
    }

    private final class VoiceRecordingFile: RecordingFile {
        let files: VoiceRecordingFiles
        let growing: GrowingFile
        let byteCount = Mutex(0)

        init(files: VoiceRecordingFiles, growing: GrowingFile) {
            self.files = files
            self.growing = growing
        }

        func append(_ bytes: [UInt8]) async throws {
            let count = byteCount.withLock { count in
                count += bytes.count
                return count
            }
            guard count <= files.limit else {
                files.notify(.isFull)
                return
            }
            do {
                try await growing.append(bytes)
            } catch let error as MediaFileError {
                throw files.userFacing(error)
            }
        }

        /// Nothing to do: the voice file that is made of it is another file.
        func finish(duration: UInt64?) async throws {}
    }

    private struct UserFacingError: Error, CustomStringConvertible {
        let description: String
    }

    private struct DiscardingFile: RecordingFile {
        func append(_ bytes: [UInt8]) async throws {}
        func finish(duration: UInt64?) async throws {}
    }
}
