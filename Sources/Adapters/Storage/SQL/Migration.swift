package import Model

/// One numbered step of the schema. Once released it is never changed; later changes get a new number.
package struct Migration: Sendable {
    package let number: Int
    package let name: String
    /// Statements of portable SQL, run in order in one transaction together with the record that they were run.
    package let statements: [String]
    /// What is done after the statements in transactions of its own, a part each, until it returns false. If the process
    /// ends meanwhile, the next one goes on.
    package let work: (@Sendable (any SQLTransaction) throws -> Bool)?

    package init(
        _ number: Int, _ name: String, _ statements: [String],
        work: (@Sendable (any SQLTransaction) throws -> Bool)? = nil
    ) {
        self.number = number
        self.name = name
        self.statements = statements
        self.work = work
    }
}

extension SQLDatabase {
    /// Runs the missing migrations and returns them. A database that a newer version has migrated is an error: this
    /// version could not read its rows.
    package func migrate(_ migrations: [Migration], at now: Timestamp) async throws -> [Migration] {
        let migrations = migrations.sorted { $0.number < $1.number }
        let missing = try await submit { transaction in
            try transaction.execute(
                "CREATE TABLE IF NOT EXISTS migrations (number BIGINT PRIMARY KEY, name TEXT NOT NULL, at BIGINT NOT NULL)"
            )
            try transaction.execute(
                "CREATE TABLE IF NOT EXISTS unfinished_migrations (number BIGINT PRIMARY KEY)")
            let done = try Set(transaction.query("SELECT number FROM migrations").map { try $0.int(0) })
            let known = migrations.last?.number ?? 0
            if let newest = done.max(), newest > known {
                throw SQLError(
                    .newer,
                    "The database has version \(newest), made by a newer Switchboard; this one supports \(known). "
                        + "Run the newer version, or restore a backup from before the upgrade.")
            }
            let missing = migrations.filter { !done.contains($0.number) }
            for migration in missing {
                for statement in migration.statements { try transaction.execute(statement) }
                try transaction.execute(
                    "INSERT INTO migrations (number, name, at) VALUES (?1, ?2, ?3)",
                    [.integer(migration.number), .text(migration.name), .time(now)])
                if migration.work != nil {
                    try transaction.execute(
                        "INSERT INTO unfinished_migrations (number) VALUES (?1)", [.integer(migration.number)])
                }
            }
            return missing
        }
        try await finish(migrations)
        return missing
    }

    private func finish(_ migrations: [Migration]) async throws {
        let numbers = try await read { transaction in
            try transaction.query("SELECT number FROM unfinished_migrations ORDER BY number").map { try $0.int(0) }
        }
        for number in numbers {
            guard let work = migrations.first(where: { $0.number == number })?.work else { continue }
            var isDone = false
            while !isDone {
                isDone = try await submit { transaction in
                    guard try !work(transaction) else { return false }
                    try transaction.execute(
                        "DELETE FROM unfinished_migrations WHERE number = ?1", [.integer(number)])
                    return true
                }
            }
        }
    }
}
