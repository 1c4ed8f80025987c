import Calls
import Logging
import MediaFiles
import Metrics
import Model
import Storage
import Voice
import WebAPI

/// Removes recordings and voice messages that are older than they are to be kept, with their files and all that was made
/// of them, a few at a time. Everybody who had them is told as when a person removes them.
struct Retention: Sendable {
    /// Days; 0 for ever.
    struct Days: Hashable, Sendable {
        var recordings = 0
        var voiceMessages = 0
    }

    private static let batch = 50

    let store: Store
    let calls: CallCommands
    let voice: VoiceCommands
    let files: MediaFiles
    let days: Days
    /// Told of each recording that goes.
    let forget: @Sendable (RecordingID) -> Void
    let logger: Logger

    func sweep() async throws {
        let (calls, voice) = (calls, voice)
        if days.recordings > 0 {
            try await remove("recording", olderThan: days.recordings) { [forget] time, store in
                let old = try calls.removeRecordings(before: time, limit: Self.batch, in: store)
                return Removed(count: old.count, files: old.flatMap(\.files)) {
                    for recording in old { forget(recording.id) }
                }
            }
        }
        if days.voiceMessages > 0 {
            try await remove("voice", olderThan: days.voiceMessages) { time, store in
                let old = try voice.removeMessages(before: time, limit: Self.batch, in: store)
                return Removed(count: old.count, files: old.map(\.file)) {}
            }
        }
    }

    // No tuple: Swift 6.3's optimizer crashes on one with a closure that comes out of a closure.
    private struct Removed: Sendable {
        let count: Int
        let files: [FileID]
        /// To be done once it is so for good.
        let committed: @Sendable () -> Void
    }

    /// In small transactions, so that nobody waits for it.
    private func remove(
        _ kind: String, olderThan days: Int, _ body: @escaping @Sendable (Timestamp, StoreTransaction) throws -> Removed
    ) async throws {
        var total = 0
        while !Task.isCancelled {
            let removed = try await store.write { store in
                try body(store.now.adding(seconds: Int64(days) * -86_400), store)
            }.value
            removed.committed()
            // What cannot be removed now belongs to nothing, and goes with the next start.
            for file in removed.files { try? await files.remove(file) }
            Counter(label: "retention_removed_total", dimensions: [("kind", kind)]).increment(by: removed.count)
            total += removed.count
            if removed.count < Self.batch { break }
        }
        if total > 0 {
            logger.notice("removed what was kept for long enough", metadata: ["kind": "\(kind)", "count": "\(total)"])
        }
    }
}
