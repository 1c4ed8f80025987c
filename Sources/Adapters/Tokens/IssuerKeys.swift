internal import AsyncHTTPClient
internal import Foundation
internal import JWTKit
internal import Model
internal import NIOCore
internal import NIOHTTP1

/// The public keys of one outside issuer, fetched from its JWKS address and kept.
///
/// They are fetched again after an hour, and when a token names a key that is not there (issuers rotate), but not more
/// often than every half minute: made-up key names must not make this server hammer the issuer. When a fetch fails, the
/// keys that are known stay good.
actor IssuerKeys {
    private static let keptFor: Int64 = 60 * 60 * 1000
    private static let pause: Int64 = 30 * 1000
    private static let largestSet = 1 << 20

    private let url: String
    private let client: HTTPClient
    private let uptime: @Sendable () -> Int64
    private var keys: [IssuerKey] = []
    private var fetchedAt: Int64?
    private var triedAt: Int64?
    private var fetching: Task<[IssuerKey]?, Never>?

    init(url: String, client: HTTPClient, uptime: @escaping @Sendable () -> Int64) {
        self.url = url
        self.client = client
        self.uptime = uptime
    }

    /// The key that a token names, or the issuer's only one when it names none. Nil when there is no such key.
    func key(_ identifier: String?, algorithm: String) async throws -> IssuerKey? {
        let isFresh = fetchedAt.map { uptime() &- $0 < Self.keptFor } ?? false
        if isFresh, let key = find(identifier, algorithm) { return key }
        await refresh()
        guard fetchedAt != nil else {
            throw Problem(
                .unavailable, "The keys of the token's issuer cannot be fetched; try again.", retryAfter: Self.pause)
        }
        return find(identifier, algorithm)
    }

    /// Key identifiers are compared here: JWTKit would fall back to another key.
    private func find(_ identifier: String?, _ algorithm: String) -> IssuerKey? {
        let fitting = keys.filter { $0.algorithm == algorithm }
        guard let identifier else { return fitting.count == 1 ? fitting.first : nil }
        return fitting.first { $0.identifier == identifier }
    }

    private func refresh() async {
        if fetching == nil {
            if let triedAt, uptime() &- triedAt < Self.pause { return }
            triedAt = uptime()
            fetching = Task { [client, url] in await Self.fetch(url, client) }
        }
        guard let task = fetching else { return }
        let fetched = await task.value
        fetching = nil
        guard let fetched else { return }
        keys = fetched
        fetchedAt = uptime()
    }

    private static func fetch(_ url: String, _ client: HTTPClient) async -> [IssuerKey]? {
        do {
            var request = HTTPClientRequest(url: url)
            request.headers.add(name: "Accept", value: "application/json")
            let response = try await client.execute(request, timeout: .seconds(5))
            guard response.status == .ok else { return nil }
            let body = try await response.body.collect(upTo: largestSet)
            return try await IssuerKey.keys(inSet: Array(body.readableBytesView))
        } catch {
            return nil
        }
    }
}

/// One public key of an issuer.
struct IssuerKey: Sendable {
    let identifier: String?
    /// `RS256` or `ES256`: a token must name it, so that nobody has a key used for something it is not meant for.
    let algorithm: String
    private let verifier: any JWTAlgorithm

    func verifies(_ token: SignedToken) -> Bool {
        token.header.alg == algorithm && (try? verifier.verify(token.signature, signs: token.signed)) == true
    }

    /// Each key is decoded by itself: one of a kind that is not known here must not cost the others.
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
            // A collection of its own for each key leaves nothing to fall back to.
            guard let collection = try? await JWTKeyCollection().add(jwk: key),
                let verifier = try? await collection.getKey(alg: algorithm), verifier.name == algorithm
            else { continue }
            keys.append(IssuerKey(identifier: identifier?.string, algorithm: algorithm, verifier: verifier))
        }
        return keys
    }
}
