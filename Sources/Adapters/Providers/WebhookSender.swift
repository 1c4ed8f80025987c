package import Webhooks

/// What is sent to a webhook.
package struct WebhookMessage: Sendable {
    /// Stays the same in every attempt.
    package var id: String
    /// JSON.
    package var body: [UInt8]
    /// Their bytes; the first is the current one.
    package var secrets: [[UInt8]]

    package init(id: String, body: [UInt8], secrets: [[UInt8]]) {
        self.id = id
        self.body = body
        self.secrets = secrets
    }
}

/// What a webhook responded.
package struct WebhookResponse: Hashable, Sendable {
    package var status: Int
    /// The beginning of its body on one line, at most 200 characters.
    package var reason: String
    package var retryAfter: Duration?

    package init(status: Int, reason: String = "", retryAfter: Duration? = nil) {
        self.status = status
        self.reason = reason
        self.retryAfter = retryAfter
    }

    package var isSuccess: Bool { (200..<300).contains(status) }
}

package protocol WebhookTransport: Sendable {
    /// - Throws: why there was no response within 15 seconds.
    func send(_ message: WebhookMessage, to url: WebhookURL) async throws(ProviderFailure) -> WebhookResponse
}

/// Sends signed messages to webhooks (Standard Webhooks 1.0).
///
/// An attempt has 15 seconds, from the resolution of the name to the end of the response, of which 16 KiB are read.
/// Redirects are responses like any other.
package struct WebhookSender: WebhookTransport {
    package static let timeout = Duration.seconds(15)
    private static let maxResponseSize = 16 << 10

    private let rules: WebhookAddressRules
    private let clients: WebhookClients
    private let timeout: Duration
    /// Seconds since 1970.
    private let now: @Sendable () -> Int64

    package init(
        _ rules: WebhookAddressRules, clients: WebhookClients? = nil, timeout: Duration = Self.timeout,
        now: @escaping @Sendable () -> Int64
    ) {
        self.rules = rules
        self.clients = clients ?? WebhookClients(rules)
        self.timeout = timeout
        self.now = now
    }

    package func send(_ message: WebhookMessage, to url: WebhookURL) async throws(ProviderFailure) -> WebhookResponse {
        let deadline = ContinuousClock.now + timeout
        let client = try await clients.client(for: url, deadline: deadline)
        let headers =
            [("Content-Type", "application/json")]
            + StandardWebhookSignature.headers(
                id: message.id, timestamp: now(), body: message.body, secrets: message.secrets)
        let response = try await client.post(
            message.body, to: url, headers: headers, maxResponseSize: Self.maxResponseSize, excess: .dropped,
            deadline: deadline)
        let isSuccess = (200..<300).contains(response.status)
        return WebhookResponse(
            status: response.status, reason: isSuccess ? "" : ProviderClient.reason(response.body),
            retryAfter: response.retryAfter)
    }
}
