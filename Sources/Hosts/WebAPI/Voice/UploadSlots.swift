import Model
import Synchronization

/// How many uploads may be in memory at a time: of everybody, and of each user.
final class UploadSlots: Sendable {
    private static let most = 32
    private static let mostOfAUser = 2

    private struct State {
        var count = 0
        var ofUsers: [UserID: Int] = [:]
    }

    private let state = Mutex(State())

    func hold<Value>(for user: UserID, _ work: () async throws -> Value) async throws -> Value {
        let isHeld = state.withLock { state in
            guard state.count < Self.most, state.ofUsers[user, default: 0] < Self.mostOfAUser else { return false }
            state.count += 1
            state.ofUsers[user, default: 0] += 1
            return true
        }
        guard isHeld else { throw Problem(.unavailable, "Too much is being uploaded now.", retryAfter: 2000) }
        defer {
            state.withLock { state in
                state.count -= 1
                let left = state.ofUsers[user, default: 1] - 1
                state.ofUsers[user] = left > 0 ? left : nil
            }
        }
        return try await work()
    }
}
