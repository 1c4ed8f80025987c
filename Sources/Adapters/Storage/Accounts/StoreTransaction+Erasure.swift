package import Accounts
package import Model

// The table of erasures, whose jobs are claimed by lease and fence.
extension StoreTransaction {
    /// Claims the oldest erasure that nobody works on; nil if there is none.
    package func claimErasure(seconds: Int64) throws -> Erasure? {
        let row = try sql.first(
            """
            SELECT user_id, fence, step, cursor, photo, requested_at FROM erasures
            WHERE lease_until <= ?1 ORDER BY requested_at, user_id LIMIT 1
            """, [.time(now)])
        guard let row else { return nil }
        var columns = ColumnReader(row)
        let (user, fence) = (try columns.id(of: Entities.User.self), try columns.integer())
        let claimed = try sql.execute(
            "UPDATE erasures SET fence = fence + 1, lease_until = ?3 WHERE user_id = ?1 AND fence = ?2",
            [.id(user), .integer(fence), .time(now.adding(seconds: seconds))])
        guard claimed == 1 else { return nil }
        return Erasure(
            user: user, fence: fence + 1, step: try columns.enumCase(), cursor: try columns.text(),
            photo: try columns.idIfPresent(), requestedAt: try columns.time())
    }

    /// Writes how far the erasure is and renews its lease, in the transaction of what was erased. False if somebody else
    /// has claimed it: then the transaction must not be committed.
    package func save(_ erasure: Erasure, seconds: Int64) throws -> Bool {
        try sql.execute(
            "UPDATE erasures SET step = ?3, cursor = ?4, lease_until = ?5 WHERE user_id = ?1 AND fence = ?2",
            [
                .id(erasure.user), .integer(erasure.fence), .text(erasure.step.rawValue), .text(erasure.cursor),
                .time(now.adding(seconds: seconds)),
            ]) == 1
    }

    package func remove(_ erasure: Erasure) throws {
        try sql.execute(
            "DELETE FROM erasures WHERE user_id = ?1 AND fence = ?2", [.id(erasure.user), .integer(erasure.fence)])
    }

    /// The number of erasures that are not done.
    package func erasureCount() throws -> Int { try sql.first("SELECT COUNT(*) FROM erasures")?.int(0) ?? 0 }
}

// Rows of one user. Each function erases at most `limit` rows.
extension StoreTransaction {
    /// Removes rows that belong to the user alone, as the rule says. Returns how many.
    package func eraseRows(_ rule: ErasureRule, of user: UserID, limit: Int) throws -> Int {
        let key = rule.key.count == 1 ? rule.key[0] : "(" + rule.key.joined(separator: ", ") + ")"
        var removed = 0
        for column in rule.users where removed < limit {
            removed += try sql.execute(
                """
                DELETE FROM \(rule.name) WHERE \(key) IN (
                    SELECT \(rule.key.joined(separator: ", ")) FROM \(rule.name) WHERE \(column) = ?1 LIMIT ?2)
                """, [.id(user), .integer(limit - removed)])
        }
        return removed
    }

    /// Empties the names of clients in the user's sign-ins, and removes those sign-ins that ended before `time`.
    package func eraseSignIns(of user: UserID, endedBefore time: Timestamp, limit: Int) throws -> Int {
        let removed = try sql.execute(
            """
            DELETE FROM sign_ins WHERE id IN (
                SELECT id FROM sign_ins WHERE user_id = ?1 AND ended_at < ?2 LIMIT ?3)
            """, [.id(user), .time(time), .integer(limit)])
        guard removed == 0 else { return removed }
        return try sql.execute(
            """
            UPDATE sign_ins SET client_name = NULL, client_version = NULL WHERE id IN (
                SELECT id FROM sign_ins WHERE user_id = ?1 AND client_name IS NOT NULL LIMIT ?2)
            """, [.id(user), .integer(limit)])
    }

    /// Replaces the user's name in the history of calls after `cursor`. Returns the next cursor; nil if it is done.
    package func eraseParticipations(of user: UserID, after cursor: String, limit: Int) throws -> String? {
        let last = try sql.first(
            """
            SELECT MAX(call_id), COUNT(*) FROM (
                SELECT call_id FROM participants WHERE user_id = ?1 AND call_id > ?2 ORDER BY call_id LIMIT ?3) page
            """, [.id(user), .text(cursor), .integer(limit)])
        guard let last, let end = try last.textIfPresent(0) else { return nil }
        try sql.execute(
            """
            UPDATE participants SET display_name = ?4, photo_url = NULL
            WHERE user_id = ?1 AND call_id > ?2 AND call_id <= ?3 AND (display_name <> ?4 OR photo_url IS NOT NULL)
            """, [.id(user), .text(cursor), .text(end), .text(DeletedUser.name)])
        return try last.int(1) < limit ? nil : end
    }

    /// Some signals of the user that are kept for a call. They are few: those of calls that have ended are removed.
    package func keptSignals(of user: UserID, limit: Int) throws -> [(call: CallID, clientID: ClientID)] {
        try sql.query(
            "SELECT call_id, client_id FROM signals WHERE user_id = ?1 LIMIT ?2", [.id(user), .integer(limit)]
        ).map { (try $0.id(0), try $0.id(1)) }
    }

    package func removeSignal(_ clientID: ClientID, of user: UserID, in call: CallID) throws {
        try sql.execute(
            "DELETE FROM signals WHERE call_id = ?1 AND user_id = ?2 AND client_id = ?3",
            [.id(call), .id(user), .id(clientID)])
    }
}
