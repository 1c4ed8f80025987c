import Accounts
import Model
import PasswordHashing
import Storage
import TestSupport
import Testing
import Tokens

@Suite struct SessionTests {
    @Test func tokensAreRefreshedInTurn() async throws {
        let scratch = try await ScratchAccounts()
        let ann = try await scratch.signUp("Ann")
        var token = ann.refreshToken
        for _ in 0..<5 {
            scratch.advance(seconds: 3600)
            let pair = try await scratch.commands.refresh(token)
            #expect(pair.refreshToken != token && pair.expiresIn == 900)
            #expect(try await scratch.verifier.verify(pair.accessToken).principal.signIn == ann.principal.signIn)
            token = pair.refreshToken
        }
        let session = try await scratch.commands.sessions(of: ann.principal).items.first
        #expect(session?.lastUsedAt == scratch.time.now && session?.createdAt == ann.session.createdAt)
    }

    @Test func aLostAnswerIsForgivenButACopyIsNot() async throws {
        let scratch = try await ScratchAccounts()
        let ann = try await scratch.signUp("Ann")
        let lost = try await scratch.commands.refresh(ann.refreshToken)
        let received = try await scratch.commands.refresh(ann.refreshToken)
        let next = try await scratch.commands.refresh(received.refreshToken)
        let reused = await problem { _ = try await scratch.commands.refresh(lost.refreshToken) }
        #expect(reused?.kind == .unauthenticated && reused?.detail.contains("used twice") == true)
        #expect(scratch.ended.value == [ann.session.id])
        #expect(await problem { _ = try await scratch.verifier.verify(next.accessToken) }?.kind == .unauthenticated)
        let after = await problem { _ = try await scratch.commands.refresh(next.refreshToken) }
        #expect(after?.detail.contains("used twice") == true)
        #expect(scratch.changes(of: ann.user.id).map(\.type) == ["signIn", "signOut"])
        // A made-up token of somebody else's session changes nothing and learns nothing.
        let ben = try await scratch.signUp("Ben")
        let made = RefreshToken(signIn: ben.session.id, counter: 1, family: "guess", secret: "guess").text
        #expect(await problem { _ = try await scratch.commands.refresh(made) }?.detail.contains("unknown") == true)
        _ = try await scratch.commands.refresh(ben.refreshToken)
    }

