package import Calls
package import Model

// Negotiations, and signals: the mailboxes themselves are streams of the log.
extension StoreTransaction {
    package func negotiation(in call: CallID, between peers: Negotiation.Peers) throws -> Negotiation? {
        let row = try sql.first(
            """
            SELECT generation, offer_from, offer_delivered_at, offer_seq, offer_answered, held_first, held_second
            FROM negotiations WHERE call_id = ?1 AND first_endpoint = ?2 AND second_endpoint = ?3
            """, Self.key(call, peers))
        guard let row else { return nil }
        let offer = try row.idIfPresent(1, of: Entities.Endpoint.self).map { sender in
            Negotiation.Offer(
                from: sender, deliveredAt: try row.timeIfPresent(2), sequence: try row.integerIfPresent(3),
                isAnswered: try row.bool(4))
        }
        return Negotiation(
            call: call, peers: peers, generation: try row.integer(0), offer: offer, heldFromFirst: try row.int(5),
            heldFromSecond: try row.int(6))
    }

    /// The statement compares what was read, so that of two colliding offers one is rejected, wherever they run.
    package func save(_ negotiation: Negotiation, replacing earlier: Negotiation?) throws {
        let offer = negotiation.offer
        let saved = try sql.execute(
            """
            INSERT INTO negotiations (
                call_id, first_endpoint, second_endpoint, generation, offer_from, offer_delivered_at, offer_seq,
                offer_answered, held_first, held_second)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
            ON CONFLICT (call_id, first_endpoint, second_endpoint) DO UPDATE SET
                generation = excluded.generation, offer_from = excluded.offer_from,
                offer_delivered_at = excluded.offer_delivered_at, offer_seq = excluded.offer_seq,
                offer_answered = excluded.offer_answered, held_first = excluded.held_first,
                held_second = excluded.held_second
            WHERE negotiations.generation = ?11 AND negotiations.offer_answered = ?12
            """,
            Self.key(negotiation.call, negotiation.peers) + [
                .integer(negotiation.generation), .id(offer?.from), .time(offer?.deliveredAt),
                .integer(offer?.sequence), .bool(offer?.isAnswered ?? false), .integer(negotiation.heldFromFirst),
                .integer(negotiation.heldFromSecond), .integer(earlier?.generation ?? -1),
                .bool(earlier?.offer?.isAnswered ?? false),
            ])
        guard saved == 1 else {
            throw Problem(.unavailable, "The other side sent a signal at the same time; try again.", retryAfter: 100)
        }
    }

    package func bind(_ negotiation: Negotiation, openedBy opener: EndpointID) throws {
        let offer = negotiation.offer
        try sql.execute(
            """
            UPDATE negotiations SET first_endpoint = ?2, second_endpoint = ?3, offer_delivered_at = ?4, offer_seq = ?5,
                held_first = ?6, held_second = ?7
            WHERE call_id = ?1 AND first_endpoint = ?8 AND second_endpoint = ''
            """,
            Self.key(negotiation.call, negotiation.peers) + [
                .time(offer?.deliveredAt), .integer(offer?.sequence), .integer(negotiation.heldFromFirst),
                .integer(negotiation.heldFromSecond), .id(opener),
            ])
    }

    private static func key(_ call: CallID, _ peers: Negotiation.Peers) -> [SQLValue] {
        [.id(call), .id(peers.first), Self.recipient(peers.second)]
    }

    /// No recipient yet is stored as the empty string, since key columns cannot be NULL.
    private static func recipient(_ endpoint: EndpointID?) -> SQLValue { .text(endpoint?.text ?? "") }
}

// Sent and held signals.
extension StoreTransaction {
    package func insert(_ signal: Signal) throws -> Bool {
        let isHeld = signal.status == .pending
        // Only held signals need an order; the log numbers the others.
        let order = isHeld ? "(SELECT COALESCE(MAX(place), 0) + 1 FROM signals WHERE call_id = ?1)" : "0"
        return try sql.execute(
            """
            INSERT INTO signals (
                call_id, user_id, client_id, body_hash, place, endpoint_id, to_endpoint, kind, generation, status, data)
            VALUES (?1, ?2, ?3, ?4, \(order), ?5, ?6, ?7, ?8, ?9, ?10)
            ON CONFLICT (call_id, user_id, client_id) DO NOTHING
            """,
            [
                .id(signal.call), .id(signal.from.user), .id(signal.clientID), .integer(signal.bodyHash),
                .id(signal.from.endpoint), Self.recipient(signal.to), .text(signal.kind.rawValue),
                .integer(signal.generation), .text(signal.status.rawValue), isHeld ? .text(signal.data) : .null,
            ]) == 1
    }

    package func sentSignal(_ clientID: ClientID, of user: UserID, in call: CallID) throws -> SentSignal? {
        let row = try sql.first(
            "SELECT body_hash, status, generation FROM signals WHERE call_id = ?1 AND user_id = ?2 AND client_id = ?3",
            [.id(call), .id(user), .id(clientID)])
        guard let row else { return nil }
        var columns = ColumnReader(row)
        return SentSignal(
            bodyHash: try columns.integer(), status: try columns.enumCase(), generation: try columns.integer())
    }

    package func heldSignals(
        in call: CallID, from sender: EndpointID, to recipient: EndpointID?
    ) throws -> [Signal] {
        try sql.query(
            """
            SELECT user_id, client_id, body_hash, kind, generation, status, data FROM signals
            WHERE call_id = ?1 AND endpoint_id = ?2 AND to_endpoint = ?3 AND data IS NOT NULL ORDER BY place
            """, [.id(call), .id(sender), Self.recipient(recipient)]
        ).map { row in
            var columns = ColumnReader(row)
            let from = Signal.Sender(user: try columns.id(), endpoint: sender)
            return Signal(
                call: call, clientID: try columns.id(), bodyHash: try columns.integer(), from: from, to: recipient,
                kind: try columns.enumCase(), generation: try columns.integer(), status: try columns.enumCase(),
                data: try columns.text())
        }
    }

    package func releaseHeldSignals(
        in call: CallID, from sender: EndpointID, to recipient: EndpointID?, through generation: Int64
    ) throws {
        try sql.execute(
            """
            UPDATE signals SET data = NULL WHERE call_id = ?1 AND endpoint_id = ?2 AND to_endpoint = ?3
                AND generation <= ?4 AND data IS NOT NULL
            """, [.id(call), .id(sender), Self.recipient(recipient), .integer(generation)])
    }

    package func bindHeldSignals(
        in call: CallID, from sender: EndpointID, to recipient: EndpointID, after generation: Int64
    ) throws {
        try sql.execute(
            """
            UPDATE signals SET to_endpoint = ?3
            WHERE call_id = ?1 AND endpoint_id = ?2 AND to_endpoint = '' AND generation > ?4 AND data IS NOT NULL
            """, [.id(call), .id(sender), .id(recipient), .integer(generation)])
    }
}
