package import Model
package import Voice

extension StoreTransaction: VoiceStore {}

extension StoreTransaction {
    private static let voiceColumns = """
        SELECT v.id, v.sender, v.recipient, v.created_at, v.duration, f.byte_count, f.content_type, v.waveform, v.level,
            v.file_id, v.pair
        FROM voice_messages v JOIN media_files f ON f.id = v.file_id
        """

    package func isActive(_ user: UserID) throws -> Bool {
        try sql.first("SELECT 1 FROM users WHERE id = ?1 AND disabled_at IS NULL", [.id(user)]) != nil
    }

    package func voiceMessage(_ id: VoiceMessageID) throws -> VoiceMessage? {
        try sql.first("\(Self.voiceColumns) WHERE v.id = ?1", [.id(id)]).map { try Self.voiceMessage($0) }
    }

    package func voiceMessages(
        of user: UserID, with other: UserID, before cursor: VoiceMessageID?, limit: Int
    ) throws -> [VoiceMessage] {
        let found = try [Self.pair(user, other), Self.withheldPair(from: user, to: other)].flatMap { pair in
            // "z" follows every id.
            try sql.query(
                "\(Self.voiceColumns) WHERE v.pair = ?1 AND v.id < ?2 ORDER BY v.id DESC LIMIT ?3",
                [.text(pair), .text(cursor?.text ?? "z"), .integer(limit)]
            ).map { try Self.voiceMessage($0) }
        }
        return Array(found.sorted { $0.id.text > $1.id.text }.prefix(limit))
    }

    package func voiceMessages(before time: Timestamp, limit: Int) throws -> [VoiceMessage] {
        try sql.query(
            "\(Self.voiceColumns) WHERE v.created_at < ?1 ORDER BY v.created_at LIMIT ?2",
            [.time(time), .integer(limit)]
        ).map { try Self.voiceMessage($0) }
    }

    package func voiceMessages(sentBy user: UserID, limit: Int) throws -> [VoiceMessage] {
        try sql.query(
            "\(Self.voiceColumns) WHERE v.sender = ?1 LIMIT ?2", [.id(user), .integer(limit)]
        ).map { try Self.voiceMessage($0) }
    }

    package func insert(_ message: VoiceMessage) throws {
        try insert(
            MediaFile(
                id: message.file, kind: .voice, resource: message.id.text, contentType: message.contentType,
                byteCount: message.byteCount, createdAt: message.createdAt, owner: message.from))
        try sql.execute(
            """
            INSERT INTO voice_messages (id, pair, sender, recipient, file_id, created_at, duration, waveform, level)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
            """,
            [
                .id(message.id), .text(Self.pair(of: message)), .id(message.from), .id(message.to),
                .id(message.file), .time(message.createdAt), .integer(message.durationMs),
                .blob(message.waveform.map { UInt8(clamping: $0) }), .integer(message.level),
            ])
    }

    package func remove(_ message: VoiceMessage) throws {
        try removeTranscript(of: message.file)
        try sql.execute("DELETE FROM voice_messages WHERE id = ?1", [.id(message.id)])
        try removeMediaFile(message.file)
    }

    package func voiceMessage(
        sentWith clientID: ClientID, of user: UserID, bodyHash: [UInt8]
    ) throws -> SentBefore {
        try Self.sentBefore(recall(clientID: clientID, user: user, bodyHash: bodyHash))
    }

    package func remember(
        _ clientID: ClientID, of user: UserID, bodyHash: [UInt8], message: VoiceMessageID
    ) throws -> SentBefore {
        try Self.sentBefore(remember(clientID: clientID, user: user, bodyHash: bodyHash, entity: message.text))
    }

    private static func sentBefore(_ memory: ClientIDMemory) -> SentBefore {
        switch memory {
        case .new: .never
        case .same(let entity): VoiceMessageID(entity).map { .same($0) } ?? .somethingElse
        case .reused: .somethingElse
        }
    }

    private static func pair(_ one: UserID, _ other: UserID) -> String {
        one.text < other.text ? one.text + ":" + other.text : other.text + ":" + one.text
    }

    private static func withheldPair(from sender: UserID, to recipient: UserID) -> String {
        sender.text + ">" + recipient.text
    }

    private static func pair(of message: VoiceMessage) -> String {
        message.isWithheld
            ? withheldPair(from: message.from, to: message.to) : pair(message.from, message.to)
    }

    private static func voiceMessage(_ row: SQLRow) throws -> VoiceMessage {
        let (from, to): (UserID, UserID) = (try row.id(1), try row.id(2))
        return VoiceMessage(
            id: try row.id(0), from: from, to: to, createdAt: try row.time(3),
            audio: VoiceAudio(
                durationMs: try row.int(4), byteCount: try row.int(5), contentType: try row.text(6),
                waveform: try row.blob(7).map(Int.init), level: try row.int(8)), file: try row.id(9),
            isWithheld: try row.text(10) == withheldPair(from: from, to: to))
    }
}
