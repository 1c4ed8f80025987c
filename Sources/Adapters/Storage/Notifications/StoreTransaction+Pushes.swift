package import Messaging
package import Model
package import Notifications

// The rows of what devices are to be told.
extension StoreTransaction {
    /// Notes that a conversation has messages after a number, if somebody in it may have a device to push to.
    func notePush(of conversation: Conversation, after number: Int64) throws {
        guard try mayPush() else { return }
        let id = conversation.id
        if conversation.memberCount <= PushAudience.countedMembers {
            guard pushAudience?.isSilent(id) != true else { return }
            let device = try sql.first(
                """
                SELECT 1 FROM members m CROSS JOIN push_registrations r
                WHERE m.conversation_id = ?1 AND m.state = 'member' AND r.user_id = m.user_id LIMIT 1
                """, [.id(id)])
            guard device != nil else { return pushNotes.append(.silent(id)) }
        }
        let due = pushAudience?.due(id, at: now) ?? now
        try insertPushSource(.conversation(id), after: number, upTo: conversation.lastNumber, due: due)
    }

    /// Notes that a call began to ring some of these users, or to ring them no more.
    package func notePush(of call: CallID, version: Int64, to users: [UserID]) throws {
        guard try mayPush() else { return }
        let hasDevice = try users.contains { user in
            try sql.first("SELECT 1 FROM push_registrations WHERE user_id = ?1 LIMIT 1", [.id(user)]) != nil
        }
        if hasDevice { try insertPushSource(.call(call), after: 0, upTo: version, due: now) }
    }

    /// Whether anybody has a device to push to.
    private func mayPush() throws -> Bool {
        guard let pushAudience else { return false }
        if let isEmpty = pushAudience.isEmpty { return !isEmpty }
        let isEmpty = try sql.first("SELECT 1 FROM push_registrations LIMIT 1") == nil
        pushNotes.append(.isEmpty(isEmpty))
        return !isEmpty
    }

    private func insertPushSource(_ topic: PushTopic, after: Int64, upTo: Int64, due: Timestamp) throws {
        let row = try sql.first(
            """
            INSERT INTO push_sources (topic, is_call, after_number, up_to, since, not_before)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            ON CONFLICT (topic) DO UPDATE SET up_to = excluded.up_to, since = excluded.since RETURNING not_before
            """,
            [.text(topic.text), .bool(topic.isCall), .integer(after), .integer(upTo), .time(now), .time(due)])
        let due = try row?.time(0) ?? due
        pushesDue = min(pushesDue ?? due, due)
    }

    /// Claims sources that are due until `leaseUntil`, so many conversations at most, and calls.
    package func claimPushSources(
        limit conversations: Int, calls: Int = 32, until leaseUntil: Timestamp
    ) throws -> [PushSource] {
        var claimed: [PushSource] = []
        for (isCall, limit) in [(true, calls), (false, conversations)] where limit > 0 {
            let rows = try sql.query(
                """
                SELECT topic, after_number, up_to, since, fence FROM push_sources
                WHERE is_call = ?1 AND not_before <= ?2 ORDER BY not_before, topic LIMIT ?3
                """, [.bool(isCall), .time(now), .integer(limit)])
            for row in rows {
                try sql.execute(
                    "UPDATE push_sources SET not_before = ?2, fence = fence + 1 WHERE topic = ?1",
                    [try row.value(0), .time(leaseUntil)])
                let topic = try Self.topic(row, 0, isCall: isCall)
                var next = now
                if case .conversation(let id) = topic {
                    pushNotes.append(.claimed(id, at: now))
                    next = PushAudience.next(after: now)
                }
                claimed.append(
                    PushSource(
                        topic: topic, after: try row.integer(1), upTo: try row.integer(2), since: try row.time(3),
                        fence: try row.integer(4) + 1, next: next))
            }
        }
        return claimed
    }

