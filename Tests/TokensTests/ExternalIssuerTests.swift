import Accounts
import AsyncHTTPClient
import Foundation
import Model
import TestSupport
import Testing
import Tokens

@Suite struct ExternalIssuerTests {
    static let name = "https://issuer.example/"
    let time = ManualClock<Timestamp>()
    let server = KeyServer()
    let seen = Seen()

    /// The identities that were asked for a user.
    final class Seen: Sendable {
        private let identities = Shared<[ExternalIdentity]>([])
        private let isClosed = Shared(false)
        var all: [ExternalIdentity] { identities.value }
        func add(_ identity: ExternalIdentity) throws {
            if isClosed.value { throw Problem(.forbidden, "This account is disabled.") }
            identities.update { $0.append(identity) }
        }
        func close() { isClosed.update { $0 = true } }
    }

    func claims(
        iss: String = name, aud: String = "\"app\"", sub: String = "s1", exp: Int64 = 600, nbf: Int64? = nil,
        more: String = ""
    ) -> String {
        let now = time.now.milliseconds / 1000
        let notBefore = nbf.map { ",\"nbf\":\(now + $0)" } ?? ""
        return "{\"iss\":\"\(iss)\",\"aud\":\(aud),\"sub\":\"\(sub)\",\"exp\":\(now + exp)\(notBefore)\(more)}"
    }

    func verifier(url: String) -> TokenVerifier {
        let user = UserID.make(at: time.now)
        return TokenVerifier(
            own: AccessTokens(key: .ephemeral()),
            external: ExternalIssuers(
                [ExternalIssuer(issuer: Self.name, audience: "app", jwksURL: url)], client: .shared,
                uptime: { [time] in time.uptime }),
            user: { [seen] identity in
                try seen.add(identity)
                return user
            }, clock: { [time] in time.now })
    }

    func refused(_ verifier: TokenVerifier, _ token: String, _ kind: Problem.Kind = .unauthenticated) async {
        let problem = await #expect(throws: Problem.self) { _ = try await verifier.verify(token) }
        #expect(problem?.kind == kind)
    }