    @Test func refreshesAtTheSameTimeAllWork() async throws {
        let scratch = try await ScratchAccounts()
        for round in 0..<20 {
            let ann = try await scratch.signUp("Ann", email: "ann\(round)@example.org")
            let pairs = await withTaskGroup(of: TokenPair?.self) { group in
                for _ in 0..<6 { group.addTask { try? await scratch.commands.refresh(ann.refreshToken) } }
                return await group.reduce(into: []) { $0.append($1) }
            }.compactMap(\.self)
            #expect(Set(pairs.map(\.refreshToken)).count == 6)
            // One of the answers is used; a second one is a copy.
            let outcomes = await withTaskGroup(of: Bool.self) { group in
                for pair in pairs.prefix(2) {
                    group.addTask { (try? await scratch.commands.refresh(pair.refreshToken)) != nil }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(outcomes.filter(\.self).count == 1)
            #expect(scratch.ended.value.contains(ann.session.id))
        }
    }

    @Test func unusedSessionsRunOutAndAreRemoved() async throws {
        let scratch = try await ScratchAccounts(AccountSettings(signInLifetime: 1000))
        let ann = try await scratch.signUp("Ann")
        _ = try await scratch.commands.endpoint(nil, secret: nil, of: ann.principal)
        scratch.advance(seconds: 1001)
        let problem = await problem { _ = try await scratch.commands.refresh(ann.refreshToken) }
        #expect(problem?.detail.contains("expired") == true && problem?.members["reason"] == "\"expired\"")
        #expect(try await scratch.commands.sessions(of: ann.principal).items.isEmpty)
        #expect(try await scratch.commands.devices(of: ann.principal).items.count == 1)
        #expect(try await scratch.commands.removeStale() == 3)
        #expect(try await scratch.commands.devices(of: ann.principal).items.isEmpty)
        #expect(try await scratch.commands.removeStale() == 0)
    }

    @Test func aSessionShowsItsLatestClient() async throws {
        let scratch = try await ScratchAccounts()
        let commands = scratch.commands
        let ann = try await scratch.signUp("Ann")
        #expect(try await commands.sessions(of: ann.principal).items.map(\.client) == [nil])
        let clients = ["1.0.0", "1.1.0"].map { ClientInfo(name: "Switchboard-Web", version: $0) }
        for client in clients {
            for _ in 0..<2 { try await commands.setClient(client, of: ann.principal) }
            #expect(try await commands.sessions(of: ann.principal).items.map(\.client) == [client])
        }
        // It stays when the tokens are refreshed, and is that of one sign-in.
        _ = try await commands.refresh(ann.refreshToken)
        let request = SignInRequest(email: "ann@example.org", password: "correct horse")
        let other = try await commands.signIn(request, from: "1")
        let sessions = try await commands.sessions(of: other.principal).items
        #expect(sessions.first { $0.id == ann.session.id }?.client == clients[1])
        #expect(sessions.first { $0.id == other.session.id }.map { $0.client == nil } == true)
        // A token of an external issuer has no session here.
        try await commands.setClient(clients[0], of: Principal(user: ann.user.id))
        #expect(try await commands.sessions(of: ann.principal).items.compactMap(\.client) == [clients[1]])
    }

    @Test func sessionsAndDevicesAreListedAndEnded() async throws {
        let scratch = try await ScratchAccounts()
        let phone = DeviceClaim(name: "Phone", platform: "iOS")
        let ann = try await scratch.signUp("Ann", device: phone)
        let request = SignInRequest(email: "ann@example.org", password: "correct horse")
        scratch.advance(seconds: 1)
        let laptop = try await scratch.commands.signIn(request, from: "1")
        var onPhone = request
        onPhone.device = DeviceClaim(id: ann.session.device.id, name: "New phone name", platform: "iOS")
        scratch.advance(seconds: 1)
        let again = try await scratch.commands.signIn(onPhone, from: "1")
        #expect(again.session.device.id == ann.session.device.id)
        let ben = try await scratch.signUp("Ben")

        let sessions = try await scratch.commands.sessions(of: laptop.principal).items
        #expect(sessions.map(\.id) == [again.session.id, laptop.session.id, ann.session.id])
        #expect(sessions.map(\.current) == [false, true, false])
        let devices = try await scratch.commands.devices(of: laptop.principal).items
        #expect(devices.map(\.name) == ["New phone name", "Unknown device"])
        #expect(devices.map(\.current) == [false, true])
        #expect(devices[0].createdAt == ann.session.createdAt)

        let commands = scratch.commands
        #expect(
            await problem { _ = try await commands.endSession(ben.session.id, of: ann.principal) }?.kind == .notFound)
        let foreign = DeviceID.make(at: scratch.time.now)
        #expect(await problem { _ = try await commands.removeDevice(foreign, of: ann.principal) }?.kind == .notFound)
        let outcome = try await commands.removeDevice(ann.session.device.id, of: laptop.principal)
        #expect(outcome.positions[.user(ann.user.id)]?.sequence == 5)
        #expect(Set(scratch.ended.value) == [ann.session.id, again.session.id])
        for token in [ann.accessToken, again.accessToken] {
            #expect(await problem { _ = try await scratch.verifier.verify(token) }?.kind == .unauthenticated)
        }
        #expect(try await commands.devices(of: laptop.principal).items.map(\.name) == ["Unknown device"])
        _ = try await commands.endSession(nil, of: laptop.principal)
        _ = try await commands.endSession(nil, of: laptop.principal)
        #expect(try await commands.sessions(of: laptop.principal).items.isEmpty)
        _ = try await scratch.verifier.verify(ben.accessToken)
        #expect(
            await problem { _ = try await commands.refresh(laptop.refreshToken) }?.detail.contains("signed out") == true
        )
    }

