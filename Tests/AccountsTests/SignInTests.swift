import Accounts
import Foundation
import Model
import PasswordHashing
import Storage
import TestSupport
import Testing
import Tokens

@Suite struct SignInTests {
    @Test func signingUpSignsIn() async throws {
        let scratch = try await ScratchAccounts()
        let device = DeviceClaim(name: "Ann's phone", platform: "iOS")
        let answer = try await scratch.commands.signUp(
            SignUpRequest(
                email: "Ann@Example.org", password: "correct horse", displayName: "Ann Lee", languages: ["EN"],
                device: device))
        #expect(answer.user.email == "Ann@Example.org" && answer.user.displayName == "Ann Lee")
        #expect(answer.user.languages == ["en"] && !answer.user.callWaiting && answer.user.presence == .everybody)
        #expect(answer.session.device.name == "Ann's phone" && answer.session.current && answer.expiresIn == 900)
        let verified = try await scratch.verifier.verify(answer.accessToken)
        #expect(verified.principal.signIn == answer.principal.signIn && verified.principal.user == answer.user.id)
        #expect(try await scratch.commands.me(answer.principal) == answer.user)
        #expect(scratch.changes(of: answer.user.id).map(\.type) == ["signIn"])

        let again = try await scratch.commands.signIn(
            SignInRequest(email: " ann@example.ORG", password: "correct horse"), from: "192.0.2.1")
        #expect(again.user == answer.user && again.session.id != answer.session.id)
        let taken = await problem { try await scratch.signUp("Other", email: "ann@example.org") }
        #expect(taken?.kind == .conflict && taken?.field == "email")
    }

    @Test func twoSignUpsAtOnceMakeOneAccount() async throws {
        let scratch = try await ScratchAccounts()
        let made = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 { group.addTask { (try? await scratch.signUp("Ann", email: "ann@example.org")) != nil } }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(made == 1)
        #expect(try await scratch.commands.accounts().items.count == 1)
    }

    @Test func invitesAreGoodOnce() async throws {
        let scratch = try await ScratchAccounts(AccountSettings(signUp: .invite))
        let codes = try await scratch.commands.createInvites(count: 2)
        #expect(Set(codes).count == 2)
        func signUp(_ email: String, _ invite: String?) async throws {
            _ = try await scratch.commands.signUp(
                SignUpRequest(email: email, password: "correct horse", displayName: "X", invite: invite))
        }
        #expect(await problem { try await signUp("a@b.co", nil) }?.field == "invite")
        #expect(await problem { try await signUp("a@b.co", "nonsense") }?.kind == .forbidden)
        try await signUp("a@b.co", codes[0])
        #expect(await problem { try await signUp("b@b.co", codes[0]) }?.kind == .forbidden)
        // Whoever has no invite is not told which addresses there are.
        for invite in ["nonsense", codes[0]] {
            #expect(await problem { try await signUp("a@b.co", invite) }?.field == "invite")
        }
        try await signUp("b@b.co", " \(codes[1]) ")
        #expect(try await scratch.commands.accounts().items.count == 2)

        let closed = try await ScratchAccounts(AccountSettings(signUp: .closed))
        #expect(await problem { try await closed.signUp("Ann") }?.kind == .forbidden)
        _ = try await closed.commands.createAccount(email: "a@b.co", password: "correct horse", displayName: "A")
    }

    @Test func wrongPasswordAndUnknownAddressAnswerAlike() async throws {
        let scratch = try await ScratchAccounts()
        try await scratch.signUp("Ann")
        func signIn(_ email: String, _ password: String) async -> Problem? {
            await problem {
                _ = try await scratch.commands.signIn(SignInRequest(email: email, password: password), from: "1")
            }
        }
        let wrong = await signIn("ann@example.org", "wrong horse")
        #expect(wrong == Problem(.unauthenticated, "E-mail or password is wrong."))
        #expect(await signIn("nobody@example.org", "correct horse") == wrong)
        #expect(await signIn("", "") == wrong)
    }

