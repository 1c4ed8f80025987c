internal import Foundation
internal import Providers
internal import Synchronization

/// Any service with OpenAI's `POST …/audio/transcriptions`: hosted, vLLM, whisper.cpp's server, speaches.
///
/// It requests `verbose_json`, which has the language and the times of segments. When a service or a model does not
/// support it, it requests `json` from then on.
package struct OpenAITranscriber: Transcriber {
    private static let maxResponseSize = 4 << 20

    private enum ResponseFormat: String {
        case verbose = "verbose_json"
        case plain = "json"
    }

    private final class State: Sendable {
        let format = Mutex(ResponseFormat.verbose)
    }

    private let url: String
    private let model: String
    private let key: String?
    private let client = ProviderClient()
    private let state = State()

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
    package var name: String { String(model.prefix(64)) }

    package func transcribe(
        _ audio: SpeechAudio, language: String?, deadline: ContinuousClock.Instant
    ) async throws(TranscriptionFailure) -> Transcript {
        let file = WAVEncoder.encode(audio)
        let format = state.format.withLock { $0 }
        var response = try await request(format, file, language, deadline)
        if format == .verbose, Self.rejectsFormat(response) {
            response = try await request(.plain, file, language, deadline)
            if response.status == 200 { state.format.withLock { $0 = .plain } }
        }
        guard response.status == 200 else {
            throw .refused(status: response.status, reason: reason(response.body), retryAfter: response.retryAfter)
        }
        var transcript = try TranscriptResponse.read(response.body, duration: audio.milliseconds)
        transcript.language = transcript.language ?? language
        return transcript
    }

    /// Services differ in how they reject an unknown response format; all of them name it.
    private static func rejectsFormat(_ response: ProviderClient.Response) -> Bool {
        guard [400, 415, 422].contains(response.status) else { return false }
        let text = String(decoding: response.body, as: UTF8.self)
        return text.contains("response_format") || text.contains(ResponseFormat.verbose.rawValue)
    }

    /// Removes the API key, which some services repeat when they reject it.
    private func reason(_ body: [UInt8]) -> String {
        let reason = ProviderClient.reason(body)
        guard let key, !key.isEmpty else { return reason }
        return reason.replacing(key, with: "…")
    }

    private func request(
        _ format: ResponseFormat, _ file: [UInt8], _ language: String?, _ deadline: ContinuousClock.Instant
    ) async throws(TranscriptionFailure) -> ProviderClient.Response {
        var body = MultipartForm()
        body.add("model", model)
        body.add("response_format", format.rawValue)
        if let language { body.add("language", language) }
        body.add("file", file: "speech.wav", type: "audio/wav", file)
        var headers = [("Content-Type", body.contentType), ("Accept", "application/json")]
        if let key, !key.isEmpty { headers.append(("Authorization", "Bearer \(key)")) }
        do {
            return try await client.post(
                body.encoded(), to: url, headers: headers, maxResponseSize: Self.maxResponseSize, deadline: deadline)
        } catch {
            throw TranscriptionFailure(error)
        }
    }
}

/// `multipart/form-data` (RFC 7578). Names and values come from the operator, so nothing is escaped.
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
