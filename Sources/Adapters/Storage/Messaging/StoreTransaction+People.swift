import Accounts
package import Model

extension StoreTransaction {
    /// The JSON text of the profiles of users, in the order of the ids and without duplicates; those that do not exist are
    /// left out.
    package func people(_ users: [UserID]) throws -> [String] {
        var seen: Set<UserID> = []
        return try users.filter { seen.insert($0).inserted }.compactMap { id in
            try user(id).map { try Self.json($0.profile) }
        }
    }

    /// The epoch of all keyed state: it changes when a backup was restored.
    package func epoch() throws -> String {
        guard let row = try sql.first("SELECT epoch FROM log WHERE id = 1") else {
            throw SQLError(.failed, "The change log has no epoch: the database was never prepared.")
        }
        return try row.text(0)
    }
}

extension JSONWriter {
    /// Writes the member `people` with profiles that are JSON already.
    package mutating func write(people: [String]) {
        name("people")
        array(people) { $0.write(json: $1) }
    }
}
