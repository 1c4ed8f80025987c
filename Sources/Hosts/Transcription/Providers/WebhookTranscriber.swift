internal import Foundation

/// The operator's own webhook: it gets the audio as a WAV file and responds with JSON as `TranscriptResponse` reads it.
///
/// ```
/// POST /hook
/// Content-Type: audio/wav
/// Switchboard-Timestamp: 1763820000
/// Switchboard-Signature: v1=<hex of HMAC-SHA256 over the timestamp, a full stop, and the body>
/// Switchboard-Language: en            (where it is known)
/// ```
/// The receiver computes the same signature, compares it in constant time, and rejects timestamps that are some minutes
/// old. The body is the file itself, which is a third smaller than Base64.
///
/// This URL must not give access to the operator's network: unless that is allowed, the name must resolve to public
/// addresses alone, and the connection goes to the address that was checked, whatever the resolver says a moment later.
/// Redirects are not followed.
package struct WebhookTranscriber: Transcriber {
    private static let maxResponseSize = 4 << 20

    private let url: String
    private let host: String
    private let secret: String
    private let allowsPrivate: Bool
    private let now: @Sendable () -> Int64
    private let resolver: PublicAddress.Resolver

    /// - Parameters:
    ///   - url: an http or https URL with a plain name or address; the initializer returns nil for any other.
    ///   - now: seconds since 1970, for the signature.
    package init?(
        url: String, secret: String, allowsPrivate: Bool,
        now: @escaping @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970) }
    ) {
        self.init(
            url: url, secret: secret, allowsPrivate: allowsPrivate, now: now,
            resolver: { host async throws(TranscriptionFailure) in try await SystemResolver.addresses(of: host) })
    }

    init?(
        url: String, secret: String, allowsPrivate: Bool, now: @escaping @Sendable () -> Int64,
        resolver: @escaping PublicAddress.Resolver
    ) {
        guard var parts = URLComponents(string: url), let scheme = parts.scheme?.lowercased(),
            ["http", "https"].contains(scheme), parts.user == nil, let host = parts.encodedHost?.lowercased(),
            !host.isEmpty, host.utf8.allSatisfy(Self.isPlain)
        else { return nil }
        parts.encodedHost = host
        guard let plain = parts.string else { return nil }
        self.url = plain
        self.host = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        self.secret = secret
        self.allowsPrivate = allowsPrivate
        self.now = now
        self.resolver = resolver
    }

    /// Other characters could be normalized differently: the client must find the address under the name that was
    /// resolved.
    private static func isPlain(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || "-_.:[]".utf8.contains(byte)
    }

    package var identity: String { "webhook \(url)" }

    package func transcribe(
        _ audio: SpeechAudio, language: String?, deadline: ContinuousClock.Instant
    ) async throws(TranscriptionFailure) -> Transcript {
        let address = try await PublicAddress.find(
            host, allowsPrivate: allowsPrivate, resolver: resolver, deadline: deadline)
        let body = WAVEncoder.encode(audio)
        let timestamp = now()
        var headers = [
            ("Content-Type", "audio/wav"), ("Accept", "application/json"), ("Switchboard-Timestamp", "\(timestamp)"),
            ("Switchboard-Signature", WebhookSignature.sign(body, at: timestamp, secret: secret)),
        ]
        if let language { headers.append(("Switchboard-Language", language)) }
        // Each request has a client of its own, which knows only the address that was checked.
        let client = ProviderClient(addresses: [host: address])
        let response = try await client.post(
            body, to: url, headers: headers, maxResponseSize: Self.maxResponseSize, deadline: deadline)
        guard response.status == 200 else {
            throw .refused(
                status: response.status, reason: ProviderClient.reason(response.body), retryAfter: response.retryAfter)
        }
        var transcript = try TranscriptResponse.read(response.body, duration: audio.milliseconds)
        transcript.language = transcript.language ?? language
        return transcript
    }
}
