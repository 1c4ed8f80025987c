package import Bus
package import Logging
internal import Model
package import Realtime
internal import ServiceLifecycle
package import Storage
import Synchronization

/// Notifies the sessions that listen to inboxes which rows have moved, in the order of the commits.
///
/// A commit says which conversation it changed, not whom it concerns: these users are looked up here, and cached for
/// the conversations that change most often.
package final class InboxFeed: Service {
    private let store: Store
    private let hub: RealtimeHub
    private let logger: Logger
    private let updates: AsyncStream<[ConversationUpdate]>
    /// Whether commits came faster than they could be looked up, and some were left out.
    private let hasLost = Mutex(false)

    package init(store: Store, hub: RealtimeHub, bus: any EventBus, logger: Logger) {
        self.store = store
        self.hub = hub
        self.logger = logger
        let (updates, continuation) = AsyncStream<[ConversationUpdate]>.makeStream(
            bufferingPolicy: .bufferingOldest(Self.backlog))
        self.updates = updates
        bus.subscribe { [weak self] message in
            guard case .conversations(let updates) = message else { return }
            // What moves no inbox, such as a star, is nothing to look up.
            let notices = updates.filter { $0.movesEverybody || !$0.moved.isEmpty }.map { update in
                var notice = update
                notice.rows = []
                notice.marks = []
                return notice
            }
            guard !notices.isEmpty else { return }
            if case .dropped = continuation.yield(notices) { self?.hasLost.withLock { $0 = true } }
        }
    }

    /// Commits that wait, without their rows.
    private static let backlog = 100_000

    package func run() async throws {
        var movements = InboxMovements()
        for await batch in updates.cancelOnGracefulShutdown() {
            do {
                try await notify(batch, &movements)
                if hasLost.withLock({ exchange(&$0, with: false) }) { hub.rereadInboxes() }
            } catch {
                // A listener whose position is behind finds the rows when it resumes or reads again.
                logger.error("the members of a conversation cannot be read", metadata: ["error": "\(error)"])
                hub.rereadInboxes()
            }
        }
    }

    /// All changes of one commit for one user are one notice.
    private func notify(_ batch: [ConversationUpdate], _ movements: inout InboxMovements) async throws {
        guard let position = batch.last.map({ Position(epoch: $0.epoch, sequence: $0.counter) }) else { return }
        var moved: [UserID: Set<ConversationID>] = [:]
        for update in batch {
            let users = try await movements.users(of: update) { id in
                try await store.read { try $0.inboxUsers(of: id) }
            }
            for user in users where hub.listensToInbox(user) { moved[user, default: []].insert(update.conversation) }
        }
        for (user, conversations) in moved {
            hub.deliver(InboxNotice(user: user, conversations: conversations, position: position))
        }
    }
}

/// Whose inboxes commits move, with the members of the conversations that moved last.
struct InboxMovements {
    private var cache = MemberCache()

    /// - Parameter read: reads the users who have a conversation in their inbox.
    mutating func users(
        of update: ConversationUpdate, read: (ConversationID) async throws -> [UserID]
    ) async throws -> Set<UserID> {
        let id = update.conversation
        // The commit may only tell that a member came or went, which the others must not learn: for example, that a
        // request was declined.
        if !update.access.isEmpty || update.movesEverybody && !update.moved.isEmpty { cache.forget(id) }
        guard update.movesEverybody else { return update.moved }
        if let known = cache[id] { return update.moved.union(known) }
        let members = try await read(id)
        cache.insert(members, for: id)
        return update.moved.union(members)
    }
}

/// The members of the conversations that moved last: at most so many ids.
struct MemberCache {
    private let limit: Int
    private var users: [ConversationID: [UserID]] = [:]
    private var count = 0

    init(limit: Int = 500_000) { self.limit = limit }

    subscript(id: ConversationID) -> [UserID]? { users[id] }

    mutating func insert(_ members: [UserID], for id: ConversationID) {
        // Which is forgotten does not matter much: the next message brings it back.
        while count + members.count > limit, let other = users.keys.first { forget(other) }
        guard members.count <= limit else { return }
        forget(id)
        users[id] = members
        count += members.count
    }

    mutating func forget(_ id: ConversationID) {
        if let removed = users.removeValue(forKey: id) { count -= removed.count }
    }
}
