import Crypto
import Foundation
import HTTPTestSupport
import NIOHTTP1
import Providers
import TestSupport
import Testing

@testable import Transcription

@Suite("Transcription by services over HTTP", .timeLimit(.minutes(3)))
struct ProviderTests {
    private let audio = SpeechAudio(Array(repeating: 100, count: 32_000))
    private static let verbose = """
        {"text": "go on", "language": "english", "segments": [{"start": 0.5, "end": 1.5, "text": "go on"}]}
        """

    private func failure(
        of transcriber: some Transcriber, within timeout: Duration = .seconds(100)
    ) async -> TranscriptionFailure? {
        do {
            let transcript = try await transcriber.transcribe(audio, language: nil, deadline: .now + timeout)
            Issue.record("\(transcript)")
            return nil
        } catch {
            return error
        }
    }

    private func openAI(_ address: String, key: String? = nil) -> OpenAITranscriber {
        OpenAITranscriber(url: address + "/v1", model: "whisper-1", key: key)
    }

    private func webhook(_ address: String) throws -> WebhookTranscriber {
        let hook = WebhookTranscriber(
            url: address + "/hook", secret: "s3cret", allowsPrivate: true, now: { 1_700_000_000 })
        return try #require(hook)
    }

    @Test("a service with pocketsphinx behind it understands flite", .enabled(if: Flite.hasRecognizer))
    func pocketsphinx() async throws {
        let words = "one two three four five"
        let spoken = try Flite.silence(1) + Flite.say(words) + Flite.silence(1)
        let transcript = try await ScriptedServer.run { request in
            guard request.path == "/v1/audio/transcriptions", request.text("model") == "whisper-1",
                request.text("response_format") == "verbose_json", request.text("language") == "en",
                request.headers.first(name: "Authorization") == "Bearer key", let file = request.field("file"),
                file.count > WAVEncoder.headerLength
            else { return .response(400, #"{"error": {"message": "what?"}}"#) }
            let bytes = Array(file.dropFirst(WAVEncoder.headerLength))
            let samples = stride(from: 0, to: bytes.count - 1, by: 2).map {
                Int16(bytes[$0]) | Int16(bytes[$0 + 1]) << 8
            }
            guard
                let recognized = try? await CommandTranscriber.pocketsphinx()
                    .transcribe(SpeechAudio(samples), language: nil, deadline: .now + .seconds(100))
            else { return .response(500, "") }
            let segments = recognized.segments.map {
                "{\"start\": \(Double($0.start) / 1000), \"end\": \(Double($0.end) / 1000), \"text\": \"\($0.text)\"}"
            }
            return .response(
                200,
                "{\"text\": \"\(recognized.text)\", \"language\": \"english\","
                    + " \"segments\": [\(segments.joined(separator: ","))]}"
            )
        } _: { address, _ in
            try await openAI(address, key: "key")
                .transcribe(SpeechAudio(spoken), language: "en", deadline: .now + .seconds(120))
        }
        #expect(transcript.text == words)
        #expect(transcript.language == "en")
        #expect((900...1_500).contains(transcript.segments.first?.start ?? 0))
    }

    @Test("a model without verbose_json gets requests for json from then on")
    func plain() async throws {
        try await ScriptedServer.run { request in
            if request.text("response_format") == "json" { return .response(200, #"{"text": "go on"}"#) }
            return .response(
                400, #"{"error": {"message": "response_format 'verbose_json' is not compatible with model 'x'"}}"#)
        } _: { address, server in
            let transcriber = openAI(address)
            for _ in 0..<2 {
                let transcript = try await transcriber.transcribe(audio, language: nil, deadline: .now + .seconds(60))
                #expect(transcript.segments == [.init(start: 0, end: 2_000, text: "go on")])
            }
            #expect(server.requests.map { $0.text("response_format") } == ["verbose_json", "json", "json"])
        }
    }

    @Test("errors are reported, without the key that some services repeat") func refused() async throws {
        try await ScriptedServer.run { _ in
            .response(401, #"{"error": {"message": "Incorrect API key provided: sk-123.", "code": 1}}"#)
        } _: { address, server in
            let failure = await failure(of: openAI(address, key: "sk-123"))
            #expect(failure == .refused(status: 401, reason: "Incorrect API key provided: ….", retryAfter: nil))
            #expect(failure?.isRetryable == false)
            #expect(server.requests.count == 1)
        }
        try await ScriptedServer.run { _ in
            .response(429, "slow\ndown", [("Retry-After", "7")])
        } _: { address, _ in
            let failure = await failure(of: openAI(address))
            #expect(failure == .refused(status: 429, reason: "slow down", retryAfter: .seconds(7)))
            #expect(failure?.isRetryable == true)
        }
        let long = String(repeating: "x", count: 1 << 20)
        try await ScriptedServer.run { _ in
            .response(500, long)
        } _: { address, _ in
            guard case .refused(500, let reason, nil)? = await failure(of: openAI(address)) else {
                Issue.record("another failure")
                return
            }
            #expect(reason.count == 200)
        }
    }

    @Test("neither follows a redirect") func redirect() async throws {
        try await ScriptedServer.run { _ in
            .response(200, Self.verbose)
        } _: { target, other in
            try await ScriptedServer.run { _ in
                .response(307, "", [("Location", target + "/")])
            } _: { address, _ in
                #expect(await failure(of: openAI(address)) == .refused(status: 307, reason: "", retryAfter: nil))
                let hook = try webhook(address)
                let hookFailure = await failure(of: hook)
                #expect(hookFailure == .refused(status: 307, reason: "", retryAfter: nil))
            }
            #expect(other.requests.isEmpty)
        }
    }

    @Test("invalid, endless and huge responses are failures") func lies() async throws {
        try await ScriptedServer.run { _ in
            .response(200, "<html>")
        } _: { address, _ in
            #expect(await failure(of: openAI(address)) == .invalidResponse("not JSON"))
            let hook = try webhook(address)
            let hookFailure = await failure(of: hook)
            #expect(hookFailure == .invalidResponse("not JSON"))
        }
        try await ScriptedServer.run { _ in
            .flood(100 << 20)
        } _: { address, _ in
            #expect(await failure(of: openAI(address)) == .responseTooLarge(limit: 4 << 20))
        }
        try await ScriptedServer.run { _ in
            .trickle
        } _: { address, _ in
            #expect(await failure(of: openAI(address), within: .seconds(1)) == .timedOut)
        }
        try await ScriptedServer.run { _ in
            .hang
        } _: { address, _ in
            #expect(await failure(of: openAI(address), within: .seconds(1)) == .timedOut)
            let task = Task { await failure(of: openAI(address)) }
            task.cancel()
            #expect(await task.value == .cancelled)
        }
        try await ScriptedServer.run { _ in
            .hangUp
        } _: { address, _ in
            let failure = await failure(of: openAI(address))
            #expect(failure?.kind == "unreachable")
            #expect(failure?.isRetryable == true)
        }
    }

    @Test("an unreachable service") func absent() async throws {
        let gone = try await ScriptedServer.run { _ in
            .hang
        } _: { address, _ in
            address
        }
        #expect(await failure(of: openAI(gone))?.kind == "unreachable")
        #expect(await failure(of: OpenAITranscriber(url: "not a url", model: "", key: nil))?.kind == "unreachable")
    }

    @Test("a webhook gets the signed audio") func signed() async throws {
        try await ScriptedServer.run { _ in
            .response(200, Self.verbose)
        } _: { address, server in
            let transcript = try await webhook(address)
                .transcribe(audio, language: "en-GB", deadline: .now + .seconds(60))
            #expect(transcript.segments == [.init(start: 500, end: 1_500, text: "go on")])
            let request = try #require(server.requests.first)
            #expect(request.body == WAVEncoder.encode(audio))
            #expect(request.headers.first(name: "Content-Type") == "audio/wav")
            #expect(request.headers.first(name: "Switchboard-Language") == "en-GB")
            #expect(request.headers.first(name: "Switchboard-Timestamp") == "1700000000")
            let signature = try #require(request.headers.first(name: "Switchboard-Signature"))
            let id = try #require(request.headers.first(name: "webhook-id"))
            #expect(request.headers.first(name: "webhook-timestamp") == "1700000000")
            #expect(
                request.headers.first(name: "webhook-signature")
                    == StandardWebhookSignature.sign(
                        id: id, timestamp: 1_700_000_000, body: request.body, secret: Array("s3cret".utf8)))
            let code = try #require(Data(hexadecimal: signature.dropFirst(3)))
            #expect(signature.hasPrefix("v1="))
            #expect(
                HMAC<SHA256>.isValidAuthenticationCode(
                    code, authenticating: Data("1700000000.".utf8) + request.body,
                    using: SymmetricKey(data: Data("s3cret".utf8))))
        }
    }

    @Test(
        "private addresses are rejected, however they are written",
        arguments: [
            "http://127.0.0.1/", "http://localhost/", "http://LOCALHOST/", "http://10.1.2.3/", "http://2130706433/",
            "http://0x7f.1/", "http://[::1]/", "http://[::ffff:127.0.0.1]/", "http://[fe80::1]/",
            "http://169.254.169.254/",
            "http://[64:ff9b::7f00:1]/", "http://[fd00::1]/", "http://0.0.0.0/", "http://100.64.0.1/",
        ])
    func privateAddresses(url: String) async throws {
        let hook = try #require(WebhookTranscriber(url: url, secret: "", allowsPrivate: false))
        #expect(await failure(of: hook)?.kind == "address_refused", "\(url)")
    }

    @Test(
        "what is no address of a web server is none",
        arguments: ["", "hook", "file:///etc/passwd", "http://", "http://user@host/", "http://h%6Fst/", "http://hö/"])
    func addresses(url: String) {
        let hook = WebhookTranscriber(url: url, secret: "", allowsPrivate: true)
        // A name in another script may be written as Punycode, which is plain.
        #expect(hook == nil || url == "http://hö/")
    }

    /// A webhook whose name resolves to these addresses.
    private func named(_ url: String, at addresses: [String], allowsPrivate: Bool) throws -> WebhookTranscriber {
        let hook = WebhookTranscriber(url: url, secret: "", allowsPrivate: allowsPrivate, now: { 0 }) { host in
            #expect(host == "hook.invalid")
            return addresses
        }
        return try #require(hook)
    }

    @Test("the connection goes to the address that was checked") func rebinding() async throws {
        try await ScriptedServer.run { _ in
            .response(200, Self.verbose)
        } _: { address, server in
            let port = try #require(URL(string: address)?.port)
            // A name that does not resolve: a second resolution would fail.
            let hook = try named("http://Hook.invalid:\(port)/", at: ["127.0.0.1"], allowsPrivate: true)
            _ = try await hook.transcribe(audio, language: nil, deadline: .now + .seconds(60))
            #expect(server.requests.first?.headers.first(name: "Host") == "hook.invalid:\(port)")
            // One private address among public ones is enough to reject it.
            let mixed = try named(
                "http://hook.invalid:\(port)/", at: ["198.41.0.4", "127.0.0.1"], allowsPrivate: false)
            #expect(await failure(of: mixed) == .addressNotAllowed("127.0.0.1"))
            let nowhere = try #require(
                WebhookTranscriber(url: "http://hook.invalid/", secret: "", allowsPrivate: false))
            #expect(await failure(of: nowhere)?.kind == "unreachable")
            #expect(server.requests.count == 1)
        }
    }
}

extension Data {
    fileprivate init?(hexadecimal text: some StringProtocol) {
        let digits = text.compactMap(\.hexDigitValue)
        guard digits.count == text.count, digits.count % 2 == 0 else { return nil }
        self.init(stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) })
    }
}