    /// Everybody whom the source concerns has a push: it is over, unless something has changed since it was claimed; then it
    /// is due again at `next`.
    @discardableResult
    package func finish(_ source: PushSource, next: Timestamp) throws -> PushSourceState {
        let claim: [SQLValue] = [.text(source.topic.text), .integer(source.fence), .integer(source.upTo)]
        let removed = try sql.execute(
            "DELETE FROM push_sources WHERE topic = ?1 AND fence = ?2 AND up_to = ?3", claim)
        guard removed == 0 else { return .finished }
        let changed = try sql.execute(
            """
            UPDATE push_sources SET after_number = ?3, not_before = ?4, fence = fence + 1
            WHERE topic = ?1 AND fence = ?2
            """, claim + [.time(next)])
        return changed == 1 ? .changed : .lost
    }

    /// What was claimed is due again then.
    package func release(_ source: PushSource, until next: Timestamp) throws {
        try sql.execute(
            "UPDATE push_sources SET not_before = ?3, fence = fence + 1 WHERE topic = ?1 AND fence = ?2",
            [.text(source.topic.text), .integer(source.fence), .time(next)])
    }

    /// What a process before this one had claimed is due at once: nobody else has this store open. Whether its pushes have
    /// arrived nobody knows.
    package func releaseClaimedPushes() throws {
        try sql.execute(
            "UPDATE push_sources SET not_before = ?1, fence = fence + 1 WHERE not_before > ?1", [.time(now)])
        try sql.execute(
            """
            UPDATE pushes SET not_before = ?1, lease_until = NULL, fence = fence + 1, attempt = attempt + 1
            WHERE lease_until IS NOT NULL
            """, [.time(now)])
    }

    /// The devices of a conversation's members, but of one user, in the order of users and registrations, after one of them.
    /// Those who have muted it are not among them, unless mentions are told.
    package func pushCandidates(
        in conversation: ConversationID, but author: UserID?, after last: PushCandidate?, limit: Int
    ) throws -> [PushCandidate] {
        let rows = try sql.query(
            """
            SELECT r.id, r.user_id, r.device_id, r.endpoint_id FROM members m CROSS JOIN push_registrations r
            LEFT JOIN memberships o ON o.user_id = m.user_id AND o.conversation_id = m.conversation_id
            WHERE m.conversation_id = ?1 AND m.state = 'member' AND m.user_id >= ?2 AND m.user_id <> ?3
                AND r.user_id = m.user_id AND r.kind <> 'apnsVoIP' AND (r.user_id > ?2 OR r.id > ?4)
                AND (o.muted IS NULL OR o.muted = 0 OR o.mentions = 1 OR o.muted_until <= ?5)
            ORDER BY m.user_id, r.id LIMIT ?6
            """,
            [
                .id(conversation), .text(last?.user.text ?? ""), .text(author?.text ?? ""),
                .integer(last?.registration ?? 0), .time(now), .integer(limit),
            ])
        return try rows.map { try candidate($0) }
    }

    /// Who wrote the messages after a number up to another; nil if there are several.
    package func onlyAuthor(in conversation: ConversationID, after: Int64, upTo: Int64) throws -> UserID? {
        let rows = try sql.query(
            """
            SELECT DISTINCT author FROM messages WHERE conversation_id = ?1 AND number > ?2 AND number <= ?3 LIMIT 2
            """, [.id(conversation), .integer(after), .integer(upTo)])
        return rows.count == 1 ? try rows.first?.id(0) : nil
    }

    /// The devices of users.
    package func pushCandidates(of users: [UserID]) throws -> [PushCandidate] {
        try users.flatMap { user in
            try sql.query(
                """
                SELECT r.id, r.user_id, r.device_id, r.endpoint_id FROM push_registrations r WHERE r.user_id = ?1
                ORDER BY r.id
                """, [.id(user)]
            ).map { try candidate($0) }
        }
    }

