internal import Foundation
import Languages
package import Messaging
package import Model

// The rows of conversations and their members.
extension StoreTransaction {
    static let conversationColumns = """
        id, kind, name, created_at, last_number, last_sent_at, sequence, member_count, who_writes, who_adds, who_renames,
        version, pins, keep_days, live_call, disappear_after, withheld_timers, intelligence,
        ended_at, withheld_versions, withheld_end
        """
    static let memberColumns = """
        user_id, role, state, joined_at, version, at_leaving, invited_by, removed, silent
        """

    package func conversation(_ id: ConversationID) throws -> Conversation? {
        if let pending = touched[id]?.unwritten { return pending }
        return try connection.first("SELECT \(Self.conversationColumns) FROM conversations WHERE id = ?1", [.id(id)])
            .map { row in
                let conversation = try Self.conversation(row)
                touched.read(conversation)
                return conversation
            }
    }

    package func conversation(of pair: ConversationPair) throws -> Conversation? {
        let id = try sql.first("SELECT id FROM conversations WHERE pair = ?1", [.text(pair.text)])
        return try id.flatMap { try conversation($0.id(0)) }
    }

    package func insert(_ conversation: Conversation, pair: ConversationPair?) throws {
        try sql.execute(
            """
            INSERT INTO conversations (
                id, kind, name, created_at, last_number, last_sent_at, sequence, member_count, who_writes, who_adds,
                who_renames, version, pair, pins, keep_days, kept_since, live_call, disappear_after,
                intelligence)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?4, ?16, ?17, ?18)
            """,
            [
                .id(conversation.id), .text(conversation.kind.rawValue), .text(conversation.name),
                .time(conversation.createdAt), .integer(conversation.lastNumber), .time(conversation.lastSentAt),
                .integer(conversation.sequence), .integer(conversation.memberCount),
                .text(conversation.settings.write.rawValue), .text(conversation.settings.add.rawValue),
                .text(conversation.settings.rename.rawValue), .integer(conversation.version), .text(pair?.text),
                .text(try Self.text(of: conversation.pins)), .integer(conversation.settings.keepDays),
                .text(Self.text(of: conversation.liveCall)), .integer(conversation.disappearAfter),
                .text(conversation.settings.intelligence?.rawValue),
            ])
        touched.insert(conversation)
    }

    /// Is written when the transaction ends: see `finishConversations`.
    package func update(_ conversation: Conversation) throws {
        guard !touched.isSuspended else { return try write(conversation, counter: nil, activity: nil) }
        touched.update(conversation)
    }

    /// - Parameters:
    ///   - counter: the transaction's, if it changes everybody's inbox.
    ///   - activity: the same, if it adds a message.
    func write(_ conversation: Conversation, counter: Int64?, activity: Int64?) throws {
        try sql.execute(
            """
            UPDATE conversations SET name = ?2, last_number = ?3, last_sent_at = ?4, sequence = ?5, member_count = ?6,
                who_writes = ?7, who_adds = ?8, who_renames = ?9, version = ?10, counter = COALESCE(?11, counter),
                activity = COALESCE(?12, activity), pins = ?13, keep_days = ?14, live_call = ?15, disappear_after = ?16,
                withheld_timers = ?17, intelligence = ?18, ended_at = ?19,
                withheld_versions = ?20, withheld_end = ?21
            WHERE id = ?1
            """,
            [
                .id(conversation.id), .text(conversation.name), .integer(conversation.lastNumber),
                .time(conversation.lastSentAt), .integer(conversation.sequence), .integer(conversation.memberCount),
                .text(conversation.settings.write.rawValue), .text(conversation.settings.add.rawValue),
                .text(conversation.settings.rename.rawValue), .integer(conversation.version), .integer(counter),
                .integer(activity), .text(try Self.text(of: conversation.pins)),
                .integer(conversation.settings.keepDays),
                .text(Self.text(of: conversation.liveCall)),
                .integer(conversation.disappearAfter), .text(try Self.text(of: conversation.withheldTimers)),
                .text(conversation.settings.intelligence?.rawValue), .time(conversation.endedAt),
                .text(try Self.text(of: conversation.withheldVersions)),
                .text(try conversation.withheldEnd.map { try Self.json($0) }),
            ])
    }