    @Test func theLeastRecentlyUsedSignInIsEnded() async throws {
        let scratch = try await ScratchAccounts()
        let commands = scratch.commands
        let ann = try await scratch.signUp("Ann")
        var tokens: [String] = []
        for number in 1..<64 {
            scratch.advance(seconds: 1)
            let device = DeviceClaim(name: "Device \(number)", platform: "test")
            let request = SignInRequest(email: "ann@example.org", password: "correct horse", device: device)
            tokens.append(try await commands.signIn(request, from: "1").refreshToken)
        }
        #expect(scratch.ended.value.isEmpty)
        scratch.advance(seconds: 1)
        let kept = try await commands.refresh(ann.refreshToken)
        scratch.advance(seconds: 1)
        let request = SignInRequest(email: "ann@example.org", password: "correct horse")
        let last = try await commands.signIn(request, from: "1")
        // Ann's first one was used since; the one after it was not.
        let (ended, first) = (scratch.ended.value, try #require(RefreshToken(tokens[0])).signIn)
        #expect(ended == [first])
        #expect(await problem { _ = try await commands.refresh(tokens[0]) }?.detail.contains("at most 64") == true)
        #expect(scratch.tokens.isRevoked(first))
        _ = try await commands.refresh(kept.refreshToken)
        _ = try await commands.refresh(tokens[1])
        #expect(scratch.changes(of: ann.user.id).last?.type == "signOut")

        // Pages of both lists.
        var seen: [SignInID] = []
        var cursor: String?
        repeat {
            let page = try await commands.sessions(of: last.principal, limit: 25, cursor: cursor)
            seen += page.items.map(\.id)
            cursor = page.nextCursor
        } while cursor != nil
        #expect(seen.count == 64 && Set(seen).count == 64 && !seen.contains(first))
        var names: [String] = []
        repeat {
            let page = try await commands.devices(of: last.principal, limit: 63, cursor: cursor)
            names += page.items.map(\.name)
            cursor = page.nextCursor
        } while cursor != nil
        #expect(names.count == 64 && !names.contains("Device 1"))
        let bad = await problem { _ = try await commands.devices(of: last.principal, cursor: "1.x") }
        #expect(bad?.field == "cursor")
    }

    @Test func aNewPasswordEndsTheOtherSessions() async throws {
        let scratch = try await ScratchAccounts()
        let ann = try await scratch.signUp("Ann")
        let other = try await scratch.commands.signIn(
            SignInRequest(email: "ann@example.org", password: "correct horse"), from: "1")
        let commands = scratch.commands
        let wrong = await problem {
            _ = try await commands.changePassword(of: ann.principal, from: "wrong", to: "battery staple")
        }
        #expect(wrong?.field == "currentPassword")
        let short = await problem {
            _ = try await commands.changePassword(of: ann.principal, from: "correct horse", to: "short")
        }
        #expect(short?.field == "newPassword")
        _ = try await commands.changePassword(of: ann.principal, from: "correct horse", to: "battery staple")
        #expect(scratch.ended.value == [other.session.id])
        let rejection = await problem { _ = try await commands.refresh(other.refreshToken) }
        #expect(rejection?.detail.contains("password was changed") == true)
        _ = try await commands.refresh(ann.refreshToken)
        let old = SignInRequest(email: "ann@example.org", password: "correct horse")
        #expect(await problem { _ = try await commands.signIn(old, from: "1") }?.kind == .unauthenticated)
        _ = try await commands.signIn(SignInRequest(email: "ann@example.org", password: "battery staple"), from: "1")
    }

    @Test func revocationsSurviveARestart() async throws {
        let scratch = try await ScratchAccounts()
        let ann = try await scratch.signUp("Ann")
        _ = try await scratch.commands.endSession(nil, of: ann.principal)
        let second = try await ScratchAccounts()
        #expect(!second.tokens.isRevoked(ann.session.id))
        let restarted = AccountCommands(
            database: scratch.store, passwords: Argon2Hasher(threads: 1), secrets: SystemSecrets(),
            tokens: second.tokens, uptime: { 0 })
        try await restarted.loadRevocations()
        #expect(second.tokens.isRevoked(ann.session.id))
    }
}
