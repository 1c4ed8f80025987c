package import Languages
package import Model
package import Voice

// The rows of voice files.
extension StoreTransaction: VoiceStore {
    private static let voiceFileColumns = """
        SELECT v.file_id, v.author, v.created_at, v.duration, f.byte_count, f.content_type, v.waveform, v.level,
            v.conversation_id, v.number
        FROM voice_files v JOIN media_files f ON f.id = v.file_id
        """

    package func isActive(_ user: UserID) throws -> Bool { try activeLanguages(of: user) != nil }

    package func languages(of user: UserID) throws -> [LanguageTag] { try activeLanguages(of: user) ?? [] }

    /// Nil if the user is not active.
    private func activeLanguages(of user: UserID) throws -> [LanguageTag]? {
        try shared(\.active, user) {
            try connection.first("SELECT languages FROM users WHERE id = ?1 AND disabled_at IS NULL", [.id(user)])
                .map { try $0.text(0).split(separator: ",").compactMap { LanguageTag(wellFormed: String($0)) } }
        }
    }

    package func voiceFile(_ id: FileID) throws -> VoiceFile? {
        try sql.first("\(Self.voiceFileColumns) WHERE v.file_id = ?1", [.id(id)]).map { try Self.voiceFile($0) }
    }

    package func unsentVoiceFileCount(of user: UserID, limit: Int) throws -> Int {
        try sql.first(
            """
            SELECT COUNT(*) FROM (
                SELECT 1 FROM voice_files WHERE author = ?1 AND conversation_id IS NULL LIMIT ?2) found
            """, [.id(user), .integer(limit)])?.int(0) ?? 0
    }

    package func unsentVoiceFiles(before time: Timestamp, limit: Int) throws -> [VoiceFile] {
        try voiceFiles("v.conversation_id IS NULL AND v.created_at < ?1 ORDER BY v.created_at", .time(time), limit)
    }

    package func unsentVoiceFiles(of user: UserID, limit: Int) throws -> [VoiceFile] {
        try voiceFiles("v.conversation_id IS NULL AND v.author = ?1", .id(user), limit)
    }

    package func sentVoiceFiles(before time: Timestamp, limit: Int) throws -> [VoiceFile] {
        try voiceFiles("v.conversation_id IS NOT NULL AND v.created_at < ?1 ORDER BY v.created_at", .time(time), limit)
    }

    private func voiceFiles(_ condition: String, _ value: SQLValue, _ limit: Int) throws -> [VoiceFile] {
        try sql.query("\(Self.voiceFileColumns) WHERE \(condition) LIMIT ?2", [value, .integer(limit)])
            .map { try Self.voiceFile($0) }
    }

    package func insert(_ file: VoiceFile) throws {
        try insert(
            MediaFile(
                id: file.id, kind: .voice, resource: file.id.text, contentType: file.audio.contentType,
                byteCount: file.audio.byteCount, createdAt: file.createdAt, owner: file.author))
        try sql.execute(
            """
            INSERT INTO voice_files (file_id, author, created_at, duration, waveform, level, conversation_id, number)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
            """,
            [
                .id(file.id), .id(file.author), .time(file.createdAt), .integer(file.audio.durationMs),
                .blob(file.audio.waveform.map { UInt8(clamping: $0) }), .integer(file.audio.level),
                .id(file.location?.conversation), .integer(file.location?.number),
            ])
    }

    package func save(_ location: VoiceFile.Location, of file: FileID) throws {
        try sql.execute(
            "UPDATE voice_files SET conversation_id = ?2, number = ?3 WHERE file_id = ?1",
            [.id(file), .id(location.conversation), .integer(location.number)])
    }

    package func removeVoiceFile(_ id: FileID) throws {
        try removeTranscript(of: id)
        try sql.execute("DELETE FROM voice_files WHERE file_id = ?1", [.id(id)])
        try removeMediaFile(id)
        removedFiles.append(id)
    }

    package func voiceFile(
        madeWith clientID: ClientID, of user: UserID, bodyHash: [UInt8]
    ) throws -> MadeBefore {
        try Self.madeBefore(recall(clientID: clientID, user: user, bodyHash: bodyHash))
    }

    package func remember(
        _ clientID: ClientID, of user: UserID, bodyHash: [UInt8], voiceFile: FileID
    ) throws -> MadeBefore {
        try Self.madeBefore(remember(clientID: clientID, user: user, bodyHash: bodyHash, entity: voiceFile.text))
    }

    private static func madeBefore(_ memory: ClientIDMemory) -> MadeBefore {
        switch memory {
        case .new: .never
        case .same(let entity): FileID(entity).map { .same($0) } ?? .somethingElse
        case .reused: .somethingElse
        }
    }

    private static func voiceFile(_ row: SQLRow) throws -> VoiceFile {
        var reader = ColumnReader(row)
        let (id, author, createdAt): (FileID, UserID, Timestamp) = (
            try reader.id(), try reader.id(), try reader.time()
        )
        let audio = VoiceAudio(
            durationMs: try reader.int(), byteCount: try reader.int(), contentType: try reader.text(),
            waveform: try reader.blob().map(Int.init), level: try reader.int())
        let (conversation, number): (ConversationID?, Int64?) = (
            try reader.idIfPresent(), try reader.integerIfPresent()
        )
        return VoiceFile(
            id: id, author: author, createdAt: createdAt, audio: audio,
            location: conversation.flatMap { id in number.map { VoiceFile.Location(conversation: id, number: $0) } })
    }
}
