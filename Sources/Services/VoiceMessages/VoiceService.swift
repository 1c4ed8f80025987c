import Crypto
package import MediaFiles
import Messaging
import Metrics
package import Model
package import Storage
package import Voice

/// The files of voice messages: decodes and stores uploads and recordings, and signs their URLs.
package struct VoiceService: Sendable {
    package let store: Store
    package let commands: VoiceCommands
    package let links: MediaLinks
    private let files: MediaFiles
    private let work: ConcurrencyLimiter
    private let transcripts: VoiceTranscripts
    private let slots = UploadSlots()
    private let decodeTime = Timer(label: "voice_decode_seconds")
    private let bytes = Counter(label: "voice_upload_bytes_total")

    /// - Parameter work: limits the decoding.
    package init(
        store: Store, commands: VoiceCommands, files: MediaFiles, links: MediaLinks, work: ConcurrencyLimiter,
        transcripts: VoiceTranscripts
    ) {
        self.transcripts = transcripts
        self.store = store
        self.commands = commands
        self.files = files
        self.links = links
        self.work = work
    }

    /// Keeps an upload, which is received after the permission check, until it is sent.
    package func keep(
        _ clientID: ClientID, by principal: Principal, receiving receive: () async throws -> [UInt8]
    ) async throws -> MadeVoiceFile {
        do {
            let made = try await slots.hold(for: principal.user) {
                try await check(principal, unlessMadeWith: clientID)
                let (upload, rules) = (try await receive(), commands.rules)
                bytes.increment(by: Int64(upload.count))
                return try await keep(clientID, Array(SHA256.hash(data: upload)), by: principal) {
                    try VoiceReading(upload, rules)
                }
            }
            count(made.isDuplicate ? "duplicate" : "kept")
            return made
        } catch {
            count((error as? Problem)?.kind.rawValue ?? "failed")
            throw error
        }
    }

    /// Keeps a recording of this server. Its id serves as the client id, so that a repeated request makes one file.
    package func keep(
        _ recording: VoiceRecordingID, by principal: Principal, receiving receive: () async throws -> [UInt8]
    ) async throws -> MadeVoiceFile {
        guard let clientID = ClientID(recording.text) else { throw Problem.notFound("recording", field: "recording") }
        do {
            return try await slots.hold(for: principal.user) {
                let (file, rules) = (try await receive(), commands.rules)
                return try await keep(clientID, Self.hash(of: recording), by: principal) {
                    try VoiceReading(recorded: file, rules)
                }
            }
        } catch var problem as Problem where problem.field == "body" {
            problem.field = "recording"
            throw problem
        }
    }

    /// Checks whether a user may make a voice file.
    package func check(_ principal: Principal) async throws {
        let commands = commands
        try await store.read { try commands.check(principal, in: $0) }
    }

    /// A repetition is answered however much the user has.
    private func check(_ principal: Principal, unlessMadeWith clientID: ClientID) async throws {
        let commands = commands
        try await store.read { store in
            guard try store.voiceFile(madeWith: clientID, of: principal.user, bodyHash: []) == .never else { return }
            try commands.check(principal, in: store)
        }
    }

    package static let nothingRecorded = Problem.invalid(
        "recording", "Nothing was recorded: is the microphone muted, or did recording just begin?")

    /// The file of a recording that was finished, if it was.
    package func made(of recording: VoiceRecordingID, by principal: Principal) async throws -> VoiceFile? {
        guard let clientID = ClientID(recording.text) else { return nil }
        let commands = commands
        return try await store.read { store in
            try commands.madeBefore(clientID, bodyHash: Self.hash(of: recording), by: principal, in: store)
        }
    }

    /// Checks who may have the file of a message, each time it is served.
    package var checker: MediaChecker {
        { resource, user, store in
            guard let id = FileID(resource) else { return false }
            return try ConversationCommands().mayListen(to: id, user, in: store)
        }
    }

    private static func hash(of recording: VoiceRecordingID) -> [UInt8] {
        Array(SHA256.hash(data: Array("recording \(recording.text)".utf8)))
    }

    /// Decodes the audio with `read` and keeps it, unless that was done before.
    private func keep(
        _ clientID: ClientID, _ digest: [UInt8], by principal: Principal,
        read: @escaping @Sendable () throws -> VoiceReading
    ) async throws -> MadeVoiceFile {
        let commands = commands
        let duplicate = try await store.read {
            try commands.madeBefore(clientID, bodyHash: digest, by: principal, in: $0)
        }
        if let duplicate { return MadeVoiceFile(file: duplicate, isDuplicate: true) }

        let reading = try await work.run { [decodeTime] in
            let start = ContinuousClock.now
            defer { decodeTime.record(duration: ContinuousClock.now - start) }
            return try read()
        }
        let file = FileID.make(at: Timestamp.systemClock())
        try await files.write(reading.file, as: file)
        do {
            let made = try await store.write { store in
                try commands.keep(
                    reading.audio, in: file, clientID, bodyHash: digest, by: principal, at: store.now, store: store)
            }.value
            if made.isDuplicate { try? await files.remove(file) }
            return MadeVoiceFile(file: made.file, isDuplicate: made.isDuplicate)
        } catch {
            try? await files.remove(file)
            throw error
        }
    }

    /// Discards a file that is not sent.
    package func discard(_ id: FileID, by principal: Principal) async throws {
        let commands = commands
        _ = try await store.write { try commands.discard(id, by: principal, in: $0) }
    }

    /// Whether messages are transcribed.
    package var transcribes: Bool { transcripts.isConfigured }

    package func text(of transcript: FileTranscript, as format: TranscriptFormat) -> String {
        transcripts.text(of: transcript, as: format)
    }

    private func count(_ outcome: String) {
        Counter(label: "voice_uploads_total", dimensions: [("outcome", outcome)]).increment()
    }
}

/// A file that was made, and whether it was made before.
package struct MadeVoiceFile: Hashable, Sendable {
    package let file: VoiceFile
    package let isDuplicate: Bool

    package init(file: VoiceFile, isDuplicate: Bool) {
        self.file = file
        self.isDuplicate = isDuplicate
    }
}