    private func candidate(_ row: SQLRow) throws -> PushCandidate {
        let user: UserID = try row.id(1)
        let own: EndpointID? = try row.idIfPresent(3)
        return PushCandidate(
            registration: try row.integer(0), user: user,
            endpoints: try own.map { [$0] } ?? endpoints(of: user, on: row.id(2)))
    }

    /// Those that last used a sign-in of the device.
    package func endpoints(of user: UserID, on device: DeviceID) throws -> [EndpointID] {
        try sql.query(
            """
            SELECT e.id FROM endpoints e JOIN sign_ins s ON s.id = e.sign_in_id
            WHERE e.user_id = ?1 AND s.device_id = ?2 AND s.ended_at IS NULL
            """, [.id(user), .id(device)]
        ).map { try $0.id(0) }
    }

    /// Writes or replaces what devices are to be told of a topic, and claims its source for longer, or ends it.
    ///
    /// - Parameters:
    ///   - due: when, for each registration.
    ///   - onlyKnown: those that were told of it before, or are to be; nobody else.
    ///   - then: what becomes of the source.
    /// - Returns: what has become of it; if its claim is lost, nothing is written.
    package func savePushes(
        of source: PushSource, due: [(registration: Int64, at: Timestamp, onlyKnown: Bool)],
        then progress: PushSourceProgress
    ) throws -> PushSourceState {
        let state: PushSourceState
        switch progress {
        case .continues(let leaseUntil):
            let claimed = try sql.execute(
                "UPDATE push_sources SET not_before = ?3 WHERE topic = ?1 AND fence = ?2",
                [.text(source.topic.text), .integer(source.fence), .time(leaseUntil)])
            state = claimed == 1 ? .claimed : .lost
        case .ends(let next): state = try finish(source, next: next)
        }
        guard state != .lost else { return state }
        for one in due {
            let values: [SQLValue] = [
                .integer(one.registration), .text(source.topic.text), .integer(source.upTo), .time(source.since),
                .time(one.at),
            ]
            // One that is being sent, or waits after a failure or for the end of quiet hours, goes on with what is new. What
            // waits of a call is looked at all the same: a ring from before, which may have arrived, has to end.
            let updated = try sql.execute(
                """
                UPDATE pushes SET up_to = CASE WHEN up_to < ?3 THEN ?3 ELSE up_to END,
                    changed_at = CASE WHEN changed_at < ?4 THEN ?4 ELSE changed_at END, not_before = CASE
                    WHEN quiet_until = not_before AND is_call = 0 THEN not_before
                    WHEN lease_until IS NOT NULL OR attempt > 0 AND (quiet_until IS NULL OR quiet_until <> not_before)
                    THEN COALESCE(not_before, ?5)
                    WHEN not_before < ?5 THEN not_before ELSE ?5 END
                WHERE registration_id = ?1 AND topic = ?2
                """, values)
            guard updated == 0, !one.onlyKnown else { continue }
            try sql.execute(
                """
                INSERT INTO pushes (
                    registration_id, topic, up_to, changed_at, not_before, is_call, after_number, created_at)
                SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8 WHERE EXISTS (SELECT 1 FROM push_registrations WHERE id = ?1)
                """, values + [.bool(source.topic.isCall), .integer(source.after), .time(now)])
        }
        return state
    }

    /// Claims pushes that are due until `leaseUntil`, those of calls first.
    package func claimPushes(limit: Int, until leaseUntil: Timestamp) throws -> [PushRecord] {
        var claimed: [PushRecord] = []
        for isCall in [true, false] where claimed.count < limit {
            let rows = try sql.query(
                """
                SELECT \(Self.registrationColumns), p.id, p.topic, p.after_number, p.up_to, p.sent, p.attempt, p.created_at,
                    p.changed_at, p.fence, p.quiet_until
                FROM pushes p JOIN push_registrations r ON r.id = p.registration_id
                WHERE p.is_call = ?1 AND p.not_before <= ?2 ORDER BY p.not_before, p.id LIMIT ?3
                """, [.bool(isCall), .time(now), .integer(limit - claimed.count)])
            for row in rows {
                var record = try Self.push(row, isCall: isCall)
                record.fence += 1
                try sql.execute(
                    "UPDATE pushes SET not_before = ?2, lease_until = ?2, fence = fence + 1 WHERE id = ?1",
                    [.integer(record.id), .time(leaseUntil)])
                claimed.append(record)
            }
        }
        return claimed
    }

