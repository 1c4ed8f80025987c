import Foundation
import NIOHTTP1

/// The credentials of the user and the current access token.
///
/// There is one refresh at a time; concurrent callers wait for its result: using a refresh token twice would look like
/// a theft to the server.
actor Credentials {
    /// Where access tokens come from.
    enum Source: Sendable {
        case none
        /// A sign-in here: refreshed when the access token expires.
        case tokens(Tokens)
        /// A token of an external issuer.
        case token(String)
        /// The app's own token provider.
        case provider(@Sendable () async throws -> String)
    }

    struct AccessToken: Sendable {
        var text: String
        /// When it expires, if known.
        var expiresAt: Date?
    }

    private struct Refresh: Encodable { var refreshToken: String }

    private static let margin: TimeInterval = 30
    /// Reasons to refuse a refresh token for which nobody has ended the session.
    private static let expiries: Set = ["expired", "unknown", "restored"]

    private let rest: RESTClient
    private var source = Source.none
    private var generation = 0
    private var refresh: Task<Tokens, any Error>?
    private var watchers: [Int: AsyncStream<Tokens?>.Continuation] = [:]
    private var lastWatcher = 0
    private var isClosed = false
    /// Whether the server has refused the last refresh token because the session was ended, rather than by time.
    private(set) var wasEnded = false

    init(rest: RESTClient) { self.rest = rest }

    /// The tokens of a sign-in here; nil if signed out, or with another source.
    var tokens: Tokens? {
        if case .tokens(let tokens) = source { tokens } else { nil }
    }

    /// The current ``tokens``, then every change.
    func changes() -> AsyncStream<Tokens?> {
        let (stream, continuation) = AsyncStream.makeStream(of: Tokens?.self, bufferingPolicy: .bufferingNewest(1))
        continuation.yield(tokens)
        guard !isClosed else {
            continuation.finish()
            return stream
        }
        lastWatcher += 1
        let watcher = lastWatcher
        watchers[watcher] = continuation
        continuation.onTermination = { [weak self] _ in
            Task { [weak self] in await self?.forget(watcher) }
        }
        return stream
    }

    /// Ends the sequences of ``changes()``, for good.
    func close() {
        isClosed = true
        for watcher in watchers.values { watcher.finish() }
        watchers = [:]
    }

    func use(_ source: Source) {
        self.source = source
        wasEnded = false
        generation += 1
        refresh = nil
        for watcher in watchers.values { watcher.yield(tokens) }
    }

    /// A token of the user, which may have expired: only to know whose it is.
    func anyToken() async -> String? {
        switch source {
        case .none: nil
        case .tokens(let tokens): tokens.accessToken
        case .token(let text): text
        case .provider(let provider): try? await provider()
        }
    }

    /// An access token that does not expire soon; with `fresh`, a new one.
    func accessToken(fresh: Bool = false) async throws -> AccessToken {
        switch source {
        case .none: throw SwitchboardError.signedOut
        case .token(let text):
            if fresh { throw SwitchboardError.signedOut }
            return AccessToken(text: text)
        case .provider(let provider): return AccessToken(text: try await provider())
        case .tokens(var tokens):
            if fresh || tokens.expiresAt.timeIntervalSinceNow < Self.margin { tokens = try await refreshed(tokens) }
            return AccessToken(text: tokens.accessToken, expiresAt: tokens.expiresAt)
        }
    }

    private func refreshed(_ old: Tokens) async throws -> Tokens {
        if let refresh { return try await refresh.value }
        let generation = generation
        let rest = rest
        let task = Task {
            let grant: Grant = try await rest.request(
                .POST, "/v1/sessions/refresh", body: Refresh(refreshToken: old.refreshToken))
            return grant.tokens
        }
        refresh = task
        do {
            let tokens = try await task.value
            if generation == self.generation { use(.tokens(tokens)) }
            return tokens
        } catch let error as SwitchboardError {
            if generation == self.generation { refresh = nil }
            guard let kind = error.problem?.kind, [.unauthenticated, .signInAgain].contains(kind) else { throw error }
            if generation == self.generation {
                use(.none)
                wasEnded = error.problem?.reason.map { !Self.expiries.contains($0) } ?? false
            }
            throw SwitchboardError.signedOut
        }
    }

    private func forget(_ watcher: Int) { watchers[watcher] = nil }
}

/// Tokens as the server issues them.
struct Grant: Decodable {
    var accessToken: String
    var refreshToken: String
    /// Seconds.
    var expiresIn: Double

    var tokens: Tokens {
        Tokens(
            accessToken: accessToken, refreshToken: refreshToken, expiresAt: Date(timeIntervalSinceNow: expiresIn))
    }
}
