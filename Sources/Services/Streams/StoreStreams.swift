import Accounts
package import Calls
import Friends
package import Model
package import Realtime
package import Storage

/// Reads streams from the store for realtime sessions: access, snapshot and position in one read transaction.
package struct StoreStreams: StreamSource {
    /// Replaying more changes than this costs more than a snapshot.
    static let maxResumedChanges = 1000

    private let store: Store
    private let commands: CallCommands
    private let hub: RealtimeHub

    package init(store: Store, commands: CallCommands, hub: RealtimeHub) {
        self.store = store
        self.commands = commands
        self.hub = hub
    }

    package func open(_ stream: StreamName, after: Position?, for principal: Principal) async throws -> StreamOpening {
        if case .presence(let user) = stream { return try await openPresence(of: user, for: principal) }
        let commands = commands
        if case .captions(let call) = stream {
            try await store.read { try commands.checkCaptions(of: call, by: principal, in: $0) }
            return .snapshot(Array("{}".utf8), .ephemeral)
        }
        return try await store.read { transaction in
            try Self.checkAccess(to: stream, for: principal, commands, in: transaction)
            guard let after else {
                return .snapshot(
                    try Self.snapshot(of: stream, commands, in: transaction), try transaction.position(of: stream))
            }
            switch try transaction.changes(of: stream, after: after, limit: Self.maxResumedChanges) {
            case .changes(let changes, let position, true): return .changes(changes, position)
            case .changes(_, _, false):
                return .reset(
                    .gap, try Self.snapshot(of: stream, commands, in: transaction), try transaction.position(of: stream)
                )
            case .reset(let reason):
                return .reset(
                    reason, try Self.snapshot(of: stream, commands, in: transaction),
                    try transaction.position(of: stream))
            }
        }
    }

    private static func checkAccess(
        to stream: StreamName, for principal: Principal, _ commands: CallCommands, in transaction: StoreTransaction
    ) throws {
        switch stream {
        case .user(let user):
            guard user == principal.user else { throw Problem.notFound("stream", field: "stream") }
        case .call(let call): _ = try commands.get(call, by: principal, in: transaction)
        case .signals(let call, let endpoint):
            try commands.checkMailbox(of: endpoint, in: call, by: principal, store: transaction)
        case .presence, .captions: break
        }
    }

    private static func snapshot(
        of stream: StreamName, _ commands: CallCommands, in transaction: StoreTransaction
    ) throws -> [UInt8] {
        let now = transaction.now
        switch stream {
        case .user(let user):
            guard let account = try transaction.user(user) else { throw Problem.notFound("stream", field: "stream") }
            let calls = try commands.liveCalls(of: user, in: transaction)
            let me = try StoreTransaction.json(account.ownProfile)
            let friends = try transaction.newestFriends(of: user, limit: FriendRules.snapshotLimit + 1)
            let shown = try friends.prefix(FriendRules.snapshotLimit).map {
                try StoreTransaction.json(FriendDocument($0.record, $0.user.profile))
            }
            var writer = JSONWriter(capacity: 1024)
            writer.object { writer in
                writer.name("me")
                writer.write(json: me)
                writer.name("calls")
                writer.array(calls) { $1.write(to: &$0, at: now) }
                writer.name("friends")
                writer.array(shown) { $0.write(json: $1) }
                if friends.count > shown.count { writer.member("moreFriends", true) }
            }
            return writer.bytes
        case .call(let id):
            guard let call = try transaction.call(id) else { throw Problem.notFound("stream", field: "stream") }
            var writer = JSONWriter(capacity: 1024)
            writer.object { writer in
                writer.name("call")
                call.write(to: &writer, at: now)
            }
            return writer.bytes
        case .signals(let call, let endpoint):
            return Array(try transaction.mailboxJSON(of: endpoint, in: call).utf8)
        case .presence, .captions: throw Problem.notFound("stream", field: "stream")
        }
    }

    /// A user who hides their presence, or who has blocked the principal, always looks offline.
    private func openPresence(of user: UserID, for principal: Principal) async throws -> StreamOpening {
        let isBlocked = try await store.read { transaction in
            guard try transaction.user(user) != nil else { throw Problem.notFound("user", field: "stream") }
            return try transaction.isBlocked(principal.user, by: user)
        }
        // For users who hide their presence, the hub publishes nothing.
        if isBlocked { return .onlySnapshot(Array(Presence(online: false).json.utf8)) }
        return .snapshot(Array(hub.presence(of: user).json.utf8), .ephemeral)
    }
}