    private static func push(_ row: SQLRow, isCall: Bool) throws -> PushRecord {
        let start = registrationColumnCount
        return PushRecord(
            id: try row.integer(start), topic: try topic(row, start + 1, isCall: isCall),
            registration: try registration(row), after: try row.integer(start + 2), upTo: try row.integer(start + 3),
            sent: try row.textIfPresent(start + 4).flatMap(PushRecord.Sent.init), attempt: try row.int(start + 5),
            createdAt: try row.time(start + 6), changedAt: try row.time(start + 7), fence: try row.integer(start + 8),
            quietUntil: try row.timeIfPresent(start + 9))
    }

    /// What the device of a registration is told of a topic by another service; nil if it is not registered there.
    package func pushState(
        of topic: PushTopic, by kind: PushKind, beside registration: PushRegistration
    ) throws -> PushState? {
        let row = try sql.first(
            """
            SELECT p.id, p.sent, p.attempt FROM push_registrations r
            LEFT JOIN pushes p ON p.registration_id = r.id AND p.topic = ?1
            WHERE r.user_id = ?2 AND r.device_id = ?3 AND r.kind = ?4
            """, [.text(topic.text), .id(registration.user), .id(registration.device), .text(kind.rawValue)])
        guard let row else { return nil }
        if try row.isNull(0) { return PushState.none }
        if try !row.isNull(1) { return .sent }
        return try row.int(2) > 0 ? .failed : .waits
    }

    private static func topic(_ row: SQLRow, _ column: Int, isCall: Bool) throws -> PushTopic {
        isCall ? .call(try row.id(column)) : .conversation(try row.id(column))
    }

    /// Settles claims; those whose fence is no longer current are left alone.
    package func settle(_ settlements: [PushSettlement]) throws {
        for settlement in settlements { try apply(settlement) }
    }

    private func apply(_ settlement: PushSettlement) throws {
        // Ids of what is gone are used again.
        let claim: [SQLValue] = [
            .integer(settlement.push), .integer(settlement.fence), .integer(settlement.registration),
            .text(settlement.topic.text),
        ]
        let isCurrent = "WHERE id = ?1 AND fence = ?2 AND registration_id = ?3 AND topic = ?4"
        let bound: [SQLValue] = claim + [.integer(settlement.upTo)]
        switch settlement.result {
        case .done(let next):
            guard try sql.execute("DELETE FROM pushes \(isCurrent) AND up_to <= ?5", bound) == 0 else { return }
            try sql.execute(
                """
                UPDATE pushes SET after_number = ?5, sent = NULL, attempt = 0, created_at = ?6, not_before = ?7,
                    quiet_until = NULL, lease_until = NULL, fence = fence + 1 \(isCurrent)
                """, bound + [.time(now), .time(next)])
        case .rings:
            try sql.execute(
                """
                UPDATE pushes SET sent = ?6, attempt = 0, not_before = CASE WHEN up_to <= ?5 THEN NULL ELSE ?7 END,
                    lease_until = NULL, fence = fence + 1 \(isCurrent)
                """, bound + [.text(PushRecord.Sent.ring.rawValue), .time(now)])
        case .retry(let time):
            try sql.execute(
                """
                UPDATE pushes SET attempt = attempt + 1, not_before = ?5, lease_until = NULL, fence = fence + 1
                \(isCurrent)
                """, claim + [.time(time)])
        case .released(let time):
            try sql.execute(
                "UPDATE pushes SET not_before = ?5, lease_until = NULL, fence = fence + 1 \(isCurrent)",
                claim + [.time(time)])
        case .quiet:
            // As they are now: they may have changed since it was composed.
            let end = try quietEnd(of: settlement.registration)
            try sql.execute(
                """
                UPDATE pushes SET not_before = ?5, quiet_until = ?5, lease_until = NULL, fence = fence + 1 \(isCurrent)
                """, claim + [.time(end ?? now)])
        case .gone:
            let isSame = try sql.first(
                "SELECT 1 FROM push_registrations WHERE id = ?1 AND updated_at = ?2",
                [.integer(settlement.registration), .time(settlement.registeredAt)])
            if isSame != nil { return try removePushRegistration(settlement.registration) }
            try sql.execute(
                "UPDATE pushes SET not_before = ?5, lease_until = NULL, fence = fence + 1 \(isCurrent)",
                claim + [.time(now)])
        }
    }

