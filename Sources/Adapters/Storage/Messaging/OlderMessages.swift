/// Makes messages of what two people had before conversations: ordered by time among those that are there.
///
/// What is numbered renumberings up by those before it; the log's epoch changes, so that clients read anew. Some pairs are done at a
/// time, in transactions of their own: what the database sorts, and the pages that a transaction may have to undo, are in
/// memory.
struct OlderMessages: Sendable {
    /// Of a part, or those of one pair.
    private static let countAtOnce = 5_000

    /// The tables: of all, then those of one part. `all` and `part` have `columns`.
    let all: String
    let part: String
    let pairs: String
    let numbers: String
    let moved: String
    let columns: String
    /// Columns: what it is, and the two people.
    let id: String
    let author: String
    let other: String
    /// Also moved, and what is done before the messages are written.
    var renumberings: @Sendable (OlderMessages) -> [String] = { _ in [] }
    var readMarks: [String] = []
    /// Writes the messages, and what refers to them.
    let messages: [String]
    let results: [String]
    /// What is done at the end. Tables of this are left.
    let finish: [String]

    private var parts: [String] { [part, pairs, numbers, moved] }

    /// Creates the tables.
    ///
    /// - Parameter definitions: of the columns beside `pair` and `at`.
    func preparation(_ definitions: String, filling: [String], epoch: Character) -> [String] {
        [
            """
            CREATE TABLE \(all) (
                pair TEXT NOT NULL, at BIGINT NOT NULL, \(definitions), PRIMARY KEY (pair, at, \(id))) WITHOUT ROWID
            """
        ] + filling + [
            """
            CREATE TABLE \(part) (
                pair TEXT NOT NULL, at BIGINT NOT NULL, \(definitions), PRIMARY KEY (pair, at, \(id))) WITHOUT ROWID
            """,
            """
            CREATE TABLE \(pairs) (
                pair TEXT PRIMARY KEY, conversation_id TEXT NOT NULL, is_new BIGINT NOT NULL, started_at BIGINT NOT NULL)
                WITHOUT ROWID
            """,
            """
            CREATE TABLE \(numbers) (
                conversation_id TEXT NOT NULL, before_number BIGINT NOT NULL, place BIGINT NOT NULL, \(id) TEXT NOT NULL,
                PRIMARY KEY (conversation_id, before_number, place)) WITHOUT ROWID
            """,
            "CREATE UNIQUE INDEX \(part)_id ON \(part) (\(id))",
            "CREATE INDEX \(pairs)_conversation ON \(pairs) (conversation_id)",
            "CREATE UNIQUE INDEX \(numbers)_id ON \(numbers) (\(id))",
            "CREATE TABLE \(moved) (conversation_id TEXT PRIMARY KEY) WITHOUT ROWID",
            """
            UPDATE log SET counter = counter + 1, epoch = epoch || '\(epoch)' WHERE EXISTS (SELECT 1 FROM \(all))
            """,
        ]
    }

    /// Moves some pairs.
    ///
    /// - Returns: whether there may be more.
    func move(in transaction: any SQLTransaction) throws -> Bool {
        guard let first = try pair(skipping: 0, in: transaction) else {
            for statement in finish { try transaction.execute(statement) }
            for table in parts + [all] { try transaction.execute("DROP TABLE \(table)") }
            return false
        }
        // Nothing comes after the last part.
        let range = [SQLValue.text(first), .text(try pair(skipping: Self.countAtOnce, in: transaction) ?? "~")]
        try transaction.execute(
            "INSERT INTO \(part) (\(columns)) SELECT \(columns) FROM \(all) WHERE pair BETWEEN ?1 AND ?2",
            range)
        for statement in conversations + placing { try transaction.execute(statement) }
        if try transaction.first("SELECT 1 FROM \(moved) LIMIT 1") != nil {
            for statement in allRenumberings { try transaction.execute(statement) }
        }
        for statement in read + readMarks + messages + sums + results { try transaction.execute(statement) }
        for table in parts { try transaction.execute("DELETE FROM \(table)") }
        try transaction.execute("DELETE FROM \(all) WHERE pair BETWEEN ?1 AND ?2", range)
        return true
    }

    private func pair(skipping count: Int, in transaction: any SQLTransaction) throws -> String? {
        try transaction.first(
            "SELECT pair FROM \(all) ORDER BY pair LIMIT 1 OFFSET ?1", [.integer(count)]
        )?.text(0)
    }