    @Test func tokensOfBothKindsAreAccepted() async throws {
        let signer = try ExternalSigner("k1")
        let odd = "{\"kty\":\"OKP\",\"crv\":\"X448\",\"kid\":\"odd\",\"x\":\"AA\"}"
        let secret = "{\"kty\":\"oct\",\"kid\":\"mac\",\"alg\":\"HS256\",\"k\":\"AA\"}"
        server.serve([odd, secret, "7", try signer.jwk(.es256), try signer.jwk(.rs256, identifier: "k2")])
        let verifier = verifier(url: try await server.start())
        let elliptic = try signer.token(.es256, claims(more: ",\"name\":\"Ann\",\"email\":\"ann@example.org\""))
        let verified = try await verifier.verify(elliptic)
        #expect(verified.principal.signIn == nil)
        #expect(verified.expiresAt == time.now.adding(seconds: 660))
        let rsa = try signer.token(
            .rs256, claims(aud: "[\"other\",\"app\"]", more: ",\"email\":\"x@y.z\",\"email_verified\":\"false\""),
            kid: "k2")
        _ = try await verifier.verify(rsa)
        _ = try await verifier.verify(rsa)
        #expect(server.requests == 1)
        #expect(
            seen.all == [
                ExternalIdentity(issuer: Self.name, subject: "s1", name: "Ann", email: "ann@example.org"),
                ExternalIdentity(issuer: Self.name, subject: "s1"), ExternalIdentity(issuer: Self.name, subject: "s1"),
            ])
        // Who is kept out later is kept out at once, although the token was verified before.
        seen.close()
        await refused(verifier, rsa, .forbidden)
        await refused(verifier, elliptic, .forbidden)
        try await server.stop()
    }

    @Test func wrongClaimsAndKeysAreRefused() async throws {
        let signer = try ExternalSigner("k1")
        let forwardedFlow = try ExternalSigner("k1")
        server.serve([try signer.jwk(.es256), try signer.jwk(.rs256, identifier: "k2")])
        let verifier = verifier(url: try await server.start())
        _ = try await verifier.verify(signer.token(.es256, claims(exp: -59, nbf: 59)))
        await refused(verifier, try signer.token(.es256, claims(iss: "https://else.example/")))
        await refused(verifier, try signer.token(.es256, claims(aud: "\"else\"")))
        await refused(verifier, try signer.token(.es256, claims(exp: -60)))
        await refused(verifier, try signer.token(.es256, claims(nbf: 61)))
        await refused(verifier, try signer.token(.es256, claims(sub: "")))
        await refused(verifier, try signer.token(.es256, "{\"iss\":\"\(Self.name)\",\"aud\":\"app\",\"sub\":\"s\"}"))
        await refused(verifier, try forwardedFlow.token(.es256, claims()))
        // The key of one kind with the other's name, and names that are not there: no falling back.
        await refused(verifier, try signer.token(.es256, claims(), kid: "k2"))
        await refused(verifier, try signer.token(.rs256, claims(), kid: "k1"))
        await refused(verifier, try signer.token(.rs256, claims(), alg: "RS384", kid: "k2"))
        await refused(verifier, try signer.token(.es256, claims(), kid: "k3"))
        await refused(verifier, try signer.token(.es256, claims(), alg: "none"))
        // Without a name, the one key of the kind is meant.
        _ = try await verifier.verify(signer.token(.es256, claims(), kid: .some(nil)))
        try await server.stop()
    }

    @Test func newKeysAreFetchedButNotTooOften() async throws {
        let (first, second) = (try ExternalSigner("k1"), try ExternalSigner("k2"))
        server.serve([try first.jwk(.es256)])
        let verifier = verifier(url: try await server.start())
        _ = try await verifier.verify(first.token(.es256, claims()))
        server.serve([try second.jwk(.es256)])
        let token = try second.token(.es256, claims(sub: "s2"))
        for _ in 0..<20 { await refused(verifier, token) }
        #expect(server.requests == 1)
        time.advance(seconds: 31)
        await withTaskGroup { group in
            for _ in 0..<20 { group.addTask { _ = try? await verifier.verify(token) } }
        }
        #expect(server.requests == 2)
        _ = try await verifier.verify(second.token(.es256, claims(sub: "s3")))
        #expect(server.requests == 2)
        try await server.stop()
    }

    @Test func knownKeysOutliveAFailingIssuer() async throws {
        let signer = try ExternalSigner("k1")
        server.fail()
        let verifier = verifier(url: try await server.start())
        await refused(verifier, try signer.token(.es256, claims()), .unavailable)
        server.serve([try signer.jwk(.es256)])
        time.advance(seconds: 31)
        _ = try await verifier.verify(signer.token(.es256, claims()))
        server.fail()
        time.advance(seconds: 4000)
        _ = try await verifier.verify(signer.token(.es256, claims(sub: "s2")))
        #expect(server.requests == 3)
        try await server.stop()
        time.advance(seconds: 4000)
        _ = try await verifier.verify(signer.token(.es256, claims(sub: "s3")))
    }

    @Test(arguments: ["seconds", "date", "century"]) func anIssuerThatSaysWhenIsAskedThen(form: String) async throws {
        let signer = try ExternalSigner("k1")
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        let values = [
            "seconds": "500", "date": formatter.string(from: Date(timeIntervalSinceNow: 590)),
            "century": "Wed, 01 Jan 2126 00:00:00 GMT",
        ]
        server.fail(retryAfter: values[form])
        let verifier = verifier(url: try await server.start())
        await refused(verifier, try signer.token(.es256, claims()), .unavailable)
        server.serve([try signer.jwk(.es256)])
        // The clock of the test is another one than that of the date: much of it may have passed.
        time.advance(seconds: 300)
        await refused(verifier, try signer.token(.es256, claims(sub: "s2")), .unavailable)
        #expect(server.requests == 1)
        // Ten minutes are the most that is waited.
        time.advance(seconds: 301)
        _ = try await verifier.verify(signer.token(.es256, claims(sub: "s3")))
        #expect(server.requests == 2)
        try await server.stop()
    }
}