    /// When the next source or push is due; nil if none waits.
    package func nextPush() throws -> Timestamp? {
        var times: [Timestamp] = []
        for table in ["push_sources", "pushes"] {
            for isCall in [true, false] {
                let row = try sql.first(
                    """
                    SELECT not_before FROM \(table) WHERE is_call = ?1 AND not_before IS NOT NULL
                    ORDER BY not_before LIMIT 1
                    """, [.bool(isCall)])
                if let row { times.append(try row.time(0)) }
            }
        }
        return times.min()
    }

    /// How many registrations of each kind there are.
    package func registrationCounts() throws -> [PushKind: Int] {
        var counts: [PushKind: Int] = [:]
        for row in try sql.query("SELECT kind, COUNT(*) FROM push_registrations GROUP BY kind") {
            if let kind = PushKind(rawValue: try row.text(0)) { counts[kind] = try row.int(1) }
        }
        return counts
    }

    /// How many pushes of each kind no service has taken yet, with the time of the oldest. Those that wait for the end of quiet
    /// hours are not among them; later they count from that end.
    package func waitingPushes() throws -> [PushKind: (count: Int, oldest: Timestamp)] {
        let rows = try sql.query(
            """
            SELECT r.kind, COUNT(*), MIN(CASE WHEN p.quiet_until > p.created_at THEN p.quiet_until ELSE p.created_at END)
            FROM pushes p JOIN push_registrations r ON r.id = p.registration_id
            WHERE p.not_before IS NOT NULL AND (p.quiet_until IS NULL OR p.quiet_until <= ?1) GROUP BY r.kind
            """, [.time(now)])
        var waiting: [PushKind: (count: Int, oldest: Timestamp)] = [:]
        for row in rows {
            if let kind = PushKind(rawValue: try row.text(0)) { waiting[kind] = (try row.int(1), try row.time(2)) }
        }
        return waiting
    }

    /// Removes what rests since before `time`: rings whose end was never noted.
    package func trimPushes(before time: Timestamp, limit: Int) throws -> Int {
        try sql.execute(
            """
            DELETE FROM pushes WHERE id IN (
                SELECT id FROM pushes WHERE not_before IS NULL AND changed_at < ?1 ORDER BY changed_at LIMIT ?2)
            """, [.time(time), .integer(limit)])
    }

    /// The newest message after a number that mentions the user or everybody.
    package func newestMention(of user: UserID, in conversation: ConversationID, after number: Int64) throws -> Int64? {
        try sql.first(
            """
            SELECT MAX(number) FROM mentions WHERE user_id IN (?1, '') AND conversation_id = ?2 AND number > ?3
            """, [.id(user), .id(conversation), .integer(number)]
        ).flatMap { try $0.integerIfPresent(0) }
    }
}

extension PushTopic {
    package var isCall: Bool {
        if case .call = self { true } else { false }
    }
}
