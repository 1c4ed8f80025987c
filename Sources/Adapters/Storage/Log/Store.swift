internal import Foundation
package import Model
internal import Synchronization
internal import Webhooks

/// The result of a write and the positions of its changes, by which a client knows when it has received them.
package struct Committed<Value: Sendable>: Sendable {
    package let value: Value
    package let positions: [StreamName: Position]

    package func map<Other>(_ body: (Value) -> Other) -> Committed<Other> {
        Committed<Other>(value: body(value), positions: positions)
    }
}

/// The store: rows and the log of changes, written together.
///
/// A write is a job over a `StoreTransaction`. What it appends to streams is part of its transaction and is passed to
/// `publish` once it is durable: never before, never for a job that failed, and in the order of the commits. So a
/// listener never sees a change that a crash loses, and each stream's changes arrive in sequence.
package final class Store: Sendable {
    package let database: any SQLDatabase
    private let publish: @Sendable ([Change]) -> Void
    private let clock: @Sendable () -> Timestamp
    private let isConnected: @Sendable (EndpointID) -> Bool
    private let subscriptions = Mutex(WebhookSubscriptions())
    private let eventObservers = Mutex<[@Sendable (EventNotice) -> Void]>([])

    /// - Parameters:
    ///   - isConnected: whether an endpoint has a realtime session, for events.
    ///   - publish: gets the changes of one committed job. It is called on the writer's thread and must be brief.
    package init(
        database: any SQLDatabase, clock: @escaping @Sendable () -> Timestamp = Timestamp.systemClock,
        isConnected: @escaping @Sendable (EndpointID) -> Bool = { _ in false },
        publish: @escaping @Sendable ([Change]) -> Void
    ) {
        self.database = database
        self.publish = publish
        self.clock = clock
        self.isConnected = isConnected
    }

    /// Adds an observer of commits that wrote events or deliveries, or changed webhooks. It is called on the writer's
    /// thread, after the commit, and must be brief.
    package func observeEvents(_ observer: @escaping @Sendable (EventNotice) -> Void) {
        eventObservers.withLock { $0.append(observer) }
    }

    /// Migrates the database, sets the log's epoch and reads the subscriptions; call it before anything else. Returns the
    /// migrations that were run.
    @discardableResult
    package func prepare(_ migrations: [Migration] = DatabaseSchema.migrations) async throws -> [Migration] {
        let now = clock()
        let run = try await database.migrate(migrations, at: now)
        _ = try await database.submit { transaction in
            try transaction.execute(
                "INSERT INTO log (id, epoch) VALUES (1, ?1) ON CONFLICT (id) DO NOTHING",
                [.text(Self.newEpoch(at: now))])
        }
        if migrations.contains(where: { $0.number == DatabaseSchema.webhooks.last?.number }) {
            let known = try await read { WebhookSubscriptions(try $0.webhooks()) }
            subscriptions.withLock { $0 = known }
        }
        return run
    }

    /// Runs `job` and commits it. `committed` is called after `publish`, also on the writer's thread, with the job's
    /// result: for work that must happen in the order of the commits.
    package func write<T: Sendable>(
        _ job: @escaping @Sendable (StoreTransaction) throws -> T, committed: (@Sendable (T) -> Void)? = nil
    ) async throws -> Committed<T> {
        let outcome = try await database.submit { [self] sql in
            let transaction = StoreTransaction(
                sql, now: clock(), subscriptions: subscriptions.withLock { $0 }, isConnected: isConnected)
            let value = try job(transaction)
            return Written(
                value: value, changes: transaction.changes, hasInsertedEvents: transaction.hasInsertedEvents,
                webhooks: transaction.notifiedWebhooks,
                subscriptions: transaction.hasChangedWebhooks ? WebhookSubscriptions(try transaction.webhooks()) : nil)
        } committed: { [self] written in
            if !written.changes.isEmpty { publish(written.changes) }
            if let changed = written.subscriptions { subscriptions.withLock { $0 = changed } }
            if written.hasInsertedEvents || written.subscriptions != nil {
                let notice = EventNotice(
                    webhooks: written.webhooks, hasEvents: written.hasInsertedEvents,
                    hasChangedWebhooks: written.subscriptions != nil)
                for observer in eventObservers.withLock({ $0 }) { observer(notice) }
            }
            committed?(written.value)
        }
        var positions: [StreamName: Position] = [:]
        for change in outcome.changes { positions[change.stream] = change.position }
        return Committed(value: outcome.value, positions: positions)
    }

    /// Runs `job` over one snapshot, which is read-only: appending throws an error of the database.
    package func read<T: Sendable>(_ job: @escaping @Sendable (StoreTransaction) throws -> T) async throws -> T {
        try await database.read { [self] sql in
            try job(StoreTransaction(sql, now: clock(), subscriptions: subscriptions.withLock { $0 }))
        }
    }

    /// Starts a new log, as after restoring a backup: every client that resumes gets a reset.
    package func rebuildLog() async throws {
        let epoch = Self.newEpoch(at: clock())
        try await database.submit { transaction in
            try transaction.execute("UPDATE log SET epoch = ?1", [.text(epoch)])
            try transaction.execute("UPDATE streams SET epoch = ?1, trimmed = seq, bytes = 0", [.text(epoch)])
            try transaction.execute("DELETE FROM changes")
        }
    }

    private struct Written<Value: Sendable>: Sendable {
        let value: Value
        let changes: [Change]
        let hasInsertedEvents: Bool
        /// Those that got deliveries.
        let webhooks: Set<WebhookID>
        /// Set if webhooks have changed.
        let subscriptions: WebhookSubscriptions?
    }

    /// Epochs are compared only for equality; the time and a random part keep a restored copy from repeating one.
    static func newEpoch(at now: Timestamp) -> String {
        String(now.milliseconds, radix: 36) + String(UInt16.random(in: 0..<1296), radix: 36)
    }
}

extension Timestamp {
    /// The system's wall clock.
    package static let systemClock: @Sendable () -> Timestamp = {
        Timestamp(milliseconds: Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)))
    }
}
