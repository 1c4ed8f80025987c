import Accounts
package import Calls
package import Model
import Webhooks

extension StoreTransaction: CallStore {}

// Reading calls.
extension StoreTransaction {
    package func parties(_ users: [UserID], calledBy caller: UserID) throws -> [CallParty] {
        try sql.query(
            """
            SELECT u.id, u.display_name, u.photo_url, u.call_waiting, u.disabled_at, b.at, u.deleted_at,
                EXISTS (SELECT 1 FROM push_registrations r WHERE r.user_id = u.id),
                EXISTS (SELECT 1 FROM sign_ins s WHERE s.user_id = u.id AND s.ended_at IS NULL)
                    OR EXISTS (SELECT 1 FROM outside_identities o WHERE o.user_id = u.id AND o.issuer <> ?2)
            FROM users u
            LEFT JOIN blocks b ON b.blocker = u.id AND b.user_id = ?1 WHERE u.id IN \(Placeholders.list(users.count, from: 3))
            """, [.id(caller), .text(UserReference.issuer)] + users.map { .id($0) }
        ).map { row in
            let user: UserID = try row.id(0)
            // Users of an outside issuer have no sign-in: they may have a session at any moment.
            let (isPushed, maySignIn) = (try row.bool(7), try row.bool(8))
            return CallParty(
                user: user, displayName: try row.text(1), photoURL: try row.textIfPresent(2),
                allowsCallWaiting: try row.bool(3), hasBlockedCaller: try !row.isNull(5),
                isDisabled: try !row.isNull(4), isDeleted: try !row.isNull(6), isPushed: isPushed,
                isReachable: isPushed || maySignIn || subscriptions.includes(.callRinging))
        }
    }

    package func isDisabled(_ user: UserID) throws -> Bool {
        try sql.first("SELECT 1 FROM users WHERE id = ?1 AND disabled_at IS NULL", [.id(user)]) == nil
    }

    package func call(_ id: CallID) throws -> Call? {
        let rows = try sql.query("\(CallColumns.document) WHERE c.id = ?1 ORDER BY p.place", [.id(id)])
        return rows.isEmpty ? nil : try CallRows.call(rows[...])
    }

    package func liveParticipations(of users: [UserID]) throws -> [LiveParticipation] {
        try sql.query(
            """
            SELECT p.user_id, p.call_id, c.pair, c.conversation_id, p.endpoint_id, p.detached_at
            FROM participants p JOIN calls c ON c.id = p.call_id
            WHERE p.live = 1 AND p.withheld = 0 AND p.user_id IN \(Placeholders.list(users.count, from: 1)) ORDER BY p.call_id
            """, users.map { .id($0) }
        ).map { row in
            LiveParticipation(
                user: try row.id(0), call: try row.id(1), pair: try row.textIfPresent(2),
                conversation: try row.idIfPresent(3), endpoint: try row.idIfPresent(4), isDetached: try !row.isNull(5))
        }
    }

    package func liveCall(in conversation: ConversationID) throws -> CallID? {
        try sql.first(
            "SELECT id FROM calls WHERE conversation_id = ?1 AND status <> 'ended'", [.id(conversation)]
        ).map { try $0.id(0) }
    }

    package func liveCalls(of user: UserID) throws -> [Call] {
        try CallRows.calls(
            sql.query(
                """
                \(CallColumns.document) WHERE c.id IN (
                    SELECT call_id FROM participants WHERE user_id = ?1 AND live = 1 AND withheld = 0)
                ORDER BY c.id DESC, p.place
                """, [.id(user)]))
    }

    /// What the user has deleted of a conversation, or cleared, is not in the history of calls either. Who joined the
    /// conversation during the call does not see its message.
    private static let isInHistory = """
        (h.number IS NULL OR NOT EXISTS (
            SELECT 1 FROM own o WHERE o.user_id = ?1 AND o.conversation_id = h.conversation_id AND o.number = h.number
                AND o.hidden = 1)
        AND (NOT EXISTS (
            SELECT 1 FROM members m JOIN spans s ON s.conversation_id = m.conversation_id AND s.user_id = m.user_id
            WHERE m.conversation_id = h.conversation_id AND m.user_id = ?1 AND m.joined_at <= h.created_at)
        OR EXISTS (
            SELECT 1 FROM spans s WHERE s.conversation_id = h.conversation_id AND s.user_id = ?1
                AND s.from_number < h.number AND (s.until_number IS NULL OR s.until_number >= h.number))))
        """