    /// Who has done nothing of it and is no friend has a request. The first names a new conversation: its id is as random as
    /// another one.
    private var conversations: [String] {
        [
            """
            INSERT INTO \(pairs) (pair, conversation_id, is_new, started_at)
            SELECT p.pair, COALESCE(v.id, MIN(p.\(id))), CASE WHEN v.id IS NULL THEN 1 ELSE 0 END, MIN(p.at)
            FROM \(part) p LEFT JOIN conversations v ON v.pair = p.pair GROUP BY p.pair, v.id
            """,
            """
            INSERT INTO conversations (
                id, kind, pair, created_at, last_number, last_sent_at, sequence, member_count, who_writes, who_adds,
                who_renames, version)
            SELECT conversation_id, 'direct', pair, started_at, 0, started_at, 1, 0, 'members', 'members', 'members', 1
            FROM \(pairs) WHERE is_new = 1
            """,
            """
            INSERT INTO members (conversation_id, user_id, role, state, joined_at, version)
            SELECT conversation_id, user_id, 'member', CASE
                    WHEN MAX(takes_part) = 1 THEN 'member'
                    WHEN EXISTS (
                        SELECT 1 FROM friends f
                        WHERE f.owner = found.user_id AND f.user_id = found.other AND f.state = 'friend') THEN 'member'
                    ELSE 'invited' END, MIN(started_at), 1
            FROM (
                SELECT q.conversation_id, q.started_at, p.\(author) AS user_id, p.\(other) AS other, 1 AS takes_part
                FROM \(part) p JOIN \(pairs) q ON q.pair = p.pair WHERE q.is_new = 1
                UNION ALL
                SELECT q.conversation_id, q.started_at, p.\(other), p.\(author), p.answered
                FROM \(part) p JOIN \(pairs) q ON q.pair = p.pair WHERE q.is_new = 1) found
            GROUP BY conversation_id, user_id, other
            """,
            """
            INSERT INTO spans (conversation_id, user_id, from_number)
            SELECT m.conversation_id, m.user_id, 0 FROM \(pairs) q CROSS JOIN members m
            WHERE m.conversation_id = q.conversation_id AND q.is_new = 1
            """,
            """
            UPDATE conversations SET member_count = (
                SELECT COUNT(*) FROM members m WHERE m.conversation_id = conversations.id AND m.state = 'member')
            WHERE id IN (SELECT conversation_id FROM \(pairs) WHERE is_new = 1)
            """,
        ]
    }

    /// Before which message each stands, and how many of them stand before it.
    private var placing: [String] {
        [
            """
            INSERT INTO \(numbers) (conversation_id, before_number, place, \(id))
            SELECT q.conversation_id, COALESCE((
                    SELECT m.number FROM messages m WHERE m.conversation_id = q.conversation_id AND m.sent_at > p.at
                    ORDER BY m.number LIMIT 1), v.last_number + 1),
                ROW_NUMBER() OVER (PARTITION BY q.conversation_id ORDER BY p.at, p.\(id)) - 1, p.\(id)
            FROM \(part) p CROSS JOIN \(pairs) q CROSS JOIN conversations v
            WHERE q.pair = p.pair AND v.id = q.conversation_id
            """,
            """
            INSERT INTO \(moved) (conversation_id)
            SELECT DISTINCT k.conversation_id FROM \(numbers) k CROSS JOIN conversations v
            WHERE v.id = k.conversation_id AND k.before_number <= v.last_number
            """,
        ]
    }

    /// How many stand before the message `number` of the conversation `id`.
    func countBefore(_ number: String, in id: String) -> String {
        """
        COALESCE((
            SELECT k.place + 1 FROM \(numbers) k WHERE k.conversation_id = \(id) AND k.before_number <= \(number)
            ORDER BY k.before_number DESC, k.place DESC LIMIT 1), 0)
        """
    }

    /// A column of a key renumberings by way of negative numbers, so that no two rows meet.
    func move(
        _ column: String, isKey: Bool = false, of table: String, keyedByUser: Bool = false
    ) -> [String] {
        let id = "\(table).conversation_id"
        let next = "\(table).\(column) + \(countBefore("\(table).\(column)", in: id))"
        var isMoved = "conversation_id IN (SELECT conversation_id FROM \(moved))"
        if keyedByUser {
            isMoved += """
                 AND user_id IN (
                    SELECT m.user_id FROM \(moved) k CROSS JOIN members m WHERE m.conversation_id = k.conversation_id)
                """
        }
        guard isKey else { return ["UPDATE \(table) SET \(column) = \(next) WHERE \(column) > 0 AND \(isMoved)"] }
        return [
            "UPDATE \(table) SET \(column) = -(\(next)) WHERE \(column) > 0 AND \(isMoved)",
            "UPDATE \(table) SET \(column) = -\(column) WHERE \(column) < 0 AND \(isMoved)",
        ]
    }