    package func conversationCount(of user: UserID) throws -> Int {
        try sql.first(
            "SELECT COUNT(*) FROM members m WHERE user_id = ?1 AND state <> 'invited' AND \(Self.isListed)", [.id(user)]
        )?.int(0) ?? 0
    }

    /// Of a row `m` of members: see the index `members_listed`.
    package static let isListed = "(m.state <> 'left' OR m.at_leaving IS NOT NULL)"

    package func invitations(of user: UserID, beyond count: Int) throws -> [ConversationID] {
        try sql.query(
            """
            SELECT conversation_id FROM members WHERE user_id = ?1 AND state = 'invited'
            ORDER BY joined_at DESC LIMIT 100 OFFSET ?2
            """, [.id(user), .integer(count)]
        ).map { try $0.id(0) }
    }

    package func conversations(of user: UserID, after id: ConversationID?, limit: Int) throws -> [ConversationID] {
        try sql.query(
            """
            SELECT conversation_id FROM members WHERE user_id = ?1 AND conversation_id > ?2
            ORDER BY conversation_id LIMIT ?3
            """, [.id(user), .text(id?.text ?? ""), .integer(limit)]
        ).map { try $0.id(0) }
    }

    package func member(_ user: UserID, of conversation: ConversationID) throws -> Member? {
        try shared(\.members, .init(user: user, conversation: conversation)) {
            try connection.first(
                "SELECT \(Self.memberColumns) FROM members WHERE conversation_id = ?1 AND user_id = ?2",
                [.id(conversation), .id(user)]
            ).map { try Self.member($0) }
        }
    }

    package func members(of conversation: ConversationID, after user: UserID?, limit: Int) throws -> [Member] {
        guard user == nil, limit == 2 else { return try readMembers(of: conversation, after: user, limit: limit) }
        return try shared(\.pairs, conversation) { try readMembers(of: conversation, after: nil, limit: 2) }
    }

    private func readMembers(of conversation: ConversationID, after user: UserID?, limit: Int) throws -> [Member] {
        try connection.query(
            """
            SELECT \(Self.memberColumns) FROM members WHERE conversation_id = ?1 AND user_id > ?2
            ORDER BY user_id LIMIT ?3
            """, [.id(conversation), .text(user?.text ?? ""), .integer(limit)]
        ).map { try Self.member($0) }
    }

    package func members(
        of conversation: ConversationID, changedAfter sequence: Int64, limit: Int
    ) throws -> [Member] {
        try sql.query(
            """
            SELECT \(Self.memberColumns) FROM members WHERE conversation_id = ?1 AND version > ?2
            ORDER BY version, user_id LIMIT ?3
            """, [.id(conversation), .integer(sequence), .integer(limit)]
        ).map { try Self.member($0) }
    }

    package func memberCount(of conversation: ConversationID) throws -> Int {
        try sql.first(
            "SELECT COUNT(*) FROM members WHERE conversation_id = ?1 AND state <> 'left'", [.id(conversation)])?.int(0)
            ?? 0
    }

    package func nextOwner(of conversation: ConversationID) throws -> Member? {
        try sql.first(
            """
            SELECT \(Self.memberColumns) FROM members WHERE conversation_id = ?1 AND state = 'member'
            ORDER BY CASE role WHEN 'owner' THEN 0 WHEN 'admin' THEN 1 ELSE 2 END, joined_at, user_id LIMIT 1
            """, [.id(conversation)]
        ).map { try Self.member($0) }
    }

