/// The transcript of a media file, or the state of the attempt to make it. In JSON: `Transcript`.
package struct FileTranscript: Hashable, Sendable, Codable {
    package enum Status: String, Hashable, Sendable, Codable, CaseIterable {
        case pending, complete, failed
    }

    package struct Segment: Hashable, Sendable, Codable {
        /// Milliseconds from the beginning.
        package let start: Int64
        package let end: Int64
        package let text: String

        package init(start: Int64, end: Int64, text: String) {
            self.start = start
            self.end = end
            self.text = text
        }
    }

    package struct Failure: Hashable, Sendable, Codable {
        /// A stable token for programs.
        package let type: String
        package let detail: String
        /// A retry may succeed.
        package let mayRetry: Bool

        package init(type: String, detail: String, mayRetry: Bool) {
            self.type = type
            self.detail = detail
            self.mayRetry = mayRetry
        }
    }

    package let status: Status
    package let language: String?
    package let text: String?
    package let segments: [Segment]?
    package let failure: Failure?

    package static let pending = Self(status: .pending)

    /// The server, the conversation or the speaker does not allow it.
    package static let notAllowed = Self.failed(
        Failure(
            type: "consent_required",
            detail: "The server, the conversation or the speaker does not allow that this is transcribed.",
            mayRetry: true))

    package static func complete(language: String?, text: String, segments: [Segment]?) -> Self {
        Self(status: .complete, language: language, text: text, segments: segments)
    }

    package static func failed(_ failure: Failure) -> Self { Self(status: .failed, failure: failure) }

    private init(
        status: Status, language: String? = nil, text: String? = nil, segments: [Segment]? = nil,
        failure: Failure? = nil
    ) {
        self.status = status
        self.language = language
        self.text = text
        self.segments = segments
        self.failure = failure
    }
}

/// The storage of transcripts, inside one transaction.
package protocol TranscriptStore {
    func transcript(of file: FileID) throws -> FileTranscript?
    func transcripts(of files: [FileID]) throws -> [FileID: FileTranscript]
    func save(_ transcript: FileTranscript, of file: FileID) throws
}