    private var allRenumberings: [String] {
        ["messages", "edits", "reactions", "mentions"].flatMap { move("number", isKey: true, of: $0) }
            + move("number", isKey: true, of: "own", keyedByUser: true)
            + move("to_number", isKey: true, of: "mark_rises") + move("from_number", of: "mark_rises")
            + move("from_number", isKey: true, of: "spans") + move("until_number", of: "spans")
            + move("reply_to", of: "messages") + move("thread", of: "messages")
            + move("reply_to", of: "scheduled") + move("thread", of: "scheduled")
            + move("number", isKey: true, of: "missed_calls")
            + move("draft_reply_to", of: "memberships", keyedByUser: true)
            + move("removed_after", of: "memberships", keyedByUser: true)
            + [
                """
                UPDATE marks SET shown = (
                    SELECT json_group_array(json_object(
                        'from', json_extract(e.value, '$.from')
                            + \(countBefore("json_extract(e.value, '$.from')", in: "marks.conversation_id")),
                        'to', json_extract(e.value, '$.to')
                            + \(countBefore("json_extract(e.value, '$.to')", in: "marks.conversation_id"))))
                    FROM json_each(marks.shown) e)
                WHERE shown IS NOT NULL AND conversation_id IN (SELECT conversation_id FROM \(moved))
                """,
                """
                UPDATE conversations SET pins = (
                    SELECT json_group_array(json_set(e.value, '$.number', json_extract(e.value, '$.number')
                        + \(countBefore("json_extract(e.value, '$.number')", in: "conversations.id"))))
                    FROM json_each(conversations.pins) e)
                WHERE pins IS NOT NULL AND id IN (SELECT conversation_id FROM \(moved))
                """,
                """
                UPDATE conversations SET live_call = json_set(live_call, '$.number', json_extract(live_call, '$.number')
                    + \(countBefore("json_extract(live_call, '$.number')", in: "conversations.id")))
                WHERE live_call IS NOT NULL AND id IN (SELECT conversation_id FROM \(moved))
                """,
                // Some may stand among those that were erased for their age.
                "UPDATE conversations SET erased_to = 0 WHERE id IN (SELECT conversation_id FROM \(moved))",
                // An index that an older tokenizer has made is made anew.
                "UPDATE search_indexes SET terms_version = 0 WHERE conversation_id IN (SELECT conversation_id FROM \(moved))",
            ]
            + renumberings(self)
    }

    /// Those after the last message that was read are old too.
    private var read: [String] {
        [
            """
            UPDATE marks SET read = read + \(countBefore("marks.read + 1", in: "marks.conversation_id")),
                delivered = delivered + \(countBefore("marks.delivered + 1", in: "marks.conversation_id"))
            WHERE conversation_id IN (SELECT conversation_id FROM \(pairs))
            """
        ]
    }

    /// A conversation in which nobody has written here stands below the others, as an imported one does.
    private var sums: [String] {
        [
            """
            UPDATE conversations SET sequence = sequence + 1, version = sequence + 1,
                last_number = last_number + (
                    SELECT COUNT(*) FROM \(numbers) k WHERE k.conversation_id = conversations.id),
                last_sent_at = (
                    SELECT MAX(m.sent_at) FROM messages m WHERE m.conversation_id = conversations.id),
                counter = COALESCE((SELECT counter FROM log WHERE id = 1), 0), kept_since = 0
            WHERE id IN (SELECT conversation_id FROM \(pairs))
            """,
            """
            UPDATE conversations SET activity = last_sent_at - 4503599627370496
            WHERE activity <= 0 AND id IN (SELECT conversation_id FROM \(pairs))
            """,
            """
            UPDATE members SET
                counter = (SELECT v.counter FROM conversations v WHERE v.id = members.conversation_id),
                activity = (SELECT v.activity FROM conversations v WHERE v.id = members.conversation_id)
            WHERE conversation_id IN (SELECT conversation_id FROM \(pairs) WHERE is_new = 1)
            """,
        ]
    }
}
