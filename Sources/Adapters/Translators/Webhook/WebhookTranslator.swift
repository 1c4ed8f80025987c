internal import Foundation
package import Languages
package import ProviderCodecs
internal import Providers
internal import Webhooks

/// The operator's own webhook, signed like that of transcriptions; requests and responses are those of `ListCodec`, with
/// `⟦1⟧` for what is kept. The response's `id` may be left out.
package struct WebhookTranslator: TriedTranslationEngine {
    private static let maxResponseSize = 4 << 20

    package let name = "webhook"
    package let kind = TranslationKind.model
    package let isHosted: Bool
    private let url: WebhookURL
    private let secret: String
    private let pairs: LanguagePairs
    private let clients: WebhookClients
    private let now: @Sendable () -> Int64

    /// - Parameters:
    ///   - url: an http or https URL with a plain name or address; the initializer returns nil for any other.
    ///   - now: seconds since 1970, for the signature.
    package init?(
        url: String, secret: String, allowsPrivate: Bool, pairs: LanguagePairs = .all, isHosted: Bool = true,
        now: @escaping @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970) }
    ) {
        guard let url = WebhookURL(url) else { return nil }
        self.url = url
        self.secret = secret
        self.pairs = pairs
        self.isHosted = isHosted
        self.now = now
        clients = WebhookClients(allowsPrivate ? .everything : WebhookAddressRules(allowsPlainHTTP: true))
    }

    package func translates(from source: LanguageTag, into target: LanguageTag) -> Bool {
        pairs.contains(source, target)
    }

    package func report(deadline: ContinuousClock.Instant) async -> EngineReport {
        await report(from: pairs.example.source, into: pairs.example.target, deadline: deadline)
    }

    package func translate(
        _ request: TranslationRequest, deadline: ContinuousClock.Instant
    ) async throws(TranslationFailure) -> [TranslationResult] {
        guard translates(from: request.source, into: request.target) else { throw .pairNotSupported }
        let written = request.texts.map { $0.written(as: .brackets) }
        // A repetition of the request has the same id.
        let id = StandardWebhookSignature.id(of: [ListCodec.request(id: "", request, texts: written.map(\.text))])
        let body = ListCodec.request(id: id, request, texts: written.map(\.text))
        let response: ProviderClient.Response
        do throws(ProviderFailure) {
            response = try await clients.client(for: url, deadline: deadline)
                .post(
                    body, to: url, headers: headers(id, body), maxResponseSize: Self.maxResponseSize,
                    deadline: deadline)
        } catch {
            throw TranslationFailure(error)
        }
        guard response.status == 200 else {
            throw TranslationFailure(
                status: response.status, reason: ProviderClient.reason(response.body), retryAfter: response.retryAfter)
        }
        let list = try ListCodec.response(response.body)
        guard list.id == nil || list.id == id else { throw .invalidResponse("Expected the id of the request.") }
        return try list.results(written)
    }

    private func headers(_ id: String, _ body: [UInt8]) -> [(String, String)] {
        let timestamp = now()
        return [
            ("Content-Type", "application/json"), ("Accept", "application/json"),
            ("Switchboard-Timestamp", "\(timestamp)"),
            ("Switchboard-Signature", WebhookSignature.sign(body, at: timestamp, secret: secret)),
        ]
            + StandardWebhookSignature.headers(
                id: id, timestamp: timestamp, body: body, secrets: [StandardWebhookSignature.key(secret)])
    }
}
