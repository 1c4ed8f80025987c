package import Model

/// The storage of voice files, inside one transaction. A thrown error rolls it back.
package protocol VoiceStore: TranscriptStore, MediaUsageStore {
    /// Whether the user exists and is neither disabled nor deleted.
    func isActive(_ user: UserID) throws -> Bool

    func voiceFile(_ id: FileID) throws -> VoiceFile?
    /// How many files of the user are not sent; counts to `limit`.
    func unsentVoiceFileCount(of user: UserID, limit: Int) throws -> Int
    /// Files that are not sent and were made before `time`, the oldest first.
    func unsentVoiceFiles(before time: Timestamp, limit: Int) throws -> [VoiceFile]
    /// Some files of the user that are not sent.
    func unsentVoiceFiles(of user: UserID, limit: Int) throws -> [VoiceFile]
    /// Files that were sent and made before `time`, the oldest first.
    func sentVoiceFiles(before time: Timestamp, limit: Int) throws -> [VoiceFile]
    func insert(_ file: VoiceFile) throws
    /// The file was sent.
    func save(_ location: VoiceFile.Location, of file: FileID) throws
    /// Removes the rows of the file, and its transcript. Its bytes are removed after the commit.
    func removeVoiceFile(_ id: FileID) throws

    /// Saves that the transcript of the file is pending; it is made after the commit.
    func transcribeVoiceFile(_ id: FileID) throws
    /// Files whose transcripts are pending.
    func untranscribedVoiceFiles() throws -> [FileID]

    /// The file that `user` made with this client id, if any.
    func voiceFile(madeWith clientID: ClientID, of user: UserID, bodyHash: [UInt8]) throws -> MadeBefore
    func remember(_ clientID: ClientID, of user: UserID, bodyHash: [UInt8], voiceFile: FileID) throws -> MadeBefore
}

/// Whether a client id is new to its user.
package enum MadeBefore: Hashable, Sendable {
    case never
    /// The same request was made before and made this file.
    case same(FileID)
    /// A different request used the id.
    case somethingElse
}
