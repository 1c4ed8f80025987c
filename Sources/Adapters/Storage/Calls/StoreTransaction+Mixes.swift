package import Calls
package import Model

extension StoreTransaction {
    package func requestMix(of recording: RecordingID, for user: UserID) throws {
        try save(.pending, of: recording)
        try sql.execute(
            "UPDATE recording_mixes SET user_id = ?2 WHERE recording_id = ?1", [.id(recording), .id(user)])
    }

    package func mixOwner(of recording: RecordingID) throws -> UserID? {
        try sql.first("SELECT user_id FROM recording_mixes WHERE recording_id = ?1", [.id(recording)])?
            .idIfPresent(0)
    }

    package func save(_ mix: RecordingMix, of recording: RecordingID) throws {
        var failure: String?
        if case .failed(let message) = mix { failure = message }
        let audio = mix.audio
        try sql.execute(
            """
            INSERT INTO recording_mixes (recording_id, status, failure, file_id, byte_count, duration)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            ON CONFLICT (recording_id) DO UPDATE SET
                status = ?2, failure = ?3, file_id = ?4, byte_count = ?5, duration = ?6
            """,
            [
                .id(recording), .text(mix.status), .text(failure), .id(audio?.file), .integer(audio?.byteCount),
                .integer(audio?.duration),
            ])
        guard let audio else { return }
        try insert(
            MediaFile(
                id: audio.file, kind: .recording, resource: recording.text, contentType: "audio/ogg",
                byteCount: Int(audio.byteCount), createdAt: now, owner: try mixOwner(of: recording)))
    }

    package func unmixedRecordings() throws -> [RecordingID] {
        try sql.query("SELECT recording_id FROM recording_mixes WHERE status = 'pending' ORDER BY recording_id").map {
            try $0.id(0)
        }
    }

    func mix(of recording: RecordingID) throws -> RecordingMix? {
        let row = try sql.first(
            "SELECT status, failure, file_id, byte_count, duration FROM recording_mixes WHERE recording_id = ?1",
            [.id(recording)])
        guard let row else { return nil }
        var columns = ColumnReader(row)
        let status = try columns.text()
        let failure = try columns.textIfPresent()
        switch status {
        case "pending": return .pending
        case "failed": return .failed(failure ?? "")
        case "complete":
            return .complete(
                RecordingMix.MixedAudio(
                    file: try columns.id(), byteCount: try columns.integer(), duration: try columns.integer()))
        default: throw SQLError(.unexpectedValue, "A mix has the unknown status \(status).")
        }
    }

    func removeMix(of recording: RecordingID) throws {
        if let file = try mix(of: recording)?.audio?.file { try removeMediaFile(file) }
        try sql.execute("DELETE FROM recording_mixes WHERE recording_id = ?1", [.id(recording)])
    }
}
