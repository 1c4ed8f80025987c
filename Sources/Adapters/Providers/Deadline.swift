/// Cancels work that takes too long.
package enum Deadline {
    /// Returns the result of `work`, which must react to cancellation; throws `timedOut` at the deadline.
    package static func race<Value: Sendable>(
        _ deadline: ContinuousClock.Instant,
        _ work: @escaping @Sendable () async throws(ProviderFailure) -> Value
    ) async throws(ProviderFailure) -> Value {
        let first = await withTaskGroup(of: Result<Value, ProviderFailure>?.self) { group in
            group.addTask {
                do throws(ProviderFailure) { return .success(try await work()) } catch { return .failure(error) }
            }
            group.addTask {
                // nil: the surrounding task was cancelled, and the work's own result counts.
                do { try await Task.sleep(until: deadline, clock: .continuous) } catch { return nil }
                return .failure(.timedOut)
            }
            var first: Result<Value, ProviderFailure>?
            while first == nil, let result = await group.next() { first = result }
            group.cancelAll()
            return first
        }
        guard let first else { throw .cancelled }
        return try first.get()
    }
}