    package func save(_ member: Member, of conversation: ConversationID) throws {
        try sql.execute(
            """
            INSERT INTO members (
                conversation_id, user_id, role, state, joined_at, version, at_leaving, invited_by, removed, silent)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
            ON CONFLICT (conversation_id, user_id)
            DO UPDATE SET role = ?3, state = ?4, joined_at = ?5, version = ?6, at_leaving = ?7, invited_by = ?8,
                removed = ?9, silent = ?10
            """,
            [
                .id(conversation), .id(member.user), .text(member.role.rawValue), .text(member.state.rawValue),
                .time(member.joinedAt), .integer(member.version),
                .text(try member.conversationAtLeaving.map { try Self.formerConversation($0, of: member) }),
                .id(member.invitedBy), .integer(member.removedAt ?? 0), .bool(member.isInvitationSilent),
            ])
        touched.save(member, of: conversation)
        if member.state == .member { notePush(.joined(conversation)) }
        if member.state == .left, !touched.isSuspended { departures.append((conversation, member.user)) }
    }

    package func spans(of user: UserID, in conversation: ConversationID) throws -> MembershipSpans {
        try shared(\.spans, .init(user: user, conversation: conversation)) {
            let spans = try connection.query(
                """
                SELECT from_number, until_number, until_sequence FROM spans WHERE conversation_id = ?1 AND user_id = ?2
                ORDER BY from_number
                """, [.id(conversation), .id(user)]
            ).map { row in
                MembershipSpans.Span(
                    from: try row.integer(0), until: try row.integerIfPresent(1),
                    untilSequence: try row.integerIfPresent(2))
            }
            return MembershipSpans(spans)
        }
    }

    package func save(_ spans: MembershipSpans, of user: UserID, in conversation: ConversationID) throws {
        touched.spans(of: user, in: conversation)
        try sql.execute(
            "DELETE FROM spans WHERE conversation_id = ?1 AND user_id = ?2", [.id(conversation), .id(user)])
        for span in spans.spans {
            try sql.execute(
                """
                INSERT INTO spans (conversation_id, user_id, from_number, until_number, until_sequence)
                VALUES (?1, ?2, ?3, ?4, ?5)
                """,
                [
                    .id(conversation), .id(user), .integer(span.from), .integer(span.until),
                    .integer(span.untilSequence),
                ])
        }
    }

    private static func conversation(_ row: SQLRow) throws -> Conversation {
        var reader = ColumnReader(row)
        return try conversation(&reader)
    }

    static func conversation(_ reader: inout ColumnReader) throws -> Conversation {
        var conversation = Conversation(
            id: try reader.id(), kind: try reader.enumCase(), name: try reader.textIfPresent(),
            createdAt: try reader.time(), lastNumber: try reader.integer(), lastSentAt: try reader.time(),
            sequence: try reader.integer(), memberCount: try reader.int(),
            settings: ConversationSettings(
                write: try reader.enumCase(), add: try reader.enumCase(), rename: try reader.enumCase()),
            version: try reader.integer())
        conversation.pins = try array(try reader.textIfPresent())
        conversation.settings.keepDays = try reader.int()
        conversation.liveCall = try liveCall(try reader.textIfPresent())
        conversation.disappearAfter = try reader.integerIfPresent()
        conversation.withheldTimers = try array(try reader.textIfPresent())
        conversation.settings.intelligence = try reader.textIfPresent().flatMap { IntelligenceLevel(rawValue: $0) }
        conversation.endedAt = try reader.timeIfPresent()
        conversation.withheldVersions = try array(try reader.textIfPresent())
        conversation.withheldEnd = try reader.textIfPresent().map {
            try JSONDecoder().decode(WithheldEnd.self, from: Data($0.utf8))
        }
        return conversation
    }

