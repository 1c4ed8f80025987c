import Model

/// Limits how many uploads may be in memory at a time, in total and for each user.
final class UploadSlots: Sendable {
    private let open = OpenCounter<UserID>(maxOpen: 32, maxOfKey: 2)

    func hold<Value>(for user: UserID, _ work: () async throws -> Value) async throws -> Value {
        guard open.enter(user) == nil else {
            throw Problem(.unavailable, "Too many uploads are in progress. Try again later.", retryAfter: 2000)
        }
        defer { open.leave(user) }
        return try await work()
    }
}
