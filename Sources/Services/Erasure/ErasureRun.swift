import Accounts
import Calls
import Friends
import Logging
import MediaFiles
import Messaging
import Model
import Storage
import Voice

/// One claimed erasure: its steps in their order, from where an earlier claim left off.
struct ErasureRun {
    /// Tokens of a sign-in that ended before have expired, also if the clock was set back a little.
    private static let tokenSeconds: Int64 = 1200
    /// Entries of the log that are read at a time.
    private static let entriesRead = 2000

    private var erasure: Erasure
    private let eraser: AccountEraser
    private var renewedAt = ContinuousClock.now
    private var store: Store { eraser.store }

    init(_ erasure: Erasure, _ eraser: AccountEraser) {
        self.erasure = erasure
        self.eraser = eraser
    }

    mutating func finish() async throws {
        while true {
            try await run(erasure.step)
            guard let next = erasure.step.next else { break }
            (erasure.step, erasure.cursor) = (next, "")
            try await renew()
        }
        let erasure = erasure
        _ = try await store.write { try $0.remove(erasure) }
    }

    private mutating func run(_ step: ErasureStep) async throws {
        let (user, batch) = (erasure.user, AccountEraser.batch)
        switch step {
        case .friends: try await leaveFriends()
        case .messages:
            while true {
                let cursor = ClientID(erasure.cursor)
                let next = try await transaction {
                    try ConversationCommands().eraseMessages(of: user, after: cursor, limit: batch, in: $0)
                }
                guard let next else { break }
                erasure.cursor = next.text
            }
            while try await transaction({ try MessageIndexer().forgetDeleted(in: $0) }) {}
            let author = eraser.phrases.author(user)
            while try await transaction({ try $0.removePhrases(by: author, limit: batch) }) > 0 {}
        case .reactions:
            while try await transaction({
                try ConversationCommands().eraseReactions(of: user, limit: batch, in: $0)
            }) > 0 {}
        case .conversations:
            while true {
                let cursor = ConversationID(erasure.cursor)
                let next = try await transaction {
                    try ConversationCommands().leaveGroups(of: user, after: cursor, limit: batch, in: $0)
                }
                guard let next else { break }
                erasure.cursor = next.text
            }
        case .calls: try await leaveCalls()
        case .voiceMessages: try await eraseVoiceMessages()
        case .recordings: try await eraseTracks()
        case .rows:
            for rule in ErasurePlan.rowsToRemove {
                while try await transaction({ try $0.eraseRows(rule, of: user, limit: batch) }) > 0 {}
            }
            while try await transaction({ store in
                try store.eraseSignIns(
                    of: user, endedBefore: store.now.adding(seconds: -Self.tokenSeconds), limit: batch)
            }) > 0 {}
        case .participants:
            while true {
                let cursor = erasure.cursor
                let next = try await transaction {
                    try $0.eraseParticipations(of: user, after: cursor, limit: batch)
                }
                guard let next else { break }
                erasure.cursor = next
            }
        case .signals: try await eraseSignals()
        case .events:
            while true {
                let cursor = Int64(erasure.cursor) ?? 0
                let next = try await transaction {
                    try $0.redactEvents(of: user, after: cursor, limit: Self.entriesRead)
                }
                guard let next else { break }
                erasure.cursor = String(next)
            }
        case .log: try await eraseLog()
        case .checkpoint:
            // Something may have been kept that was being sent when the account was deleted.
            eraser.discard(user)
            try await checkpoint()
        }
    }

    private mutating func leaveFriends() async throws {
        let (user, batch) = (erasure.user, AccountEraser.batch)
        while try await transaction({ try $0.removeFriendRecords(about: user, limit: batch) }) > 0 {}
        while try await transaction({ try $0.eraseReports(by: user, limit: batch) }) > 0 {}
    }

    private mutating func leaveCalls() async throws {
        let (user, photo) = (erasure.user, erasure.photo)
        eraser.discard(user)
        try await eraser.calls.noteAll { store, commands in try commands.withdraw(user, at: store.now, in: store) }
        guard let photo else { return }
        try await transaction { try $0.removeMediaFile(photo) }
        await remove([photo])
    }

