package import Messaging
package import Model
package import Storage
import Synchronization

/// Searches messages, a few at a time, so that other reads find a connection; and one at a time for each user, so that
/// a user who searches all the time delays only themselves. `SearchBudget` limits the cost of one search. After a
/// search, its user has to pause for as long as it took, so that no user gets more than half of the time of one slot.
/// All users whose last search was slow share one slot, and leave the other one to everybody else.
package final class MessageSearchService: Sendable {
    private static let concurrent = 2
    private static let waiting = 128
    /// Searches of one user that run or wait.
    package static let maxPerUser = 4
    /// A quicker search needs no pause, and no pause is longer.
    private static let pauses: ClosedRange<Duration> = .milliseconds(10) ... .seconds(1)
    /// Ended pauses are forgotten at this number: a few searches run at a time, so there are not many others.
    private static let rememberedPauses = 1_024

    private static let tooMany = Problem(
        .rateLimited, "At most \(maxPerUser) searches of a user run at a time: wait for their results.",
        retryAfter: 1_000)

    private let store: Store
    private let commands: ConversationCommands
    private let meaning: MeaningSearcher?
    private let limits: SearchLimits
    private let limiter = ConcurrencyLimiter(
        maxConcurrent: concurrent, maxWaiting: waiting, busyWith: "searches")
    private let slowLimiter = ConcurrencyLimiter(
        maxConcurrent: concurrent - 1, maxWaiting: waiting, busyWith: "searches")
    private let queue = KeyedSerialQueue<UserID>()
    private let searching = OpenCounter<UserID>(maxOfKey: maxPerUser)
    /// When users who have searched may search again.
    private let resting = Mutex<[UserID: ContinuousClock.Instant]>([:])
    private let now: @Sendable () -> ContinuousClock.Instant
    private let sleep: @Sendable (Duration) async throws -> Void

    package init(
        store: Store, commands: ConversationCommands, meaning: MeaningSearcher? = nil,
        limits: SearchLimits = SearchLimits(), now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
        self.now = now
        self.sleep = sleep
        self.store = store
        self.meaning = meaning
        self.commands = commands
        self.limits = limits
    }

    /// - Parameter show: reads what the response shows, in the same transaction.
    package func search<Shown: Sendable>(
        _ request: SearchRequest, by user: UserID,
        show: @escaping @Sendable (SearchPage, StoreTransaction) throws -> Shown
    ) async throws -> Shown {
        guard searching.enter(user) == nil else { throw Self.tooMany }
        defer { searching.leave(user) }
        return try await queue.run(user) {
            try await pause(user)
            return try await withSlot(user) { [self, store, commands, limits] in
                try await store.longRead { [self] transaction in
                    let start = now()
                    defer { rest(user, for: now() - start) }
                    return try show(commands.search(request, limits: limits, by: user, in: transaction), transaction)
                }
            }
        }
    }

    /// - Parameter mode: not of words alone.
    package func search<Shown: Sendable>(
        _ request: SearchRequest, mode: SearchMode, by user: UserID,
        show: @escaping @Sendable (MeaningResponse, StoreTransaction) throws -> Shown
    ) async throws -> Shown {
        guard let meaning else {
            throw Problem(.providerNotConfigured, "This server finds messages by their words alone.")
        }
        guard searching.enter(user) == nil else { throw Self.tooMany }
        defer { searching.leave(user) }
        return try await queue.run(user) {
            try await pause(user)
            return try await withSlot(user) { [self] in
                let start = now()
                defer { rest(user, for: now() - start) }
                return try await meaning.search(request, mode: mode, by: user, show: show)
            }
        }
    }

    /// Whether messages are found by their meaning.
    package var hasMeaning: Bool { meaning != nil }

    private func pause(_ user: UserID) async throws {
        guard let end = resting.withLock({ $0[user] }) else { return }
        let left = end - now()
        if left > .zero { try await sleep(left) }
    }

    private func withSlot<Value: Sendable>(
        _ user: UserID, _ body: () async throws -> Value
    ) async throws -> Value {
        guard resting.withLock({ $0[user] != nil }) else { return try await limiter.withSlot(body) }
        return try await slowLimiter.withSlot { try await limiter.withSlot(body) }
    }

    private func rest(_ user: UserID, for duration: Duration) {
        let now = now()
        resting.withLock { resting in
            guard duration >= Self.pauses.lowerBound else {
                resting[user] = nil
                return
            }
            if resting.count >= Self.rememberedPauses { resting = resting.filter { $0.value > now } }
            resting[user] = now + min(duration, Self.pauses.upperBound)
        }
    }

    /// How many searches of a user run or wait.
    func count(of user: UserID) -> Int { searching.count(of: user) }
}