    @Test func guessingIsSlowedDown() async throws {
        let scratch = try await ScratchAccounts()
        let phone = DeviceClaim(id: .make(at: scratch.time.now), name: "Phone", platform: "iOS")
        try await scratch.signUp("Ann", device: phone)
        func signIn(_ password: String, device: DeviceClaim? = nil) async -> Problem? {
            do {
                _ = try await scratch.commands.signIn(
                    SignInRequest(email: "ann@example.org", password: password, device: device), from: "192.0.2.7")
                return nil
            } catch { return error as? Problem }
        }
        // Many at once do not slip through either.
        let kinds = await withTaskGroup(of: Problem.Kind?.self) { group in
            for _ in 0..<12 { group.addTask { await signIn("wrong horse")?.kind } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(kinds.filter { $0 == .unauthenticated }.count == 5)
        #expect(kinds.filter { $0 == .rateLimited }.count == 7)
        let refused = await signIn("correct horse")
        #expect(refused?.kind == .rateLimited && refused?.retryAfter == 500)
        #expect(await signIn("correct horse", device: phone) == nil)
        scratch.advance(seconds: 1)
        #expect(await signIn("correct horse") == nil)
        #expect(await signIn("correct horse") == nil)
    }

    @Test func outdatedHashesAreRenewed() async throws {
        let scratch = try await ScratchAccounts(hashing: Argon2Parameters(memory: 128, passes: 1, lanes: 1))
        let old = try await Argon2Hasher(parameters: Argon2Parameters(memory: 64, passes: 1, lanes: 1), threads: 1)
            .hash("correct horse")
        let ann = try await scratch.signUp("Ann")
        _ = try await scratch.store.write { transaction in
            guard var user = try transaction.user(ann.user.id) else { return }
            user.passwordHash = old
            try transaction.update(user)
        }
        for _ in 0..<2 {
            _ = try await scratch.commands.signIn(
                SignInRequest(email: "ann@example.org", password: "correct horse"), from: "1")
        }
        let hash = try await scratch.store.read { try $0.user(ann.user.id)?.passwordHash }
        #expect(hash?.contains("m=128") == true)
    }

    @Test func aDisabledAccountIsOut() async throws {
        let scratch = try await ScratchAccounts()
        let ann = try await scratch.signUp("Ann")
        _ = try await scratch.commands.setDisabled(true, email: "ANN@example.org")
        #expect(scratch.ended.value == [ann.session.id] && scratch.disabled.value == [ann.user.id])
        #expect(await problem { _ = try await scratch.verifier.verify(ann.accessToken) }?.kind == .unauthenticated)
        #expect(await problem { _ = try await scratch.commands.refresh(ann.refreshToken) }?.kind == .unauthenticated)
        #expect(await problem { _ = try await scratch.commands.me(ann.principal) }?.kind == .forbidden)
        let request = SignInRequest(email: "ann@example.org", password: "correct horse")
        #expect(await problem { _ = try await scratch.commands.signIn(request, from: "1") }?.kind == .forbidden)
        _ = try await scratch.commands.setDisabled(false, email: "ann@example.org")
        _ = try await scratch.commands.signIn(request, from: "1")
        #expect(await problem { _ = try await scratch.commands.setDisabled(true, email: "x@y.z") }?.kind == .notFound)
    }

    @Test func whoWasDisabledWhileBeingReadStaysOut() async throws {
        let scratch = try await ScratchAccounts()
        let identity = ExternalIdentity(issuer: "https://i", subject: "s", name: "Otto", email: "otto@example.org")
        let user = try await scratch.commands.user(of: identity)
        let database = HeldDatabase(scratch.store)
        let commands = AccountCommands(
            database: database, passwords: Argon2Hasher(), secrets: SystemSecrets(), tokens: scratch.tokens,
            uptime: { 0 })
        try commands.checkNotDisabled(user)
        database.hold()
        async let outcome = problem { _ = try await commands.user(of: identity) }
        await database.waitUntilHeld()
        _ = try await commands.setDisabled(true, email: "otto@example.org")
        database.release()
        #expect(await outcome?.kind == .forbidden)
        #expect(await problem { _ = try await commands.user(of: identity) }?.kind == .forbidden)
        #expect(await problem { try commands.checkNotDisabled(user) }?.kind == .forbidden)
        _ = try await commands.setDisabled(false, email: "otto@example.org")
        try commands.checkNotDisabled(user)
        #expect(try await commands.user(of: identity) == user)
    }

    @Test func virtualUsersAreMadeOnce() async throws {
        let scratch = try await ScratchAccounts()
        let first = try await scratch.commands.virtualUsers(count: 3, prefix: "load")
        let second = try await scratch.commands.virtualUsers(count: 700, prefix: "load")
        #expect(second.count == 700 && second.prefix(3).map(\.user) == first.map(\.user))
        #expect(try await scratch.verifier.verify(second[699].accessToken).principal.user == second[699].user)
    }
}
