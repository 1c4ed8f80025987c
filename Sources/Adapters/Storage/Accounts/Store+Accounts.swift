package import Accounts
package import Model

extension StoreTransaction: AccountStore {}

extension Store: AccountDatabase {
    package func readAccounts<T: Sendable>(
        _ job: @escaping @Sendable (any AccountStore) throws -> T
    ) async throws -> T {
        try await read { try job($0) }
    }

    package func writeAccounts<T: Sendable>(
        _ job: @escaping @Sendable (any AccountStore) throws -> T
    ) async throws -> (value: T, positions: [StreamName: Position]) {
        let committed = try await write { try job($0) }
        return (committed.value, committed.positions)
    }
}