    /// - Parameter removed: as it is stored: 0 for nobody, and 1, which no removal has, of one from before it was kept when.
    private static func removedAt(_ removed: Int64, of member: Member) -> Int64? {
        switch removed {
        case 0: nil
        case 1: member.version
        default: removed
        }
    }

    static func formerConversation(_ conversation: Conversation, of member: Member? = nil) throws -> String {
        try json(FormerConversation(conversation, member))
    }

    static func member(_ row: SQLRow) throws -> Member {
        var reader = ColumnReader(row)
        return try member(&reader)
    }

    static func member(_ reader: inout ColumnReader) throws -> Member {
        var member = Member(
            user: try reader.id(), role: try reader.enumCase(), state: try reader.enumCase(),
            joinedAt: try reader.time(), version: try reader.integer())
        let former = try reader.textIfPresent().map {
            try JSONDecoder().decode(FormerConversation.self, from: Data($0.utf8))
        }
        (member.conversationAtLeaving, member.partAtLeaving) = (former?.conversation(), former?.part)
        member.invitedBy = try reader.idIfPresent()
        member.removedAt = Self.removedAt(try reader.integer(), of: member)
        member.isInvitationSilent = try reader.bool()
        return member
    }
}

/// A conversation as somebody left it, as it is stored.
private struct FormerConversation: Codable {
    var id: ConversationID
    var kind: String
    var name: String?
    var createdAt: Int64
    var lastNumber: Int64
    var lastSentAt: Int64
    var sequence: Int64
    var memberCount: Int
    var write: String
    var add: String
    var rename: String
    var version: Int64
    var pins: [PinnedMessage]?
    var keepDays: Int?
    var intelligence: String?
    var disappearAfter: Int64?
    var withheldTimers: [WithheldTimer]?
    /// The member's part where others see an invitation.
    var joinedAt: Int64?
    var memberVersion: Int64?

    init(_ conversation: Conversation, _ member: Member?) {
        id = conversation.id
        kind = conversation.kind.rawValue
        name = conversation.name
        createdAt = conversation.createdAt.milliseconds
        lastNumber = conversation.lastNumber
        lastSentAt = conversation.lastSentAt.milliseconds
        sequence = conversation.sequence
        memberCount = conversation.memberCount
        write = conversation.settings.write.rawValue
        add = conversation.settings.add.rawValue
        rename = conversation.settings.rename.rawValue
        version = conversation.version
        pins = conversation.pins.isEmpty ? nil : conversation.pins
        keepDays = conversation.settings.keepDays == 0 ? nil : conversation.settings.keepDays
        intelligence = conversation.settings.intelligence?.rawValue
        disappearAfter = conversation.disappearAfter
        withheldTimers = conversation.withheldTimers.isEmpty ? nil : conversation.withheldTimers
        joinedAt = member?.partAtLeaving?.joinedAt.milliseconds
        memberVersion = member?.partAtLeaving?.version
    }

    var part: OwnMembership? {
        guard let joinedAt, let memberVersion else { return nil }
        return OwnMembership(joinedAt: Timestamp(milliseconds: joinedAt), version: memberVersion)
    }

    func conversation() -> Conversation {
        var conversation = Conversation(
            id: id, kind: ConversationKind(rawValue: kind) ?? .group, name: name,
            createdAt: Timestamp(milliseconds: createdAt), lastNumber: lastNumber,
            lastSentAt: Timestamp(milliseconds: lastSentAt), sequence: sequence, memberCount: memberCount,
            settings: ConversationSettings(
                write: .init(rawValue: write) ?? .members, add: .init(rawValue: add) ?? .members,
                rename: .init(rawValue: rename) ?? .members, keepDays: keepDays ?? 0,
                intelligence: intelligence.flatMap { IntelligenceLevel(rawValue: $0) }), version: version)
        conversation.pins = pins ?? []
        conversation.disappearAfter = disappearAfter
        conversation.withheldTimers = withheldTimers ?? []
        return conversation
    }
}
