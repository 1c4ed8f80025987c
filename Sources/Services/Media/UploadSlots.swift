import Model
import Synchronization

/// Limits how many uploads may be in memory at a time, in total and for each user.
final class UploadSlots: Sendable {
    private static let maxTotal = 32
    private static let maxPerUser = 2

    private struct State {
        var count = 0
        var ofUsers: [UserID: Int] = [:]
    }

    private let state = Mutex(State())

    func hold<Value>(for user: UserID, _ work: () async throws -> Value) async throws -> Value {
        let isHeld = state.withLock { state in
            guard state.count < Self.maxTotal, state.ofUsers[user, default: 0] < Self.maxPerUser else { return false }
            state.count += 1
            state.ofUsers[user, default: 0] += 1
            return true
        }
        guard isHeld else {
            throw Problem(.unavailable, "Too many uploads are in progress. Try again later.", retryAfter: 2000)
        }
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
