import Foundation
package import Model
internal import Voice

extension StoreTransaction {
    package func transcript(of file: FileID) throws -> FileTranscript? { try transcripts(of: [file])[file] }

    package func transcripts(of files: [FileID]) throws -> [FileID: FileTranscript] {
        guard !files.isEmpty else { return [:] }
        let rows = try sql.query(
            "SELECT file_id, data FROM transcripts WHERE file_id IN \(Placeholders.list(files.count))",
            files.map { .id($0) })
        let pairs = try rows.map { row -> (FileID, FileTranscript) in
            let data = Data(try row.text(1).utf8)
            return (try row.id(0), try JSONDecoder().decode(FileTranscript.self, from: data))
        }
        return Dictionary(pairs) { $1 }
    }

    package func save(_ transcript: FileTranscript, of file: FileID) throws {
        let data = String(decoding: try JSONEncoder().encode(transcript), as: UTF8.self)
        try sql.execute(
            """
            INSERT INTO transcripts (file_id, status, data) VALUES (?1, ?2, ?3)
            ON CONFLICT (file_id) DO UPDATE SET status = ?2, data = ?3
            """, [.id(file), .text(transcript.status.rawValue), .text(data)])
    }

    func removeTranscript(of file: FileID) throws {
        hasErasedTexts = true
        try sql.execute("DELETE FROM transcripts WHERE file_id = ?1", [.id(file)])
    }

    package func transcribeVoiceFile(_ id: FileID) throws {
        try save(.pending, of: id)
        filesToTranscribe.append(id)
    }

    package func untranscribedVoiceFiles() throws -> [FileID] {
        try sql.query(
            """
            SELECT v.file_id FROM transcripts t JOIN voice_files v ON v.file_id = t.file_id
            WHERE t.status = 'pending' AND v.conversation_id IS NOT NULL ORDER BY v.file_id
            """
        ).map { try $0.id(0) }
    }
}