    package func calls(of user: UserID, before cursor: CallID?, limit: Int) throws -> [Call] {
        // "z" follows every id.
        try CallRows.calls(
            sql.query(
                """
                \(CallColumns.document) WHERE c.id IN (
                    SELECT p.call_id FROM participants p JOIN calls h ON h.id = p.call_id
                    WHERE p.user_id = ?1 AND p.withheld = 0 AND p.call_id < ?2 AND \(Self.isInHistory)
                    ORDER BY p.call_id DESC LIMIT ?3)
                ORDER BY c.id DESC, p.place
                """, [.id(user), .text(cursor?.text ?? "z"), .integer(limit)]))
    }

    /// All calls, newest first, before `cursor`.
    package func calls(before cursor: CallID?, limit: Int) throws -> [Call] {
        try CallRows.calls(
            sql.query(
                """
                \(CallColumns.document) WHERE c.id IN (SELECT id FROM calls WHERE id < ?1 ORDER BY id DESC LIMIT ?2)
                ORDER BY c.id DESC, p.place
                """, [.text(cursor?.text ?? "z"), .integer(limit)]))
    }

    /// Live calls, newest first, before `cursor`.
    package func liveCalls(before cursor: CallID?, limit: Int) throws -> [Call] {
        try CallRows.calls(
            sql.query(
                """
                \(CallColumns.document) WHERE c.id IN (
                    SELECT DISTINCT call_id FROM participants WHERE live = 1 AND call_id < ?1
                    ORDER BY call_id DESC LIMIT ?2)
                ORDER BY c.id DESC, p.place
                """, [.text(cursor?.text ?? "z"), .integer(limit)]))
    }

    package func liveCalls() throws -> [Call] {
        try CallRows.calls(
            sql.query(
                """
                \(CallColumns.document) WHERE c.id IN (SELECT call_id FROM participants WHERE live = 1)
                ORDER BY c.id, p.place
                """))
    }
}

// Writing calls.
extension StoreTransaction {
    package func insert(_ call: Call) throws {
        let number = try follow(new: call)
        try sql.execute(
            """
            INSERT INTO calls (
                id, conversation_id, kind, created_at, version, status, pair, answered_at, empty_until, ended_at,
                end_reason, ended_by, mode, gateway_epoch, recording_id, recording_by, recording_at,
                recording_until, recording_end, was_recorded, captions_by, captions_at, captions_failure, is_open, number)
            VALUES (
                ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23,
                ?24, ?25)
            """,
            [.id(call.id), .id(call.conversation), .text(call.kind.rawValue), .time(call.createdAt)]
                + call.changingValues + [.bool(call.isOpen), .integer(number)])
        try insert(call.participants[...], in: call)
    }

    /// The version is compared and set in one statement, so that of two commands that read the same document only one
    /// succeeds, wherever they run.
    package func save(_ call: Call, replacing earlier: Call) throws {
        if call.version != earlier.version { try saveCall(call, replacing: earlier) }
        try follow(call, replacing: earlier)
        let hasEnded = call.isLive != earlier.isLive
        for (index, (participant, before)) in zip(call.participants, earlier.participants).enumerated() {
            guard hasEnded || participant != before else { continue }
            var set = Self.participantSet
            var values: [SQLValue] = [.id(call.id), .integer(index)] + participant.changingValues
            if hasEnded || participant.isWithheld != before.isWithheld {
                // These two are indexed; the index is not touched unless they change.
                set += ", live = ?24, withheld = ?25"
                values += [.bool(call.isLive), .bool(participant.isWithheld)]
            }
            try sql.execute("UPDATE participants SET \(set) WHERE call_id = ?1 AND place = ?2", values)
        }
        try insert(call.participants.dropFirst(earlier.participants.count), in: call)
    }

