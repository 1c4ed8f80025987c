/// Jobs of one kind, of which those that wait next to each other run together: what each of them would read and write alone
/// is read and written once. Jobs of other kinds keep their places between them.
package final class SQLBatch<Item: Sendable, Value: Sendable>: Sendable {
    /// What became of items, in their order.
    package struct Outcome: Sendable {
        package var results: [Result<Value, any Error>] = []
        /// Is called once they are committed, in this order and before any caller continues, like `committed` of a job.
        package var committed: [@Sendable () -> Void] = []

        package init() {}
    }

    /// Runs items and returns an outcome for each. What fails leaves nothing behind; what it throws fails all of them.
    package let run: @Sendable ([Item], any SQLTransaction) throws -> Outcome

    package init(_ run: @escaping @Sendable ([Item], any SQLTransaction) throws -> Outcome) { self.run = run }
}

extension SQLDatabase {
    /// Runs an item alone, where the driver does not bring items together.
    package func submit<Item: Sendable, Value: Sendable>(
        _ item: Item, to batch: SQLBatch<Item, Value>
    ) async throws -> Value {
        try await submit { transaction in
            let outcome = try batch.run([item], transaction)
            guard let result = outcome.results.first else { throw SQLError(.failed, "A batch returned no result.") }
            return (try result.get(), outcome.committed)
        } committed: { _, committed in
            for body in committed { body() }
        }.0
    }
}
