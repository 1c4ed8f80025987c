internal import Foundation

/// An address of the operator's own: it gets the sound as a WAV file and answers JSON as `TranscriptAnswer` reads it.
///
/// ```
/// POST /hook
/// Content-Type: audio/wav
/// Switchboard-Timestamp: 1763820000
/// Switchboard-Signature: v1=<hex of HMAC-SHA256 over the timestamp, a full stop, and the body>
/// Switchboard-Language: en            (where it is known)
/// ```
/// Who receives it computes the same, compares without haste, and refuses timestamps that are some minutes old. The body
/// is the file itself, so that it is signed as it is and no third larger.
///
/// Whoever may write this address into a configuration shall not reach the operator's network with it: unless that is
/// allowed, the name must lead to public addresses alone, and the one that was looked at is the one that is connected to,
/// whatever the resolver says a moment later. Redirects are refused.
package struct WebhookTranscriber: Transcriber {
    private static let largestAnswer = 4 << 20

    private let url: String
    private let host: String
    private let secret: String
    private let allowsPrivate: Bool
    private let now: @Sendable () -> Int64
    private let resolver: PublicAddress.Resolver

    /// - Parameters:
    ///   - url: nil is returned where it is none of http or https with a plain name or address.
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

    /// Only such names are the same to everybody who reads them: the client must find the address under the name that was
    /// looked up.
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
        // For each request one of its own, which knows the address that was looked at and no other.
        let door = ProviderDoor(addresses: [host: address])
        let answer = try await door.post(
            body, to: url, headers: headers, largestAnswer: Self.largestAnswer, deadline: deadline)
        guard answer.status == 200 else {
            throw .refused(
                status: answer.status, reason: ProviderDoor.reason(answer.body), retryAfter: answer.retryAfter)
        }
        var transcript = try TranscriptAnswer.read(answer.body, soundOf: audio.milliseconds)
        transcript.language = transcript.language ?? language
        return transcript
    }
}
