import Foundation
import NIOHTTP1

/// Whoever the client speaks for, and the access token that proves it at the moment.
///
/// A refresh token is used by one refresh at a time, whoever asks meanwhile waits for the same answer: using it twice
/// would look like a theft to the server.
actor Credentials {
    /// Where access tokens come from.
    enum Source: Sendable {
        case none
        /// A sign-in here: refreshed when it runs out.
        case tokens(Tokens)
        /// A token of an outside issuer, as it is.
        case token(String)
        /// An app that has its own way to get tokens.
        case provider(@Sendable () async throws -> String)
    }

    struct AccessToken: Sendable {
        var text: String
        /// When it runs out, where that is known.
        var expiresAt: Date?
    }

    private struct Refresh: Encodable { var refreshToken: String }

    private static let margin: TimeInterval = 30

    private let door: RESTDoor
    private var source = Source.none
    private var generation = 0
    private var refresh: Task<Tokens, any Error>?
    private var watchers: [Int: AsyncStream<Tokens?>.Continuation] = [:]
    private var lastWatcher = 0

    init(door: RESTDoor) { self.door = door }

    /// The tokens of a sign-in here; nil when signed out, or when tokens come from elsewhere.
    var tokens: Tokens? {
        if case .tokens(let tokens) = source { tokens } else { nil }
    }

    /// Every change of ``tokens``, beginning with what they are.
    func changes() -> AsyncStream<Tokens?> {
        let (stream, continuation) = AsyncStream.makeStream(of: Tokens?.self, bufferingPolicy: .bufferingNewest(1))
        lastWatcher += 1
        let watcher = lastWatcher
        watchers[watcher] = continuation
        continuation.onTermination = { [weak self] _ in
            Task { [weak self] in await self?.forget(watcher) }
        }
        continuation.yield(tokens)
        return stream
    }

    func use(_ source: Source) {
        self.source = source
        generation += 1
        refresh = nil
        for watcher in watchers.values { watcher.yield(tokens) }
    }

    /// An access token that is good for a while yet; `fresh` wants one that was not used before.
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
        let door = door
        let task = Task {
            let grant: Grant = try await door.ask(
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
            if generation == self.generation { use(.none) }
            throw SwitchboardError.signedOut
        }
    }

    private func forget(_ watcher: Int) { watchers[watcher] = nil }
}

/// Tokens as the server hands them out.
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
