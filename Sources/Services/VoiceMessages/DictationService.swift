package import Languages
package import MediaFiles
package import Messaging
package import Model
package import Storage
package import Transcription
import Voice

/// Writes down what somebody says for themselves. Neither the sound nor the words are kept.
package struct DictationService: Sendable {
    package struct Text: Hashable, Sendable {
        package let text: String
        /// As the provider reports it.
        package let language: String?
    }

    package static let secondsLimit = 120
    package static let byteLimit = 2 << 20

    private let store: Store
    private let commands: ConversationCommands
    private let files: MediaFiles
    private let work: ConcurrencyLimiter
    private let queue: TranscriptionQueue?
    private let slots = UploadSlots()
    /// Of those whose samples are in memory: up to 58 MB for half an hour, 4 MB for two minutes.
    private let running = ConcurrencyLimiter(maxConcurrent: 4, maxWaiting: 28, busyWith: "dictation")

    /// - Parameter work: limits the decoding.
    package init(
        store: Store, commands: ConversationCommands, files: MediaFiles, work: ConcurrencyLimiter,
        queue: TranscriptionQueue?
    ) {
        self.files = files
        self.store = store
        self.commands = commands
        self.work = work
        self.queue = queue
    }

    /// - Parameter language: in which is spoken; nil for that of the settings.
    /// - Throws: `provider_not_configured`, `consent_required`, `budget_exhausted`, `provider_failed`, `unavailable` if too much is waiting, and
    ///   `invalid_request` of the body. The permission is checked before the body is received.
    package func text(
        by user: UserID, in language: LanguageTag?, receiving receive: () async throws -> [UInt8]
    ) async throws -> Text {
        try await text(by: user, in: language, seconds: Self.secondsLimit, receive)
    }

    /// The same of a voice file of one's own that is not sent, such as a recording of this server.
    ///
    /// - Throws: `not_found` of `file` too, also for one that was sent.
    package func text(of id: FileID, by user: UserID, in language: LanguageTag?) async throws -> Text {
        // Who may not have the file does not learn what the server has.
        let file = try await store.read { try $0.voiceFile(id) }
        guard let file, file.author == user, file.location == nil else {
            throw Problem.notFound("voice file", field: "file")
        }
        // Also one that was made when they could be longer.
        return try await text(by: user, in: language, seconds: 1_801) {
            var bytes: [UInt8] = []
            let stored = try await files.open(id)
            try await stored.read(0..<stored.byteCount) { bytes += $0 }
            return bytes
        }
    }

    private func text(
        by user: UserID, in language: LanguageTag?, seconds: Int, _ receive: () async throws -> [UInt8]
    ) async throws -> Text {
        guard let queue else {
            throw Problem(.providerNotConfigured, "This server has no transcription provider.")
        }
        let commands = commands
        guard try await store.read({ try commands.allowsTranscription(of: user, in: nil, store: $0) }) else {
            throw Problem(
                .consentRequired,
                "The server or your own settings do not allow that what you say is transcribed: see intelligence.")
        }
        return try await slots.hold(for: user) {
            let bytes = try await receive()
            return try await running.withSlot {
                let samples = try await work.run { try VoiceReading.samples(of: bytes, seconds: seconds) }
                do throws(TranscriptionFailure) {
                    return try await transcribe(samples, by: user, in: language?.string, queue)
                } catch {
                    throw Problem(error)
                }
            }
        }
    }

    private func transcribe(
        _ samples: [Int16], by user: UserID, in language: String?, _ queue: TranscriptionQueue
    ) async throws(TranscriptionFailure) -> Text {
        var transcription = LongTranscription(
            queue, for: TranscriptionPayer(user, for: .dictation), language: language, priority: .live, isCached: false,
            within: .seconds(60))
        let transcript = try await transcription.transcript(of: samples)
        return Text(text: transcript.text, language: transcript.language)
    }
}

extension Problem {
    fileprivate init(_ failure: TranscriptionFailure) {
        switch failure {
        case .queueFull, .shutDown, .cancelled:
            self.init(.unavailable, "Too much is being transcribed. Try again later.", retryAfter: 2_000)
        case .budgetExhausted: self = .budgetExhausted(at: .systemClock())
        default:
            self.init(.providerFailed, "The transcription provider failed: \(failure)")
        }
    }
}
