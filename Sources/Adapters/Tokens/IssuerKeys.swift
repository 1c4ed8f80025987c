internal import AsyncHTTPClient
internal import Foundation
internal import JWTKit
internal import Model
internal import NIOCore
internal import NIOHTTP1
internal import Providers

/// The public keys of one external issuer, fetched from its JWKS URL and cached.
///
/// They are fetched again after an hour, and when a token names an unknown key (issuers rotate), but at most every half
/// minute, or later where the issuer says so: made-up key ids must not make this server flood the issuer. If a fetch
/// fails, the cached keys stay valid.
actor IssuerKeys {
    private static let maxAge: Int64 = 60 * 60 * 1000
    private static let minFetchInterval: Int64 = 30 * 1000
    /// The longest `Retry-After` that is honoured: without keys nobody gets in.
    private static let maxPause: Int64 = 10 * 60 * 1000
    private static let maxSetBytes = 1 << 20

    private enum Answer {
        case keys([IssuerKey])
        case failed(retryAfter: Duration?)
    }

    private let url: String
    private let client: HTTPClient
    private let uptime: @Sendable () -> Int64
    private var keys: [IssuerKey] = []
    private var fetchedAt: Int64?
    private var nextFetch: Int64 = 0
    private var fetching: Task<Answer, Never>?

    init(url: String, client: HTTPClient, uptime: @escaping @Sendable () -> Int64) {
        self.url = url
        self.client = client
        self.uptime = uptime
    }

    /// The key that a token names, or the issuer's only one if it names none. Nil if there is no such key.
    func key(_ identifier: String?, algorithm: String) async throws -> IssuerKey? {
        let isFresh = fetchedAt.map { uptime() &- $0 < Self.maxAge } ?? false
        if isFresh, let key = find(identifier, algorithm) { return key }
        await refresh()
        guard fetchedAt != nil else {
            throw Problem(
                .unavailable, "The keys of the token's issuer cannot be fetched; try again.",
                retryAfter: max(1_000, nextFetch &- uptime()))
        }
        return find(identifier, algorithm)
    }

    /// Key identifiers are compared here: JWTKit would fall back to another key.
    private func find(_ identifier: String?, _ algorithm: String) -> IssuerKey? {
        let matching = keys.filter { $0.algorithm == algorithm }
        guard let identifier else { return matching.count == 1 ? matching.first : nil }
        return matching.first { $0.identifier == identifier }
    }

    private func refresh() async {
        if fetching == nil {
            guard uptime() >= nextFetch else { return }
            nextFetch = uptime() &+ Self.minFetchInterval
            fetching = Task { [client, url] in await Self.fetch(url, client) }
        }
        guard let task = fetching else { return }
        let answer = await task.value
        fetching = nil
        switch answer {
        case .keys(let fetched):
            keys = fetched
            fetchedAt = uptime()
        case .failed(let pause):
            guard let pause else { return }
            nextFetch = max(nextFetch, uptime() &+ min(pause.components.seconds &* 1_000, Self.maxPause))
        }
    }

    private static func fetch(_ url: String, _ client: HTTPClient) async -> Answer {
        do {
            var request = HTTPClientRequest(url: url)
            request.headers.add(name: "Accept", value: "application/json")
            let response = try await client.execute(request, timeout: .seconds(5))
            guard response.status == .ok else {
                return .failed(retryAfter: RetryTime.read { response.headers.first(name: $0) })
            }
            let body = try await response.body.collect(upTo: maxSetBytes)
            return .keys(try await IssuerKey.keys(inSet: Array(body.readableBytesView)))
        } catch {
            return .failed(retryAfter: nil)
        }
    }
}

/// One public key of an issuer.
struct IssuerKey: Sendable {
    let identifier: String?
    /// `RS256` or `ES256`. A token must name it, so that a key cannot be used with another algorithm.
    let algorithm: String
    private let verifier: any JWTAlgorithm

    func verifies(_ token: SignedToken) -> Bool {
        token.header.alg == algorithm && (try? verifier.verify(token.signature, signs: token.signed)) == true
    }

    /// Each key is decoded separately: an unsupported one must not invalidate the others.
    static func keys(inSet bytes: [UInt8]) async throws -> [IssuerKey] {
        struct Lenient: Decodable {
            let key: JWK?
            init(from decoder: any Decoder) throws { key = try? JWK(from: decoder) }
        }
        struct KeySet: Decodable { let keys: [Lenient] }
        var keys: [IssuerKey] = []
        for case var key? in try JSONDecoder().decode(KeySet.self, from: Data(bytes)).keys.map(\.key) {
            let algorithm: String
            switch (key.keyType, key.curve) {
            case (.rsa, _): algorithm = "RS256"
            case (.ecdsa, .ecdsa(.p256)?): algorithm = "ES256"
            default: continue
            }
            if let named = key.algorithm, named.rawValue != algorithm { continue }
            let identifier = key.keyIdentifier
            key.keyIdentifier = identifier ?? JWKIdentifier(string: "only")
            key.algorithm = algorithm == "RS256" ? .rs256 : .es256
            // Each key has its own collection, so there is no key to fall back to.
            guard let collection = try? await JWTKeyCollection().add(jwk: key),
                let verifier = try? await collection.getKey(alg: algorithm), verifier.name == algorithm
            else { continue }
            keys.append(IssuerKey(identifier: identifier?.string, algorithm: algorithm, verifier: verifier))
        }
        return keys
    }
}
