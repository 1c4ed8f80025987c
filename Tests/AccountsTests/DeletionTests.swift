import Accounts
import Model
import Storage
import TestSupport
import Testing

@testable import Tokens

/// The deletion of accounts, over a real database: what ends at once, and tokens from before.
@Suite struct DeletionTests {
    @Test func theAddressAndTheNameAreReleased() async throws {
        let accounts = try await ScratchAccounts()
        let commands = accounts.commands
        let ann = try await accounts.signUp("Ann Lee", email: "ann@example.org")
        let ben = try await accounts.signUp("Ben")
        let entry = try await commands.deleteAccount(of: ann.principal, password: "correct horse")
        #expect(entry.actor == .user(ann.user.id) && entry.subject == ann.user.id.text && entry.address == nil)
        #expect(accounts.ended.value == [ann.session.id] && accounts.disabled.value == [ann.user.id])
        #expect(await problem { _ = try await commands.me(ann.principal) }?.kind == .unauthenticated)
        #expect(await problem { _ = try await accounts.verifier.verify(ann.accessToken) }?.kind == .unauthenticated)
        #expect(await problem { _ = try await commands.refresh(ann.refreshToken) }?.kind == .unauthenticated)
        #expect(try await commands.search("Ann", by: ben.principal).items.isEmpty)
        let shown = try await commands.profile(of: ann.user.id)
        #expect(shown.displayName == DeletedUser.name && shown.deleted == true && shown.languages.isEmpty)
        #expect(await problem { _ = try await accounts.block(ann.user.id, by: ben.principal) }?.kind == .notFound)
        let again = try await accounts.signUp("Ann Lee", email: "Ann@example.org")
        #expect(again.user.id != ann.user.id)
        #expect(try await accounts.store.read { try $0.erasureCount() } == 1)
    }

    @Test func thePasswordIsNeeded() async throws {
        let accounts = try await ScratchAccounts()
        let ann = try await accounts.signUp("Ann")
        for password in [nil, "", "wrong horse"] {
            let refused = await problem {
                _ = try await accounts.commands.deleteAccount(of: ann.principal, password: password)
            }
            #expect(refused?.kind == .invalidRequest && refused?.field == "password")
        }
        #expect(try await accounts.commands.me(ann.principal).id == ann.user.id)
    }

    @Test func withoutAPasswordTheTokenIsFresh() async throws {
        let accounts = try await ScratchAccounts()
        let commands = accounts.commands
        let ann = try await commands.user(of: identity(at: accounts.time.now))
        let issued = accounts.time.now
        accounts.advance(seconds: 301)
        for time in [issued, nil] {
            let refused = await problem {
                _ = try await commands.deleteAccount(of: Principal(user: ann, tokenIssuedAt: time), password: nil)
            }
            #expect(refused?.kind == .unauthenticated)
        }
        let fresh = Principal(user: ann, tokenIssuedAt: accounts.time.now.adding(seconds: -300))
        _ = try await commands.deleteAccount(of: fresh, password: nil)
    }

    @Test func tokensFromBeforeMakeNoUserAnew() async throws {
        let accounts = try await ScratchAccounts()
        let commands = accounts.commands
        let old = identity(at: accounts.time.now)
        let ann = try await commands.user(of: old)
        accounts.advance(seconds: 10)
        let deletedAt = accounts.time.now
        _ = try await commands.deleteAccount(of: Principal(user: ann, tokenIssuedAt: deletedAt), password: nil)
        accounts.advance(seconds: 10)
        for refused in [old, identity(at: deletedAt), identity(at: nil)] {
            #expect(await problem { _ = try await commands.user(of: refused) }?.kind == .unauthenticated)
        }
        let new = try await commands.user(of: identity(at: deletedAt.adding(seconds: 1)))
        #expect(new != ann)
        // Also once the new user is known.
        for refused in [old, identity(at: deletedAt), identity(at: nil)] {
            #expect(await problem { _ = try await commands.user(of: refused) }?.kind == .unauthenticated)
        }
        #expect(try await commands.user(of: identity(at: accounts.time.now)) == new)
    }

    @Test func aKeyDeletesOnceAndTheIDIsFree() async throws {
        let accounts = try await ScratchAccounts()
        let commands = accounts.commands
        let key = ServerKeyRequestTests.key
        let ada = try await commands.putUser(.external("7"), PutUser(displayName: "Ada"), by: key).user
        #expect(try await commands.deleteUser(.external("7"), by: key)?.subject == ada.id.text)
        #expect(try await commands.deleteUser(.id(ada.id), by: key) == nil)
        #expect(await problem { _ = try await commands.deleteUser(.external("7"), by: key) }?.kind == .notFound)
        #expect(await problem { _ = try await commands.setDisabled(false, .id(ada.id), by: key) }?.kind == .conflict)
        #expect(try await commands.setDisabled(true, .id(ada.id), by: key).user.deleted == true)
        #expect(try await commands.putUser(.external("7"), PutUser(displayName: "Ada"), by: key).isNew)
    }

    private func identity(at issued: Timestamp?) -> ExternalIdentity {
        ExternalIdentity(issuer: "https://issuer.example", subject: "ann", name: "Ann", issuedAt: issued)
    }
}
