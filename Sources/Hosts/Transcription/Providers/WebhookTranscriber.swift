internal import Foundation
internal import Providers
internal import Webhooks

/// The operator's own webhook: it gets the audio as a WAV file and responds with JSON as `TranscriptResponse` reads it.
///
/// ```
/// POST /hook
/// Content-Type: audio/wav
/// webhook-id: 6ab1…                   (the same when the request is repeated)
/// webhook-timestamp: 1763820000
/// webhook-signature: v1,<Base64 of HMAC-SHA256 over id, timestamp and body, with full stops between them>
/// Switchboard-Timestamp: 1763820000
/// Switchboard-Signature: v1=<hex of HMAC-SHA256 over the timestamp, a full stop, and the body>
/// Switchboard-Language: en            (where it is known)
/// ```
/// The first three are Standard Webhooks 1.0, where the key is what `whsec_` precedes in Base64, else the secret's text;
/// Switchboard-Timestamp and Switchboard-Signature are deprecated.
/// The receiver computes the same signature, compares it in constant time, and rejects timestamps that are some minutes
/// old. The body is the file itself, which is a third smaller than Base64.
///
/// This URL must not give access to the operator's network: unless that is allowed, the name must resolve to public
/// addresses alone, and the connection goes to the address that was checked, whatever the resolver says a moment later.
/// Redirects are not followed.
package struct WebhookTranscriber: Transcriber {
    private static let maxResponseSize = 4 << 20

    private let url: WebhookURL
    private let secret: String
    private let clients: WebhookClients
    private let now: @Sendable () -> Int64

    /// - Parameters:
    ///   - url: an http or https URL with a plain name or address; the initializer returns nil for any other.
    ///   - now: seconds since 1970, for the signature.
    package init?(
        url: String, secret: String, allowsPrivate: Bool,
        now: @escaping @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970) }
    ) {
        self.init(
            url: url, secret: secret, allowsPrivate: allowsPrivate, now: now,
            resolver: { host async throws(ProviderFailure) in try await SystemResolver.addresses(of: host) })
    }

    init?(
        url: String, secret: String, allowsPrivate: Bool, now: @escaping @Sendable () -> Int64,
        resolver: @escaping WebhookClients.Resolver
    ) {
        guard let url = WebhookURL(url) else { return nil }
        self.url = url
        self.secret = secret
        self.now = now
        clients = WebhookClients(
            allowsPrivate ? .everything : WebhookAddressRules(allowsPlainHTTP: true), resolver: resolver)
    }

    package var identity: String { "webhook \(url.text)" }
    package var name: String { "webhook" }

    package func transcribe(
        _ audio: SpeechAudio, language: String?, deadline: ContinuousClock.Instant
    ) async throws(TranscriptionFailure) -> Transcript {
        let response = try await request(WAVEncoder.encode(audio), language, deadline)
        guard response.status == 200 else {
            throw .refused(
                status: response.status, reason: ProviderClient.reason(response.body), retryAfter: response.retryAfter)
        }
        var transcript = try TranscriptResponse.read(response.body, duration: audio.milliseconds)
        transcript.language = transcript.language ?? language
        return transcript
    }

    private func request(
        _ body: [UInt8], _ language: String?, _ deadline: ContinuousClock.Instant
    ) async throws(TranscriptionFailure) -> ProviderClient.Response {
        let timestamp = now()
        // A repetition of the request has the same id.
        let id = StandardWebhookSignature.id(of: [Array((language ?? "").utf8), body])
        var headers =
            [
                ("Content-Type", "audio/wav"), ("Accept", "application/json"),
                ("Switchboard-Timestamp", "\(timestamp)"),
                ("Switchboard-Signature", WebhookSignature.sign(body, at: timestamp, secret: secret)),
            ]
            + StandardWebhookSignature.headers(
                id: id, timestamp: timestamp, body: body, secrets: [StandardWebhookSignature.key(secret)])
        if let language { headers.append(("Switchboard-Language", language)) }
        do {
            return try await clients.client(for: url, deadline: deadline)
                .post(
                    body, to: url, headers: headers, maxResponseSize: Self.maxResponseSize, deadline: deadline)
        } catch {
            throw TranscriptionFailure(error)
        }
    }
}
