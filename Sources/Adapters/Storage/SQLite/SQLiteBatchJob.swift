/// A job that is an item of a batch, with its types erased.
struct SQLiteBatchJob: Sendable {
    typealias Results = (results: [Result<any Sendable, any Error>], committed: [@Sendable () -> Void])

    let batch: ObjectIdentifier
    let item: any Sendable
    /// Runs items of the batch.
    let run: @Sendable ([any Sendable], any SQLTransaction) throws -> Results
    let resume: @Sendable (any Sendable) -> Void
    let fail: @Sendable (any Error) -> Void

    init<Item: Sendable, Value: Sendable>(
        _ item: Item, of batch: SQLBatch<Item, Value>, _ continuation: CheckedContinuation<Value, any Error>
    ) {
        self.batch = ObjectIdentifier(batch)
        self.item = item
        run = { items, transaction in
            let typed = items.compactMap { $0 as? Item }
            let outcome = try batch.run(typed, transaction)
            guard typed.count == items.count, outcome.results.count == items.count else {
                throw SQLError(.failed, "A batch of \(items.count) returned \(outcome.results.count) results.")
            }
            return (outcome.results.map { $0.map { $0 as any Sendable } }, outcome.committed)
        }
        resume = { value in
            if let value = value as? Value { return continuation.resume(returning: value) }
            continuation.resume(throwing: SQLError(.failed, "A batch returned a value of another type."))
        }
        fail = { continuation.resume(throwing: $0) }
    }
}
