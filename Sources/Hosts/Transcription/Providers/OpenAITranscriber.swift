internal import Foundation
internal import Synchronization

/// Any service that speaks OpenAI's `POST …/audio/transcriptions`: hosted, vLLM, whisper.cpp's server, speaches.
///
/// It asks for `verbose_json`, which has the language and the times of segments. A service or a model that does not know it
/// is asked for `json` from then on.
package struct OpenAITranscriber: Transcriber {
    private static let largestAnswer = 4 << 20

    private enum Form: String {
        case verbose = "verbose_json"
        case plain = "json"
    }

    private final class Memory: Sendable {
        let form = Mutex(Form.verbose)
    }

    private let url: String
    private let model: String
    private let key: String?
    private let door = ProviderDoor()
    private let memory = Memory()

    /// - Parameters:
    ///   - url: of the service, up to its version (`https://api.openai.com/v1`), or of the endpoint itself.
    ///   - key: sent as a bearer token.
    package init(url: String, model: String, key: String?) {
        let end = "/audio/transcriptions"
        let base = url.hasSuffix("/") ? String(url.dropLast()) : url
        self.url = base.hasSuffix(end) ? base : base + end
        self.model = model
        self.key = key
    }

    package var identity: String { "openai \(url) \(model)" }

    package func transcribe(
        _ audio: SpeechAudio, language: String?, deadline: ContinuousClock.Instant
    ) async throws(TranscriptionFailure) -> Transcript {
        let file = WAVEncoder.encode(audio)
        let form = memory.form.withLock { $0 }
        var answer = try await ask(for: form, file, language, deadline)
        if form == .verbose, Self.isAboutForm(answer) {
            answer = try await ask(for: .plain, file, language, deadline)
            if answer.status == 200 { memory.form.withLock { $0 = .plain } }
        }
        guard answer.status == 200 else {
            throw .refused(status: answer.status, reason: reason(answer.body), retryAfter: answer.retryAfter)
        }
        var transcript = try TranscriptAnswer.read(answer.body, soundOf: audio.milliseconds)
        transcript.language = transcript.language ?? language
        return transcript
    }

    /// Services differ in how they refuse a form that they do not know; all of them name it.
    private static func isAboutForm(_ answer: ProviderDoor.Answer) -> Bool {
        guard [400, 415, 422].contains(answer.status) else { return false }
        let words = String(decoding: answer.body, as: UTF8.self)
        return words.contains("response_format") || words.contains(Form.verbose.rawValue)
    }

    /// Some services repeat the key that they refuse.
    private func reason(_ body: [UInt8]) -> String {
        let reason = ProviderDoor.reason(body)
        guard let key, !key.isEmpty else { return reason }
        return reason.replacing(key, with: "…")
    }

    private func ask(
        for form: Form, _ file: [UInt8], _ language: String?, _ deadline: ContinuousClock.Instant
    ) async throws(TranscriptionFailure) -> ProviderDoor.Answer {
        var body = MultipartForm()
        body.add("model", model)
        body.add("response_format", form.rawValue)
        if let language { body.add("language", language) }
        body.add("file", file: "speech.wav", type: "audio/wav", file)
        var headers = [("Content-Type", body.contentType), ("Accept", "application/json")]
        if let key, !key.isEmpty { headers.append(("Authorization", "Bearer \(key)")) }
        return try await door.post(
            body.encoded(), to: url, headers: headers, largestAnswer: Self.largestAnswer, deadline: deadline)
    }
}

/// `multipart/form-data` (RFC 7578). Names and values are the operator's, so that nothing is escaped.
struct MultipartForm {
    private let boundary: String
    private var bytes: [UInt8] = []

    init() {
        boundary = "switchboard-" + UUID().uuidString
    }

    var contentType: String { "multipart/form-data; boundary=\(boundary)" }

    mutating func add(_ name: String, _ value: String) {
        bytes += "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(value)\r\n".utf8
    }

    mutating func add(_ name: String, file: String, type: String, _ content: [UInt8]) {
        bytes += "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name)\"; filename=\"\(file)\"\r\n".utf8
        bytes += "Content-Type: \(type)\r\n\r\n".utf8
        bytes += content
        bytes += "\r\n".utf8
    }

    func encoded() -> [UInt8] { bytes + Array("--\(boundary)--\r\n".utf8) }
}
