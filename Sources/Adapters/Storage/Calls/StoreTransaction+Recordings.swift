package import Calls
package import Model

extension StoreTransaction {
    private static let recordingColumns =
        "SELECT id, call_id, user_id, started_at, status, ended_at, failure, reason FROM recordings"

    private static let trackColumns = "number, user_id, endpoint_id, source, start_ms, file_id, duration, byte_count"

    package func insert(_ recording: Recording) throws {
        try sql.execute(
            """
            INSERT INTO recordings (id, call_id, user_id, started_at, status, ended_at, failure)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
            """,
            [
                .id(recording.id), .id(recording.call), .id(recording.by), .time(recording.startedAt),
                .text(recording.status.rawValue), .time(recording.endedAt), .text(recording.failure),
            ])
    }

    package func recording(_ id: RecordingID) throws -> Recording? {
        try sql.first("\(Self.recordingColumns) WHERE id = ?1", [.id(id)]).map { try recording($0) }
    }

    package func recordings(of call: CallID) throws -> [Recording] {
        try sql.query("\(Self.recordingColumns) WHERE call_id = ?1 ORDER BY id", [.id(call)]).map {
            try recording($0)
        }
    }

    package func ongoingRecordings() throws -> [Recording] {
        try sql.query("\(Self.recordingColumns) WHERE status = 'ongoing' ORDER BY id").map { try recording($0) }
    }

    package func recordings(before time: Timestamp, limit: Int) throws -> [Recording] {
        try sql.query(
            "\(Self.recordingColumns) WHERE started_at < ?1 AND status <> 'ongoing' ORDER BY started_at LIMIT ?2",
            [.time(time), .integer(limit)]
        ).map { try recording($0) }
    }

    package func close(_ recording: Recording) throws {
        try sql.execute(
            "UPDATE recordings SET status = ?2, ended_at = ?3, failure = ?4, reason = ?5 WHERE id = ?1",
            [
                .id(recording.id), .text(recording.status.rawValue), .time(recording.endedAt),
                .text(recording.failure), .text(recording.reason?.rawValue),
            ])
    }

    package func insert(_ track: Recording.Track, of recording: RecordingID) throws {
        try sql.execute(
            """
            INSERT INTO recording_tracks (
                recording_id, number, user_id, endpoint_id, source, start_ms, file_id, duration, byte_count)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
            """,
            [
                .id(recording), .integer(track.number), .id(track.user), .id(track.endpoint),
                .text(track.source.rawValue), .integer(track.offset), .id(track.file), .integer(track.duration),
                .integer(track.byteCount),
            ])
    }

    package func close(_ track: Recording.Track, of recording: RecordingID) throws {
        try sql.execute(
            "UPDATE recording_tracks SET duration = ?3, byte_count = ?4 WHERE recording_id = ?1 AND number = ?2",
            [.id(recording), .integer(track.number), .integer(track.duration), .integer(track.byteCount)])
        try setByteCount(track.byteCount ?? 0, of: track.file)
    }

    package func admit(_ users: [UserID], to recording: RecordingID) throws {
        for user in users {
            try sql.execute(
                """
                INSERT INTO recording_audience (recording_id, user_id) VALUES (?1, ?2)
                ON CONFLICT (recording_id, user_id) DO NOTHING
                """, [.id(recording), .id(user)])
        }
    }

    package func isAdmitted(_ user: UserID, to recording: RecordingID) throws -> Bool {
        try sql.first(
            "SELECT 1 FROM recording_audience WHERE recording_id = ?1 AND user_id = ?2", [.id(recording), .id(user)])
            != nil
    }

    package func audience(of recording: RecordingID) throws -> [UserID] {
        try sql.query(
            "SELECT user_id FROM recording_audience WHERE recording_id = ?1 ORDER BY user_id", [.id(recording)]
        ).map { try $0.id(0) }
    }

    package func remove(_ recording: RecordingID) throws {
        for track in try tracks(of: recording) {
            try removeTranscript(of: track.file)
            try removeMediaFile(track.file)
        }
        try removeMix(of: recording)
        try sql.execute("DELETE FROM recording_tracks WHERE recording_id = ?1", [.id(recording)])
        try sql.execute("DELETE FROM recording_audience WHERE recording_id = ?1", [.id(recording)])
        try sql.execute("DELETE FROM recordings WHERE id = ?1", [.id(recording)])
    }

    package func untranscribedTracks() throws -> [UntranscribedTrack] {
        try sql.query(
            """
            SELECT r.recording_id, r.file_id FROM transcripts t JOIN recording_tracks r ON r.file_id = t.file_id
            WHERE t.status = 'pending' ORDER BY r.recording_id, r.number
            """
        ).map { UntranscribedTrack(recording: try $0.id(0), file: try $0.id(1)) }
    }

    private func recording(_ row: SQLRow) throws -> Recording {
        var columns = ColumnReader(row)
        let id = try columns.id(of: Entities.Recording.self)
        return Recording(
            id: id, call: try columns.id(), by: try columns.id(), startedAt: try columns.time(),
            status: try columns.enumCase(), endedAt: try columns.timeIfPresent(), failure: try columns.textIfPresent(),
            tracks: try tracks(of: id), reason: try columns.textIfPresent().flatMap(Recording.EndReason.init),
            mix: try mix(of: id))
    }

    private func tracks(of recording: RecordingID) throws -> [Recording.Track] {
        try sql.query(
            """
            SELECT \(Self.trackColumns) FROM recording_tracks WHERE recording_id = ?1 ORDER BY number
            """, [.id(recording)]
        ).map { try Self.track(ColumnReader($0)) }
    }

    private static func track(_ reader: ColumnReader) throws -> Recording.Track {
        var columns = reader
        return Recording.Track(
            number: try columns.int(), user: try columns.id(), endpoint: try columns.id(),
            source: try columns.enumCase(), offset: try columns.integer(), file: try columns.id(),
            duration: try columns.integerIfPresent(), byteCount: try columns.integerIfPresent())
    }
}

// The erasure of a deleted user's tracks.
extension StoreTransaction: RecordingErasureStore {
    package func recordedTracks(
        of user: UserID, limit: Int
    ) throws -> [(recording: RecordingID, track: Recording.Track)] {
        try sql.query(
            "SELECT recording_id, \(Self.trackColumns) FROM recording_tracks WHERE user_id = ?1 LIMIT ?2",
            [.id(user), .integer(limit)]
        ).map { (try $0.id(0), try Self.track(ColumnReader($0, from: 1))) }
    }

    package func remove(_ track: Recording.Track, of recording: RecordingID) throws {
        try removeTranscript(of: track.file)
        try removeMediaFile(track.file)
        try sql.execute(
            "DELETE FROM recording_tracks WHERE recording_id = ?1 AND number = ?2",
            [.id(recording), .integer(track.number)])
    }

    package func removeMixFile(of recording: RecordingID) throws {
        if let file = try mix(of: recording)?.audio?.file { try removeMediaFile(file) }
    }
}
