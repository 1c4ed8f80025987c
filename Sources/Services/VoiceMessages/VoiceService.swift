import Crypto
package import MediaFiles
import Metrics
package import Model
package import Storage
package import Voice

/// Voice messages: runs their commands, decodes uploads, stores files and signs their URLs.
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

    /// Sends an upload, which is received after the permission check.
    package func send(
        _ envelope: VoiceEnvelope, by principal: Principal, receiving receive: () async throws -> [UInt8]
    ) async throws -> SentVoice {
        do {
            let sent = try await slots.hold(for: principal.user) {
                try await store.read { [commands] in try commands.check(to: envelope.to, by: principal, in: $0) }
                let (upload, rules) = (try await receive(), commands.rules)
                bytes.increment(by: Int64(upload.count))
                return try await keep(envelope, Self.hash(upload, envelope), by: principal) {
                    try VoiceReading(upload, rules)
                }
            }
            count(sent.isDuplicate ? "duplicate" : "sent")
            return sent
        } catch {
            count((error as? Problem)?.kind.rawValue ?? "failed")
            throw error
        }
    }

    /// Sends a recording of this server. Its id serves as the client id, so that a repeated request sends it once.
    package func send(
        _ recording: VoiceRecordingID, to: UserID, by principal: Principal,
        receiving receive: () async throws -> [UInt8]
    ) async throws -> SentVoice {
        guard let clientID = ClientID(recording.text) else { throw Problem.notFound("recording", field: "recording") }
        let envelope = VoiceEnvelope(to: to, clientID: clientID)
        do {
            return try await slots.hold(for: principal.user) {
                let (file, rules) = (try await receive(), commands.rules)
                return try await keep(envelope, Self.hash(of: recording), by: principal) {
                    try VoiceReading(recorded: file, rules)
                }
            }
        } catch var problem as Problem where problem.field == "body" || problem.field == "to" {
            problem.field = "recording"
            throw problem
        }
    }

    /// Checks whether a user may send another one a message.
    package func check(to: UserID, by principal: Principal) async throws {
        let commands = commands
        try await store.read { try commands.check(to: to, by: principal, in: $0) }
    }

    package static let nothingRecorded = Problem.invalid(
        "recording", "Nothing was recorded: is the microphone muted, or did recording just begin?")

    /// The message of a recording that was sent, if it was.
    package func sent(_ recording: VoiceRecordingID, by principal: Principal) async throws -> VoiceMessage? {
        let commands = commands
        return try await store.read { store in
            try commands.sent(recording, bodyHash: Self.hash(of: recording), by: principal, in: store)
        }
    }

    /// Checks who may have the file of a message, each time it is served.
    package var checker: MediaChecker {
        { [commands] resource, user, store in
            guard let id = VoiceMessageID(resource) else { return false }
            return try commands.mayListen(id, user, in: store)
        }
    }

    private static func hash(_ upload: [UInt8], _ envelope: VoiceEnvelope) -> [UInt8] {
        var hash = SHA256()
        hash.update(data: Array(envelope.to.text.utf8))
        hash.update(data: upload)
        return Array(hash.finalize())
    }

    private static func hash(of recording: VoiceRecordingID) -> [UInt8] {
        Array(SHA256.hash(data: Array("recording \(recording.text)".utf8)))
    }

    /// Decodes the audio with `read` and sends it, unless that was done before.
    private func keep(
        _ envelope: VoiceEnvelope, _ digest: [UInt8], by principal: Principal,
        read: @escaping @Sendable () throws -> VoiceReading
    ) async throws -> SentVoice {
        let commands = commands
        let duplicate = try await store.read {
            try commands.sentBefore(envelope, bodyHash: digest, by: principal, in: $0)
        }
        if let duplicate { return SentVoice(message: duplicate, isDuplicate: true) }

        let reading = try await work.run { [decodeTime] in
            let start = ContinuousClock.now
            defer { decodeTime.record(duration: ContinuousClock.now - start) }
            return try read()
        }
        let file = FileID.make(at: Timestamp.systemClock())
        let isTranscribed = transcripts.isConfigured
        try await files.write(reading.file, as: file)
        do {
            let committed = try await store.write { store in
                let sent = try commands.send(
                    reading.audio, in: file, envelope, bodyHash: digest, by: principal, id: .make(at: store.now),
                    at: store.now, store: store)
                if isTranscribed, !sent.isDuplicate { try store.save(.pending, of: file) }
                return SentVoice(message: sent.message, isDuplicate: sent.isDuplicate)
            }
            let sent = committed.value
            if sent.isDuplicate {
                try? await files.remove(file)
            } else if isTranscribed {
                transcripts.transcribe(sent.message)
            }
            // The position of the recipient's stream is not for the sender.
            return SentVoice(
                message: sent.message, isDuplicate: sent.isDuplicate,
                positions: committed.positions.filter { $0.key == .user(principal.user) })
        } catch {
            try? await files.remove(file)
            throw error
        }
    }

    package func remove(_ id: VoiceMessageID, by principal: Principal) async throws -> [StreamName: Position] {
        let commands = commands
        let committed = try await store.write { try commands.remove(id, by: principal, in: $0) }
        // An orphaned file that cannot be removed now is removed at the next start.
        try? await files.remove(committed.value.file)
        return committed.positions.filter { $0.key == .user(principal.user) }
    }

    /// Begins to transcribe a message, unless that was begun before.
    package func requestTranscript(
        of id: VoiceMessageID, by principal: Principal
    ) async throws -> Committed<FileTranscript> {
        let (commands, transcripts) = (commands, transcripts)
        return try await store.write { store in
            _ = try commands.get(id, by: principal, in: store)
            guard transcripts.isConfigured else {
                throw Problem(.providerNotConfigured, "This server has no transcription provider.")
            }
            let requested = try commands.requestTranscript(of: id, by: principal, in: store)
            return (requested.transcript, requested.work)
        } committed: { requested in
            if let message = requested.1 { transcripts.transcribe(message) }
        }.map(\.0)
    }

    package func text(of transcript: FileTranscript, as format: TranscriptFormat) -> String {
        transcripts.text(of: transcript, as: format)
    }

    /// Messages as documents for a user, with their transcripts.
    package func documents(
        _ messages: [VoiceMessage], for principal: Principal, in store: StoreTransaction
    ) throws -> [VoiceDocument] {
        let transcripts = try store.transcripts(of: messages.map(\.file))
        return messages.map { message in
            VoiceDocument(
                message: message, audio: links.link(to: message.file, for: principal, at: store.now),
                transcript: transcripts[message.file])
        }
    }

    private func count(_ outcome: String) {
        Counter(label: "voice_uploads_total", dimensions: [("outcome", outcome)]).increment()
    }
}

/// A message that was sent, and whether it was sent before.
package struct SentVoice: Hashable, Sendable {
    package let message: VoiceMessage
    package let isDuplicate: Bool
    /// The new position of the sender's stream.
    package var positions: [StreamName: Position] = [:]

    package init(message: VoiceMessage, isDuplicate: Bool, positions: [StreamName: Position] = [:]) {
        self.message = message
        self.isDuplicate = isDuplicate
        self.positions = positions
    }
}

/// A voice message as a document for a user, with the URL of its audio.
package struct VoiceDocument: Encodable, Sendable {
    let message: VoiceMessage
    let audio: MediaLink
    let transcript: FileTranscript?

    private enum CodingKeys: String, CodingKey { case audio, transcript }

    package func encode(to encoder: any Encoder) throws {
        try message.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(audio, forKey: .audio)
        try container.encodeIfPresent(transcript, forKey: .transcript)
    }
}
