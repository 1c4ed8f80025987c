internal import Accounts
import Calls
package import Logging
package import MediaFiles
package import Model
import ServiceLifecycle
internal import Storage
package import Voice

/// Erases what is stored of deleted users, as `ErasurePlan` says, within a minute of the deletion.
///
/// An erasure is a row, claimed by lease and fence, so that it goes on after a crash. It works in small transactions
/// with pauses, so that other writers hardly notice it. Each transaction renews the lease, and is rolled back if
/// somebody else has claimed the erasure meanwhile.
package final class AccountEraser: Service {
    static let leaseSeconds: Int64 = 20
    /// Rows of one transaction.
    static let batch = 50
    private static let interval = Duration.seconds(10)

    let calls: CallService
    let voice: VoiceCommands
    let files: MediaFiles
    let mixes: RecordingMixes
    let phrases: PhraseMemory
    /// Ends what a user has in memory: legs, and recordings that were not sent.
    let discard: @Sendable (UserID) -> Void
    let logger: Logger
    private let wakes = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    package init(
        calls: CallService, voice: VoiceCommands, files: MediaFiles, mixes: RecordingMixes,
        phrases: PhraseMemory, discard: @escaping @Sendable (UserID) -> Void, logger: Logger
    ) {
        self.calls = calls
        self.voice = voice
        self.files = files
        self.mixes = mixes
        self.phrases = phrases
        self.discard = discard
        self.logger = logger
    }

    var store: Store { calls.store }

    /// There is an erasure to be done.
    package func wake() { wakes.continuation.yield() }

    package func run() async {
        await cancelWhenGracefulShutdown { [self] in
            await withDiscardingTaskGroup { group in
                // Also claims what was left when another lease ended.
                group.addTask {
                    while !Task.isCancelled {
                        self.wake()
                        try? await Task.sleep(for: Self.interval)
                    }
                }
                for await _ in wakes.stream { await eraseAll() }
            }
        }
    }

    private func eraseAll() async {
        do {
            while !Task.isCancelled, let erasure = try await claim() { try await erase(erasure) }
        } catch {
            // The lease ends, and it is tried again.
            if !Task.isCancelled, (error as? SQLError)?.kind != .diskFull {
                logger.error("a deleted account could not be erased", metadata: ["error": "\(error)"])
            }
        }
    }

    private func claim() async throws -> Erasure? {
        // Most of the time there is nothing to claim, which needs no write.
        guard try await store.read({ try $0.erasureCount() }) > 0 else { return nil }
        return try await store.write { try $0.claimErasure(seconds: Self.leaseSeconds) }.value
    }

    private func erase(_ erasure: Erasure) async throws {
        var run = ErasureRun(erasure, self)
        try await run.finish()
        logger.notice("a deleted account was erased", metadata: ["user": "\(erasure.user)"])
    }
}
