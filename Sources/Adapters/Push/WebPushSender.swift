internal import Crypto
package import Model
package import Notifications
package import Providers
package import Tokens
package import Webhooks

/// Sends encrypted pushes to the push services of browsers (RFC 8030), signed with this server's key (RFC 8292).
///
/// Clients name the endpoints, so they are not trusted: connections go to permitted addresses only, and no redirect is
/// followed. An attempt has 10 seconds, from the resolution of the name to the end of the response, of which 16 KiB are
/// read.
package struct WebPushSender: PushSender {
    package static let timeout = Duration.seconds(10)
    private static let maxResponseSize = 16 << 10

    private let key: VAPIDKey
    private let clients: WebhookClients
    private let timeout: Duration
    private let now: @Sendable () -> Timestamp

    package init(
        _ key: VAPIDKey, rules: WebhookAddressRules, clients: WebhookClients? = nil, timeout: Duration = Self.timeout,
        now: @escaping @Sendable () -> Timestamp
    ) {
        self.key = key
        self.clients = clients ?? WebhookClients(rules)
        self.timeout = timeout
        self.now = now
    }

    package func send(_ message: PushMessage) async -> PushOutcome {
        guard case .web(let address) = message.address else { return .rejected("It is not for a browser.") }
        let deadline = ContinuousClock.now + timeout
        let body: [UInt8]
        do throws(WebPushError) {
            let encryption = try WebPushEncryption(publicKey: address.publicKey, authSecret: address.authSecret)
            body = try encryption.encrypt(message.payload)
        } catch {
            return .rejected(Self.reason(error))
        }
        guard let authorization = try? key.authorization(for: address.endpoint.origin, at: now()) else {
            return .rejected("The request could not be signed.")
        }
        let headers = [
            ("TTL", "\(max(0, message.secondsToLive))"), ("Urgency", message.isUrgent ? "high" : "normal"),
            ("Topic", Self.topic(message.topic, address)), ("Content-Encoding", "aes128gcm"),
            ("Content-Type", "application/octet-stream"), ("Authorization", authorization),
        ]
        do throws(ProviderFailure) {
            let client = try await clients.client(for: address.endpoint, deadline: deadline)
            let response = try await client.post(
                body, to: address.endpoint, headers: headers, maxResponseSize: Self.maxResponseSize, excess: .dropped,
                deadline: deadline)
            return Self.outcome(of: response)
        } catch {
            return Self.outcome(of: error)
        }
    }

    /// At most 32 characters of base64url (RFC 8030 section 5.4): a digest, with the secret of the subscription, so that
    /// a push service learns neither the topic nor which subscriptions have the same one.
    private static func topic(_ topic: String, _ address: WebPushAddress) -> String {
        let code = HMAC<SHA256>.authenticationCode(
            for: Array("switchboard topic\n\(topic)".utf8), using: SymmetricKey(data: address.authSecret))
        return Base64URL.encode(code.prefix(24))
    }
}

// Outcomes.
extension WebPushSender {
    private static func outcome(of response: ProviderClient.Response) -> PushOutcome {
        let reason = PushReason.text(response)
        switch response.status {
        case 200..<300: return .delivered
        case 404, 410: return .gone(reason)
        case 429, 500...: return .retry(after: response.retryAfter, reason)
        default: return .rejected(reason)
        }
    }

    private static func outcome(of failure: ProviderFailure) -> PushOutcome {
        switch failure {
        case .cancelled: .cancelled
        case .addressNotAllowed: .rejected("\(failure)")
        default: .unreachable("\(failure)")
        }
    }

    private static func reason(_ error: WebPushError) -> String {
        switch error {
        case .invalidPublicKey: "The public key of the subscription is not valid."
        case .invalidAuthSecret: "The secret of the subscription is not valid."
        case .payloadTooLarge(let limit): "The push has more than \(limit) bytes."
        }
    }
}