    private func saveCall(_ call: Call, replacing earlier: Call) throws {
        let isSameStatus =
            call.status == earlier.status && call.pair == earlier.pair && call.mode == earlier.mode
            && call.recording == earlier.recording && call.recordingEnd == earlier.recordingEnd
            && call.captions == earlier.captions
        let saved =
            isSameStatus
            ? try sql.execute(
                "UPDATE calls SET version = ?3 WHERE id = ?1 AND version = ?2",
                [.id(call.id), .integer(earlier.version), .integer(call.version)])
            : try sql.execute(
                """
                UPDATE calls SET version = ?3, status = ?4, pair = ?5, answered_at = ?6, empty_until = ?7,
                    ended_at = ?8, end_reason = ?9, ended_by = ?10, mode = ?11, gateway_epoch = ?12,
                    recording_id = ?13, recording_by = ?14, recording_at = ?15,
                    recording_until = ?16, recording_end = ?17, was_recorded = ?18,
                    captions_by = ?19, captions_at = ?20, captions_failure = ?21
                WHERE id = ?1 AND version = ?2
                """, [.id(call.id), .integer(earlier.version)] + call.changingValues)
        guard saved == 1 else {
            throw Problem(
                .unavailable, "The call was changed by another request at the same time; try again.", retryAfter: 100)
        }
    }

    private static let participantSet = """
        state = ?3, ring_until = ?4, endpoint_id = ?5, sign_in_id = ?6, joined_at = ?7, connected = ?8, setup_until
        = ?9, detached_at = ?10, taken_over = ?11, left_at = ?12, reason = ?13, audio = ?14, video = ?15, screen =
        ?16, held = ?17, loss = ?18, jitter = ?19, round_trip = ?20, relayed = ?21, seconds = ?22, pushed_at = ?23
        """

    /// The column `place` is the participant's index in the document.
    private func insert(_ participants: ArraySlice<Participant>, in call: Call) throws {
        let rows = zip(participants.indices, participants).map { index, participant -> [SQLValue] in
            [.id(call.id), .integer(index)] + participant.changingValues + [
                .bool(call.isLive), .bool(participant.isWithheld), .id(participant.user),
                .text(participant.displayName), .text(participant.photoURL),
            ]
        }
        for batch in rows.batches {
            try sql.execute(
                """
                INSERT INTO participants (
                    call_id, place, state, ring_until, endpoint_id, sign_in_id, joined_at, connected, setup_until,
                    detached_at, taken_over, left_at, reason, audio, video, screen, held, loss, jitter, round_trip, relayed, seconds,
                    pushed_at, live, withheld, user_id, display_name, photo_url)
                VALUES \(Placeholders.rows(batch.count, of: 28))
                """, batch.flatMap { $0 })
        }
    }
}

// Client ids of calls.
extension StoreTransaction {
    package func remember(
        _ clientID: ClientID, of user: UserID, bodyHash: Int64, entity: CallID
    ) throws -> ClientIDVerdict {
        let hash = (0..<8).map { UInt8(truncatingIfNeeded: bodyHash >> (56 - 8 * $0)) }
        switch try remember(clientID: clientID, user: user, bodyHash: hash, entity: entity.text) {
        case .new: return .new
        case .reused: return .reused
        case .same(let text):
            guard let made = CallID(text) else {
                throw SQLError(.unexpectedValue, "A client id refers to something that is not a call.")
            }
            return .same(made)
        }
    }
}

// The epochs of the gateway.
extension StoreTransaction {
    /// The gateway starts. Returns its new epoch, which was never used before.
    package func beginGatewayEpoch() throws -> Int64 {
        let row = try sql.first(
            """
            INSERT INTO gateway (id, epoch) VALUES (1, 1)
            ON CONFLICT (id) DO UPDATE SET epoch = gateway.epoch + 1 RETURNING epoch
            """)
        guard let row else { throw SQLError(.failed, "The database returned no epoch for the gateway.") }
        return try row.integer(0)
    }
}
