import Accounts
import Model
import Storage
import TestSupport
import Testing
import Wire

@testable import Tokens

/// What an app's back end does with a server key, over a real database and real tokens.
@Suite struct ServerKeyRequestTests {
    static let key = principal(0)

    static func principal(_ seed: UInt64) -> KeyPrincipal {
        var generator = SeededRandom(seed: seed)
        return KeyPrincipal(id: .make(using: &generator), scopes: [.users, .tokens], address: "192.0.2.1")
    }

    @Test func aUserIsPutTwiceAndIsOne() async throws {
        let accounts = try await ScratchAccounts()
        let commands = accounts.commands
        let first = try await commands.putUser(.external("7"), PutUser(displayName: "Ada"), by: Self.key)
        let second = try await commands.putUser(
            .external("7"), PutUser(displayName: "Ada L.", languages: ["en"], callWaiting: true), by: Self.key)
        #expect(first.isNew && !second.isNew && first.user.id == second.user.id)
        #expect(second.user.ext == "7" && second.user.displayName == "Ada L." && second.user.callWaiting)
        let found = try await commands.serverUser(.external("7"))
        #expect(found == second.user)
        #expect(try await commands.serverUser(.id(found.id)) == found)
        #expect(await problem { _ = try await commands.serverUser(.external("8")) }?.kind == .notFound)
        #expect(
            await problem { _ = try await commands.putUser(.id(found.id), PutUser(displayName: "X"), by: Self.key) }?
                .field == "user")
    }

    @Test func anIdentityBelongsToOneUser() async throws {
        let accounts = try await ScratchAccounts()
        let commands = accounts.commands
        let identity = PutUser.Identity(issuer: "https://issuer.example", subject: "s1")
        let put = PutUser(displayName: "Ada", identities: [identity])
        let ada = try await commands.putUser(.external("1"), put, by: Self.key).user
        _ = try await commands.putUser(.external("1"), put, by: Self.key)
        let user = try await commands.user(
            of: ExternalIdentity(issuer: identity.issuer, subject: identity.subject))
        #expect(user == ada.id)
        let refused = await problem { _ = try await commands.putUser(.external("2"), put, by: Self.key) }
        #expect(refused?.kind == .conflict && refused?.field == "identities[0]")
        // The transaction was rolled back.
        #expect(await problem { _ = try await commands.serverUser(.external("2")) }?.kind == .notFound)
        let own = PutUser(displayName: "Eve", identities: [.init(issuer: "ext", subject: "1")])
        #expect(
            await problem { _ = try await commands.putUser(.external("3"), own, by: Self.key) }?.field
                == "identities[0].issuer")
    }

    @Test func aIssuedTokenNamesTheKeyAndReusesItsSignIn() async throws {
        let accounts = try await ScratchAccounts()
        let commands = accounts.commands
        let user = try await commands.putUser(.external("1"), PutUser(displayName: "Ada"), by: Self.key).user
        let device = IssueToken.Device(id: .make(at: accounts.time.now), name: "Phone", platform: "ios")
        let first = try await commands.issueToken(of: .external("1"), IssueToken(device: device), by: Self.key).token
        #expect(first.refreshToken == nil && first.expiresIn == 900)
        #expect(Self.claims(of: first.accessToken).contains(#""act":{"sub":"\#(Self.key.actor)"}"#))
        let verified = try await accounts.verifier.verify(first.accessToken)
        #expect((verified.principal.user, verified.principal.signIn) == (user.id, first.session))

        accounts.advance(seconds: 60)
        let second = try await commands.issueToken(
            of: .id(user.id), IssueToken(device: device, refresh: true), by: Self.key
        ).token
        #expect(second.session == first.session)
        let refresh = try #require(second.refreshToken)
        let pair = try await commands.refresh(refresh)
        #expect(Self.claims(of: pair.accessToken).contains(#""act":{"sub":"\#(Self.key.actor)"}"#))

        // Another key, and another device, open their own.
        let other = Self.principal(1)
        let third = try await commands.issueToken(of: .id(user.id), IssueToken(device: device), by: other).token
        #expect(third.session != first.session)
        #expect(try await commands.sessions(of: Principal(user: user.id)).items.count == 2)
    }

    @Test func aSignInOfTheUserIsNeverTakenOver() async throws {
        let accounts = try await ScratchAccounts()
        let id = DeviceID.make(at: accounts.time.now)
        let signedIn = try await accounts.signUp("Ada", device: DeviceClaim(id: id, name: "Phone", platform: "ios"))
        let issued = try await accounts.commands.issueToken(
            of: .id(signedIn.user.id), IssueToken(device: .init(id: id, name: "Phone", platform: "ios")), by: Self.key
        ).token
        #expect(issued.session != signedIn.session.id)
        #expect(!Self.claims(of: signedIn.accessToken).contains("act"))
    }

    @Test func disablingAndSigningOutEndTokens() async throws {
        let accounts = try await ScratchAccounts()
        let commands = accounts.commands
        let user = try await commands.putUser(.external("1"), PutUser(displayName: "Ada"), by: Self.key).user
        let device = IssueToken.Device(id: .make(at: accounts.time.now), name: "Phone", platform: "ios")
        let issue = IssueToken(device: device)
        let first = try await commands.issueToken(of: .id(user.id), issue, by: Self.key).token
        #expect(try await commands.signOutEverywhere(.external("1"), by: Self.key).ended == 1)
        #expect(await problem { _ = try await accounts.verifier.verify(first.accessToken) }?.kind == .unauthenticated)
        let second = try await commands.issueToken(of: .id(user.id), issue, by: Self.key).token
        #expect(second.session != first.session)
        #expect(try await commands.setDisabled(true, .external("1"), by: Self.key).user.disabled)
        #expect(await problem { _ = try await accounts.verifier.verify(second.accessToken) }?.kind == .unauthenticated)
        #expect(
            await problem { _ = try await commands.issueToken(of: .id(user.id), issue, by: Self.key) }?.kind
                == .forbidden
        )
        #expect(accounts.disabled.value == [user.id])
        // A put does not enable.
        _ = try await commands.putUser(.external("1"), PutUser(displayName: "Ada"), by: Self.key)
        #expect(try await commands.serverUser(.external("1")).disabled)
        #expect(try await !commands.setDisabled(false, .external("1"), by: Self.key).user.disabled)
        _ = try await commands.issueToken(of: .id(user.id), issue, by: Self.key)
    }

    @Test func everyWriteIsARow() async throws {
        let accounts = try await ScratchAccounts()
        let commands = accounts.commands
        let start = accounts.time.now
        let user = try await commands.putUser(.external("1"), PutUser(displayName: "Ada"), by: Self.key).user
        _ = try await commands.setDisabled(true, .external("1"), by: Self.key)
        accounts.advance(seconds: 1)
        _ = try await commands.setDisabled(false, .external("1"), by: Self.key)
        let rows = try await accounts.store.readAccounts { try $0.auditEntries(since: start, limit: 10) }
        #expect(rows.map(\.action) == ["server.users.put", "server.users.disable", "server.users.enable"])
        #expect(
            rows.allSatisfy { $0.subject == user.id.text && $0.actor == .key(Self.key.id) && $0.address == "192.0.2.1" }
        )
        #expect(rows.allSatisfy { $0.outcome == AuditEntry.done && $0.count == 1 })
        let latest = try await accounts.store.readAccounts { try $0.auditEntries(since: start, limit: 1) }
        #expect(latest.map(\.action) == ["server.users.enable"])
        let removed = try await accounts.store.writeAccounts {
            try $0.removeAuditEntries(before: start.adding(seconds: 1), limit: 10)
        }.value
        #expect(removed == 2)
    }

    @Test func usersAreListedInPages() async throws {
        let accounts = try await ScratchAccounts()
        for number in 0..<25 {
            _ = try await accounts.commands.putUser(
                .external("\(number)"), PutUser(displayName: "User \(number)"), by: Self.key)
        }
        var (ids, cursor): ([String?], String?) = ([], nil)
        repeat {
            let page = try await accounts.commands.serverUsers(limit: 10, cursor: cursor)
            ids += page.items.map(\.ext)
            cursor = page.nextCursor
        } while cursor != nil
        #expect(Set(ids) == Set((0..<25).map { "\($0)" }) && ids.count == 25)
    }

    /// The payload of a JWT, as text.
    private static func claims(of token: String) -> String {
        let part = token.split(separator: ".").dropFirst().first.map(String.init) ?? ""
        return String(decoding: Base64URL.decode(part) ?? [], as: UTF8.self)
    }
}
