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
    private let publishUpdates: @Sendable ([ConversationUpdate]) -> Void
    private let clock: @Sendable () -> Timestamp
    private let longReads: LongReads
    private let isConnected: @Sendable (EndpointID) -> Bool
    private let isListened: @Sendable (StreamName) -> Bool
    private let subscriptions = Mutex(WebhookSubscriptions())
    private let deliveryClaimer = Mutex<DeliveryClaimer?>(nil)
    private let eventObservers = Mutex<[@Sendable (EventNotice) -> Void]>([])
    private let departures = Mutex(Departures())
    private let messageObservers = Mutex<[@Sendable (Set<ConversationID>) -> Void]>([])
    private let textObservers = Mutex<[@Sendable ([ConversationID: Set<Int64>]) -> Void]>([])
    private let dueObservers = Mutex<[@Sendable (Timestamp) -> Void]>([])
    private let jobObservers = Mutex<[@Sendable () -> Void]>([])
    private let erasureObservers = Mutex<[@Sendable () -> Void]>([])
    private let pushObservers = Mutex<[@Sendable (Timestamp) -> Void]>([])
    private let pushAudience = PushAudience()
    private let voiceObservers = Mutex<[@Sendable (VoiceNotice) -> Void]>([])

    /// - Parameters:
    ///   - isConnected: whether an endpoint has a realtime session, for events.
    ///   - isListened: whether a session listens to a stream. Rows of conversations that nobody listens to are not made. A
    ///     session that begins to listen must say so before it reads the stream.
    ///   - publishUpdates: gets what one committed job changed in conversations, before `publish`. It is called on the
    ///     writer's thread and must be brief.
    ///   - publish: gets the changes of one committed job, likewise.
    package init(
        database: any SQLDatabase, clock: @escaping @Sendable () -> Timestamp = Timestamp.systemClock,
        isConnected: @escaping @Sendable (EndpointID) -> Bool = { _ in false },
        isListened: @escaping @Sendable (StreamName) -> Bool = { _ in true },
        publishUpdates: @escaping @Sendable ([ConversationUpdate]) -> Void = { _ in },
        publish: @escaping @Sendable ([Change]) -> Void
    ) {
        self.publishUpdates = publishUpdates
        self.database = database
        self.publish = publish
        self.clock = clock
        self.isConnected = isConnected
        self.isListened = isListened
        longReads = LongReads(maxRunning: database.readers / 2)
    }

    /// Adds an observer of commits that wrote events or deliveries, or changed webhooks. It is called on the writer's
    /// thread, after the commit, and must be brief.
    package func observeEvents(_ observer: @escaping @Sendable (EventNotice) -> Void) {
        eventObservers.withLock { $0.append(observer) }
    }

    /// Decides whether a delivery is claimed as it is written, so that no further transaction has to claim it.
    package struct DeliveryClaimer: Sendable {
        /// Returns until when a new delivery of the webhook is claimed for this process; nil if it is to wait for a claim.
        let leaseEnd: @Sendable (WebhookID, _ now: Timestamp) -> Timestamp?
    }

    /// Sets what decides whether a delivery is claimed as it is written: until when, or nil if it is to wait for a claim. It
    /// is called in transactions, some of which fail, and must be brief. Observers of events get the claims.
    package func claimNewDeliveries(
        _ leaseEnd: @escaping @Sendable (WebhookID, _ now: Timestamp) -> Timestamp?
    ) {
        deliveryClaimer.withLock { $0 = DeliveryClaimer(leaseEnd: leaseEnd) }
    }

    /// Adds an observer of commits that stored new messages, with their conversations. It is called on the writer's thread,
    /// after the commit, and must be brief.
    package func observeMessages(_ observer: @escaping @Sendable (Set<ConversationID>) -> Void) {
        messageObservers.withLock { $0.append(observer) }
    }

    /// Adds an observer of commits that changed or erased the text or transcript of messages, with their numbers. It is called
    /// on the writer's thread, after the commit, and must be brief.
    package func observeTexts(_ observer: @escaping @Sendable ([ConversationID: Set<Int64>]) -> Void) {
        textObservers.withLock { $0.append(observer) }
    }

    /// A closure that is itself the value of a Mutex would be wrapped anew by each access, until calling it overflows the
    /// stack.
    private struct Departures {
        var handler: DepartureHandler?
    }

    /// What happens in the transaction in which a user leaves a conversation. It returns what is to be done once that is
    /// committed.
    package typealias DepartureHandler =
        @Sendable (StoreTransaction, ConversationID, UserID) throws -> (@Sendable () -> Void)?

    /// Sets the handler of departures from conversations. What it returns is called on the writer's thread, after the commit,
    /// and must be brief.
    package func handleDepartures(_ handler: @escaping DepartureHandler) {
        departures.withLock { $0.handler = handler }
    }

    /// Adds an observer of commits that stored what is due at a time, such as messages that disappear, with the earliest. It
    /// is called on the writer's thread, after the commit, and must be brief.
    package func observeDue(_ observer: @escaping @Sendable (Timestamp) -> Void) {
        dueObservers.withLock { $0.append(observer) }
    }

    /// Adds an observer of commits that demanded what is to be derived from messages. It is called on the writer's thread,
    /// after the commit, and must be brief.
    package func observeJobs(_ observer: @escaping @Sendable () -> Void) {
        jobObservers.withLock { $0.append(observer) }
    }

    /// Adds an observer of commits that erased texts, or what was made of them: the log of the database still has them. It is
    /// called on the writer's thread, after the commit, and must be brief.
    package func observeErasures(_ observer: @escaping @Sendable () -> Void) {
        erasureObservers.withLock { $0.append(observer) }
    }

    /// Adds an observer of commits that removed voice files, or asked for their transcripts. It is called on the writer's
    /// thread, after the commit, and must be brief.
    package func observeVoice(_ observer: @escaping @Sendable (VoiceNotice) -> Void) {
        voiceObservers.withLock { $0.append(observer) }
    }

    /// Adds an observer of commits that wrote something of which devices are to be told, with the time when it is due. It is
    /// called on the writer's thread, after the commit, and must be brief.
    package func observePushes(_ observer: @escaping @Sendable (Timestamp) -> Void) {
        pushObservers.withLock { $0.append(observer) }
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
            try run(job, in: begin(sql))
        } committed: { [self] written in
            publish(written)
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

    /// The same for a job that reads more than a page, such as a search. Half of the connections are for these, so that the
    /// others read at once. Not within another one.
    package func longRead<T: Sendable>(_ job: @escaping @Sendable (StoreTransaction) throws -> T) async throws -> T {
        try await longReads.run { try await read(job) }
    }

    /// Starts a new log, as after restoring a backup: every client that resumes gets a reset.
    package func rebuildLog() async throws {
        let epoch = Self.newEpoch(at: clock())
        try await database.submit { transaction in
            try transaction.execute("UPDATE log SET epoch = ?1, stream_epoch = NULL", [.text(epoch)])
            try transaction.execute("UPDATE streams SET epoch = ?1, trimmed = seq, bytes = 0", [.text(epoch)])
            try transaction.execute("DELETE FROM changes")
        }
    }

    /// A transaction of the store over one of the database.
    func begin(_ sql: any SQLTransaction) -> StoreTransaction {
        StoreTransaction(
            sql, now: clock(), subscriptions: subscriptions.withLock { $0 }, isConnected: isConnected,
            isListened: isListened, deliveryClaimer: deliveryClaimer.withLock { $0 }, pushAudience: pushAudience)
    }

    /// Runs a job, and writes what belongs to its end.
    func run<Value>(
        _ job: (StoreTransaction) throws -> Value, in transaction: StoreTransaction
    ) throws -> Written<Value> {
        let value = try job(transaction)
        let departed = try handleDepartures(in: transaction)
        let updates = try transaction.finishConversations()
        return Written(
            value: value, departed: departed, updates: updates, changes: transaction.changes,
            hasInsertedEvents: transaction.hasInsertedEvents,
            webhooks: transaction.notifiedWebhooks, claims: transaction.claims,
            conversations: transaction.conversationsWithNewMessages,
            changedTexts: transaction.messagesWithChangedTexts,
            nextDue: transaction.nextDue, hasDemandedJobs: transaction.hasDemandedJobs,
            hasErasedTexts: transaction.hasErasedTexts || !transaction.messagesWithChangedTexts.isEmpty,
            pushesDue: transaction.pushesDue, pushNotes: transaction.pushNotes,
            voice: VoiceNotice(removed: transaction.removedFiles, toTranscribe: transaction.filesToTranscribe),
            subscriptions: transaction.hasChangedWebhooks ? WebhookSubscriptions(try transaction.webhooks()) : nil)
    }

    /// Tells what is committed, on the writer's thread.
    func publish<Value>(_ written: Written<Value>) {
        if !written.updates.isEmpty { publishUpdates(written.updates) }
        if !written.changes.isEmpty { publish(written.changes) }
        if let changed = written.subscriptions { subscriptions.withLock { $0 = changed } }
        if written.hasInsertedEvents || written.subscriptions != nil {
            let notice = EventNotice(
                webhooks: written.webhooks, claims: written.claims, hasEvents: written.hasInsertedEvents,
                hasChangedWebhooks: written.subscriptions != nil)
            for observer in eventObservers.withLock({ $0 }) { observer(notice) }
        }
        if !written.conversations.isEmpty {
            for observer in messageObservers.withLock({ $0 }) { observer(written.conversations) }
        }
        if !written.changedTexts.isEmpty {
            for observer in textObservers.withLock({ $0 }) { observer(written.changedTexts) }
        }
        for finish in written.departed { finish() }
        if let due = written.nextDue { for observer in dueObservers.withLock({ $0 }) { observer(due) } }
        if written.hasDemandedJobs { for observer in jobObservers.withLock({ $0 }) { observer() } }
        if written.hasErasedTexts { for observer in erasureObservers.withLock({ $0 }) { observer() } }
        pushAudience.apply(written.pushNotes)
        if let due = written.pushesDue { for observer in pushObservers.withLock({ $0 }) { observer(due) } }
        if !written.voice.isEmpty { for observer in voiceObservers.withLock({ $0 }) { observer(written.voice) } }
    }

    private func handleDepartures(in transaction: StoreTransaction) throws -> [@Sendable () -> Void] {
        guard !transaction.departures.isEmpty, let handler = departures.withLock({ $0 }).handler else { return [] }
        return try transaction.departures.compactMap { try handler(transaction, $0.conversation, $0.user) }
    }

    /// What a job has written, to be told once it is committed.
    struct Written<Value> {
        let value: Value
        /// What those who left conversations leave to be done.
        let departed: [@Sendable () -> Void]
        let updates: [ConversationUpdate]
        let changes: [Change]
        let hasInsertedEvents: Bool
        /// Those that got deliveries that wait for a claim.
        let webhooks: Set<WebhookID>
        let claims: [ClaimedDelivery]
        /// Those that got messages.
        let conversations: Set<ConversationID>
        /// Messages, by number.
        let changedTexts: [ConversationID: Set<Int64>]
        let nextDue: Timestamp?
        let hasDemandedJobs: Bool
        let hasErasedTexts: Bool
        /// When the first of what it wrote of pushes is due.
        let pushesDue: Timestamp?
        let pushNotes: [PushAudience.Note]
        let voice: VoiceNotice
        /// Set if webhooks have changed.
        let subscriptions: WebhookSubscriptions?
    }

    /// Sends that wait, which run together: see `send`.
    let waitingSends = Mutex<SQLBatch<WaitingSend, SentMessage>?>(nil)

    /// Epochs are compared only for equality; the time and a random part keep a restored copy from repeating one.
    static func newEpoch(at now: Timestamp) -> String {
        String(now.milliseconds, radix: 36) + String(UInt16.random(in: 0..<1296), radix: 36)
    }
}

/// What a commit leaves to be done for voice files.
package struct VoiceNotice: Hashable, Sendable {
    /// Files whose rows are gone, and whose bytes are to go.
    package let removed: [FileID]
    package let toTranscribe: [FileID]

    var isEmpty: Bool { removed.isEmpty && toTranscribe.isEmpty }
}

extension Store.Written: Sendable where Value: Sendable {}

extension Timestamp {
    /// The system's wall clock.
    package static let systemClock: @Sendable () -> Timestamp = {
        Timestamp(milliseconds: Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)))
    }
}
