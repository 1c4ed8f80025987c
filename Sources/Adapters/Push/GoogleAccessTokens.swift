internal import Foundation
import Model
import Providers
import Synchronization
import Tokens

/// The access token of a service account, fetched once for all who need it.
final class GoogleAccessTokens: Sendable {
    private typealias Outcome = Result<AccessTokenState.Token, AccessTokenState.Failure>

    static let scope = "https://www.googleapis.com/auth/firebase.messaging"
    private static let grantType = "urn:ietf:params:oauth:grant-type:jwt-bearer"
    private static let maxResponseSize = 64 << 10
    private static let maxSeconds: Int64 = 86_400

    private struct State {
        var machine = AccessTokenState()
        var waiting: [AsyncStream<Outcome>.Continuation] = []
    }

    private let account: GoogleServiceAccount
    private let client: ProviderConnection
    private let timeout: Duration
    private let now: @Sendable () -> Timestamp
    private let state = Mutex(State())

    init(
        _ account: GoogleServiceAccount, client: ProviderConnection, timeout: Duration,
        now: @escaping @Sendable () -> Timestamp
    ) {
        self.account = account
        self.client = client
        self.timeout = timeout
        self.now = now
    }

    /// One that is good for some time yet.
    func token(deadline: ContinuousClock.Instant) async throws -> String {
        let (decision, stream) = state.withLock { state in
            let decision = state.machine.request(at: now())
            guard case .wait = decision else { return (decision, AsyncStream<Outcome>?.none) }
            let (stream, continuation) = AsyncStream.makeStream(of: Outcome.self)
            state.waiting.append(continuation)
            return (decision, stream)
        }
        switch decision {
        case .use(let token, let renews):
            if renews { Task { await self.fetch() } }
            return token
        case .fail(let failure): throw failure
        case .wait(let fetches):
            // Not a child: others wait for it too, and it ends by its own deadline.
            if fetches { Task { await self.fetch() } }
            guard let stream else { throw ProviderFailure.cancelled }
            return try await Self.outcome(of: stream, deadline).get().text
        }
    }

    private static func outcome(
        of stream: AsyncStream<Outcome>, _ deadline: ContinuousClock.Instant
    ) async throws(ProviderFailure) -> Outcome {
        do throws(ProviderFailure) {
            return try await Deadline.race(deadline) { () async throws(ProviderFailure) in
                for await outcome in stream { return outcome }
                throw .cancelled
            }
        } catch {
            guard error != .cancelled else { throw error }
            return .failure(Self.failure(error))
        }
    }

    private static func failure(_ failure: ProviderFailure) -> AccessTokenState.Failure {
        .init(reason: "No access token from Google. \(failure)")
    }

    /// The service has refused it. Returns whether another one is worth a request.
    func reject(_ token: String) -> Bool { state.withLock { $0.machine.reject(token, at: now()) } }

    private func fetch() async {
        let outcome = await request()
        let waiting = state.withLock { state in
            state.machine.complete(outcome, at: now())
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting {
            continuation.yield(outcome)
            continuation.finish()
        }
    }

    private func request() async -> Outcome {
        struct Response: Decodable {
            var access_token: String
            var expires_in: Double
        }
        let begin = now()
        guard let assertion = try? account.assertion(for: Self.scope, at: begin) else {
            return .failure(.init(retryAfter: nil, reason: "The request for an access token could not be signed."))
        }
        let form = "grant_type=\(Self.grantType.replacing(":", with: "%3A"))&assertion=\(assertion)"
        do throws(ProviderFailure) {
            let response = try await client.post(
                Array(form.utf8), to: account.tokenURL,
                headers: [("Content-Type", "application/x-www-form-urlencoded")],
                maxResponseSize: Self.maxResponseSize, deadline: .now + timeout)
            guard (200..<300).contains(response.status) else {
                return .failure(
                    .init(
                        retryAfter: response.retryAfter,
                        reason: "Google gives no access token. \(PushReason.text(response))"))
            }
            let body = try? JSONDecoder().decode(Response.self, from: Data(response.body))
            guard let body, body.expires_in.isFinite, Self.isToken(body.access_token) else {
                return .failure(.init(retryAfter: nil, reason: "What Google returned is no access token."))
            }
            let seconds = Int64(min(max(body.expires_in, 0), Double(Self.maxSeconds)))
            return .success(.init(text: body.access_token, expiresAt: begin.adding(seconds: seconds)))
        } catch {
            return .failure(Self.failure(error))
        }
    }

    /// It becomes a part of a header.
    private static func isToken(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 8_192 && text.utf8.allSatisfy { (0x21...0x7e).contains($0) }
    }
}
