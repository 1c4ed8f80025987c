import Messaging
import Model
import Voice

/// Voice files and their transcripts, in memory.
struct InMemoryVoiceFiles {
    var files: [FileID: VoiceFile] = [:]
    var transcripts: [FileID: FileTranscript] = [:]
    /// Files that are to be transcribed after the commit, and those whose bytes are to go.
    var toTranscribe: [FileID] = []
    var removed: [FileID] = []
}

extension InMemoryMessagingStore {
    private func files(limit: Int, where isIncluded: (VoiceFile) -> Bool) -> [VoiceFile] {
        Array(
            voice.files.values.filter(isIncluded).sorted { ($0.createdAt, $0.id.text) < ($1.createdAt, $1.id.text) }
                .prefix(limit))
    }

    func voiceFile(_ id: FileID) -> VoiceFile? { voice.files[id] }
    func unsentVoiceFileCount(of user: UserID, limit: Int) -> Int {
        unsentVoiceFiles(of: user, limit: limit).count
    }
    func unsentVoiceFiles(before time: Timestamp, limit: Int) -> [VoiceFile] {
        files(limit: limit) { $0.location == nil && $0.createdAt < time }
    }
    func unsentVoiceFiles(of user: UserID, limit: Int) -> [VoiceFile] {
        files(limit: limit) { $0.location == nil && $0.author == user }
    }
    func sentVoiceFiles(before time: Timestamp, limit: Int) -> [VoiceFile] {
        files(limit: limit) { $0.location != nil && $0.createdAt < time }
    }
    func insert(_ file: VoiceFile) { voice.files[file.id] = file }
    func save(_ location: VoiceFile.Location, of file: FileID) { voice.files[file]?.location = location }
    func removeVoiceFile(_ id: FileID) {
        voice.files[id] = nil
        voice.transcripts[id] = nil
        voice.removed.append(id)
    }
    func transcribeVoiceFile(_ id: FileID) {
        voice.transcripts[id] = .pending
        voice.toTranscribe.append(id)
    }
    func untranscribedVoiceFiles() -> [FileID] {
        voice.transcripts.filter { $0.value == .pending }.map(\.key).sorted { $0.text < $1.text }
    }
    // Uploads are tested over the store.
    func voiceFile(madeWith clientID: ClientID, of user: UserID, bodyHash: [UInt8]) -> MadeBefore { .never }
    func remember(
        _ clientID: ClientID, of user: UserID, bodyHash: [UInt8], voiceFile: FileID
    ) -> MadeBefore { .never }
    func transcript(of file: FileID) -> FileTranscript? { voice.transcripts[file] }
    func transcripts(of files: [FileID]) -> [FileID: FileTranscript] {
        voice.transcripts.filter { files.contains($0.key) }
    }
    func save(_ transcript: FileTranscript, of file: FileID) { voice.transcripts[file] = transcript }
    func mediaBytes(of user: UserID) -> Int64 {
        voice.files.values.filter { $0.author == user }.reduce(0) { $0 + Int64($1.audio.byteCount) }
    }
}
