package import Calls
package import Logging
package import MediaFiles
import Messaging
import Metrics
import Model
package import Storage
package import Voice

/// Removes recordings and voice messages past their retention period, with their files and everything derived from
/// them, in small batches, and voice files that were not sent. Users are notified as when a person removes them.
package struct Retention: Sendable {
    /// Retention periods in days; 0 keeps them for ever.
    package struct Days: Hashable, Sendable {
        package var recordings: Int
        package var voiceMessages: Int

        package init(recordings: Int, voiceMessages: Int) {
            self.recordings = recordings
            self.voiceMessages = voiceMessages
        }
    }

    private static let batch = 50

    private let store: Store
    private let calls: CallCommands
    private let voice: VoiceCommands
    private let files: MediaFiles
    private let mixes: RecordingMixes
    private let days: Days
    private let logger: Logger

    package init(
        store: Store, calls: CallCommands, voice: VoiceCommands, files: MediaFiles, mixes: RecordingMixes, days: Days,
        logger: Logger
    ) {
        self.store = store
        self.calls = calls
        self.voice = voice
        self.files = files
        self.mixes = mixes
        self.days = days
        self.logger = logger
    }

    package func sweep() async throws {
        let calls = calls
        try await removeUnsent()
        if days.recordings > 0 {
            try await remove("recording", olderThan: days.recordings) { [mixes] time, store in
                let old = try calls.removeRecordings(before: time, limit: Self.batch, in: store)
                return Removed(count: old.count, files: old.flatMap(\.files)) {
                    for recording in old { mixes.forget(recording.id) }
                }
            }
        }
        if days.voiceMessages > 0 {
            try await remove("voice", olderThan: days.voiceMessages) { time, store in
                let count = try ConversationCommands().eraseVoiceMessages(before: time, limit: Self.batch, in: store)
                return Removed(count: count, files: []) {}
            }
        }
    }

    /// Voice files that were not sent in time.
    private func removeUnsent() async throws {
        let voice = voice
        while !Task.isCancelled {
            let count = try await store.write { store in
                try voice.removeUnsent(limit: Self.batch, at: store.now, in: store)
            }.value
            if count < Self.batch { return }
        }
    }

    // No tuple: Swift 6.3's optimizer crashes on one with a closure that comes out of a closure.
    private struct Removed: Sendable {
        let count: Int
        let files: [FileID]
        /// To be run after the commit.
        let committed: @Sendable () -> Void
    }

    /// Works in small transactions, so that other writers do not wait.
    private func remove(
        _ kind: String, olderThan days: Int, _ body: @escaping @Sendable (Timestamp, StoreTransaction) throws -> Removed
    ) async throws {
        var total = 0
        while !Task.isCancelled {
            let removed = try await store.write { store in
                try body(store.now.adding(seconds: Int64(days) * -86_400), store)
            }.value
            removed.committed()
            // A file that cannot be removed now is an orphan, which the next start removes.
            for file in removed.files { try? await files.remove(file) }
            Counter(label: "retention_removed_total", dimensions: [("kind", kind)]).increment(by: removed.count)
            total += removed.count
            if removed.count < Self.batch { break }
        }
        if total > 0 {
            logger.notice(
                "removed items past their retention period", metadata: ["kind": "\(kind)", "count": "\(total)"])
        }
    }
}
