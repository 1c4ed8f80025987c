internal import Languages
internal import ProviderCodecs
internal import Providers
internal import Synchronization

/// A service over HTTP that takes and returns JSON.
struct JSONEndpoint: Sendable {
    private static let maxResponseSize = 4 << 20

    let url: String
    private let headers: [(String, String)]
    private let key: String?
    private let client = ProviderClient()

    /// - Parameter key: is part of a header or of requests, and removed from what is reported.
    init(url: String, headers: [(String, String)], key: String?) {
        self.url = url
        self.headers = headers + [("Content-Type", "application/json"), ("Accept", "application/json")]
        self.key = key
    }

    /// - Parameter base: of the service, or of the endpoint itself.
    static func address(_ base: String, endpoint: String) -> String {
        let base = base.hasSuffix("/") ? String(base.dropLast()) : base
        return base.hasSuffix(endpoint) ? base : base + endpoint
    }

    func post(
        _ body: [UInt8], deadline: ContinuousClock.Instant
    ) async throws(TranslationFailure) -> ProviderClient.Response {
        do {
            return try await client.post(
                body, to: url, headers: headers, maxResponseSize: Self.maxResponseSize, deadline: deadline)
        } catch {
            throw TranslationFailure(error)
        }
    }

    /// Reads the events of a stream (WHATWG HTML section 9.2) while they come.
    ///
    /// - Parameter event: takes the data of each.
    /// - Returns: the response; of a successful one without its body.
    func stream(
        _ body: [UInt8], idle: Duration, deadline: ContinuousClock.Instant,
        event: @escaping @Sendable ([UInt8]) throws(TranslationFailure) -> Void
    ) async throws(TranslationFailure) -> ProviderClient.Response {
        let reader = Mutex(EventReader())
        let failed = Mutex<TranslationFailure?>(nil)
        do {
            return try await client.post(
                body, to: url, headers: headers.filter { $0.0 != "Accept" } + [("Accept", "text/event-stream")],
                maxResponseSize: Self.maxResponseSize, idle: idle, deadline: deadline
            ) { bytes in
                do throws(TranslationFailure) {
                    for data in try reader.withLock({ reader throws(TranslationFailure) in try reader.read(bytes) }) {
                        try event(data)
                    }
                } catch {
                    failed.withLock { $0 = error }
                    throw error
                }
            }
        } catch {
            throw failed.withLock { $0 } ?? TranslationFailure(error)
        }
    }

    func get(
        _ url: String, deadline: ContinuousClock.Instant
    ) async throws(TranslationFailure) -> ProviderClient.Response {
        do {
            return try await client.get(
                url, headers: headers, maxResponseSize: Self.maxResponseSize, deadline: deadline)
        } catch {
            throw TranslationFailure(error)
        }
    }

    /// Why a request was refused, without the key, which some services repeat.
    func reason(_ response: ProviderClient.Response) -> String {
        let reason = ProviderClient.reason(response.body)
        guard let key, !key.isEmpty else { return reason }
        return reason.replacing(key, with: "…")
    }

    func failure(_ response: ProviderClient.Response) -> TranslationFailure {
        .init(
            status: response.status, reason: reason(response),
            body: String(decoding: response.body, as: UTF8.self), retryAfter: response.retryAfter)
    }
}

extension TranslationRequest {
    /// Texts that are too long together may not be so alone: they are sent once more one by one.
    func splitWhenTooLong(
        _ send: (TranslationRequest) async throws(TranslationFailure) -> [TranslationResult]
    ) async throws(TranslationFailure) -> [TranslationResult] {
        do {
            return try await send(self)
        } catch .textTooLong {
            guard texts.count > 1 else { return [.failed(.textTooLong)] }
        } catch {
            throw error
        }
        var results: [TranslationResult] = []
        for text in texts {
            var alone = self
            alone.texts = [text]
            results += try await alone.splitWhenTooLong(send)
        }
        return results
    }
}

extension TranslationFailure {
    /// - Parameter body: of the response; services say in different members of it what their status does not.
    init(status: Int, reason: String, body: String = "", retryAfter: Duration?) {
        let text = "status \(status)\(reason.isEmpty ? "" : ": \(reason)")"
        // Repeating such a request helps nobody, whatever the status.
        let isForGood = ["insufficient_quota", "billing_", "credit balance"].contains(where: body.contains)
        let isTooLong = [
            "context_length_exceeded", "exceed_context_size", "prompt is too long", "exceeds text limit",
        ].contains(where: body.contains)
        self =
            switch status {
            case _ where isForGood: .refused(text)
            case 413: .textTooLong
            case 400 where isTooLong: .textTooLong
            case 429: .limited(retryAfter: retryAfter)
            case 408, 409, 425, 500...599: retryAfter.map { .limited(retryAfter: $0) } ?? .unavailable(text)
            default: .refused(text)
            }
    }
}