    private mutating func eraseVoiceMessages() async throws {
        let (user, voice) = (erasure.user, eraser.voice)
        while try await transaction({
            try voice.removeUnsent(of: user, limit: AccountEraser.batch / 2, in: $0)
        }) > 0 {}
    }

    private mutating func eraseTracks() async throws {
        let (user, commands) = (erasure.user, eraser.calls.commands)
        while true {
            let erased = try await transaction {
                try commands.eraseTracks(of: user, limit: AccountEraser.batch / 4, in: $0)
            }
            guard erased.count > 0 else { return }
            for recording in erased.recordings { eraser.mixes.forget(recording) }
            await remove(erased.files)
        }
    }

    private mutating func eraseSignals() async throws {
        let user = erasure.user
        while try await transaction({ try $0.removeEndedSignals(limit: AccountEraser.batch) }) {}
        while true {
            let kept = try await store.read { try $0.keptSignals(of: user, limit: AccountEraser.batch) }
            guard !kept.isEmpty else { return }
            try await transaction { store in
                for signal in kept { try store.removeSignal(signal.clientID, of: user, in: signal.call) }
            }
        }
    }

    private mutating func eraseLog() async throws {
        let user = erasure.user
        while try await transaction({ try $0.eraseStream(of: user, limit: AccountEraser.batch) }) {}
        // Later entries show a deleted user.
        let end = try await store.read { try $0.lastEntry() }
        var position = Int64(erasure.cursor) ?? 0
        while position < end {
            let after = position
            let found = try await store.read {
                try $0.entriesNaming(user, after: after, limit: Self.entriesRead)
            }
            guard let last = found.last else { return }
            try await eraseEntries(found)
            position = last
            erasure.cursor = String(last)
            if ContinuousClock.now - renewedAt > .seconds(AccountEraser.leaseSeconds / 4) { try await renew() }
        }
    }

    private mutating func eraseEntries(_ found: NamingEntries) async throws {
        var streams = found.streams.map { (stream: $0.key, sequences: $0.value) }
        while !streams.isEmpty {
            let left = streams
            let count = try await transaction { store in
                var rows = 0
                for (index, (stream, sequences)) in left.enumerated() {
                    let limit = AccountEraser.batch - rows
                    let removed = try store.eraseEntries(sequences, of: stream, limit: limit)
                    guard removed < limit else { return index }
                    rows += max(1, removed)
                }
                return left.count
            }
            streams.removeFirst(count)
        }
    }

    private mutating func checkpoint() async throws {
        while true {
            do {
                return try await store.database.checkpoint()
            } catch let error as SQLError where error.kind == .locked {
                // A long read, such as a backup, still needs the log.
                try await Task.sleep(for: .seconds(1))
                try await renew()
            }
        }
    }

    private mutating func renew() async throws { try await transaction { _ in } }

    /// Runs a part of the erasure in one transaction that renews the lease, and then leaves time to others.
    @discardableResult
    private mutating func transaction<T: Sendable>(
        _ body: @escaping @Sendable (StoreTransaction) throws -> T
    ) async throws -> T {
        let erasure = erasure
        let start = ContinuousClock.now
        let result = try await store.write { store in
            guard try store.save(erasure, seconds: AccountEraser.leaseSeconds) else { throw LostClaim() }
            return try body(store)
        }.value
        renewedAt = ContinuousClock.now
        try await Task.sleep(for: min((renewedAt - start) * 3, .milliseconds(50)))
        return result
    }

    /// A file that cannot be removed now is an orphan, which the next start removes.
    private func remove(_ removed: [FileID]) async {
        for file in removed {
            do {
                try await eraser.files.remove(file)
            } catch {
                eraser.logger.error("a deleted user's file could not be removed", metadata: ["error": "\(error)"])
            }
        }
    }

    private struct LostClaim: Error, CustomStringConvertible {
        let description = "Another process has claimed it."
    }
}
