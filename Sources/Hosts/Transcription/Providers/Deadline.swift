/// Work that is cancelled when it takes too long.
enum Deadline {
    /// What `work` returns, which must heed that its task is cancelled; `timedOut` when that was at the deadline.
    static func race<Value: Sendable>(
        _ deadline: ContinuousClock.Instant,
        _ work: @escaping @Sendable () async throws(TranscriptionFailure) -> Value
    ) async throws(TranscriptionFailure) -> Value {
        let first = await withTaskGroup(of: Result<Value, TranscriptionFailure>?.self) { group in
            group.addTask {
                do throws(TranscriptionFailure) { return .success(try await work()) } catch { return .failure(error) }
            }
            group.addTask {
                // Nil: the whole of it was cancelled, which the work tells.
                do { try await Task.sleep(until: deadline, clock: .continuous) } catch { return nil }
                return .failure(.timedOut)
            }
            var first: Result<Value, TranscriptionFailure>?
            while first == nil, let result = await group.next() { first = result }
            group.cancelAll()
            return first
        }
        guard let first else { throw .cancelled }
        return try first.get()
    }
}
