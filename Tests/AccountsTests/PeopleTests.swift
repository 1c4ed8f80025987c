import Accounts
import Model
import PasswordHashing
import Storage
import TestSupport
import Testing
import Tokens

@Suite struct PeopleTests {
    @Test func aProfileIsChanged() async throws {
        let scratch = try await ScratchAccounts()
        let ann = try await scratch.signUp("Ann")
        let change = ProfileUpdate(
            displayName: "Anna", languages: ["pt-br"], callWaiting: true, presence: .nobody)
        let outcome = try await scratch.commands.updateProfile(of: ann.principal, change)
        #expect(outcome.value.displayName == "Anna" && outcome.value.photoURL == nil)
        #expect(outcome.value.languages == ["pt-BR"] && outcome.value.callWaiting && outcome.value.presence == .nobody)
        #expect(outcome.positions[.user(ann.user.id)]?.sequence == 2)
        #expect(try await scratch.commands.me(ann.principal) == outcome.value)
        let same = try await scratch.commands.updateProfile(of: ann.principal, ProfileUpdate())
        #expect(same.value == outcome.value && same.positions.isEmpty)
        let changes = scratch.changes(of: ann.user.id)
        #expect(changes.map(\.type) == ["signIn", "profile"])
        #expect(changes[1].data.contains("\"displayName\":\"Anna\""))
        #expect(
            await problem {
                _ = try await scratch.commands.updateProfile(of: ann.principal, ProfileUpdate(displayName: " "))
            }?.field == "displayName")
    }

    @Test func aPhotoReplacesAnother() async throws {
        let scratch = try await ScratchAccounts()
        let ann = try await scratch.signUp("Ann")
        let commands = scratch.commands
        func set() async throws -> (file: FileID, outcome: AccountOutcome<OwnProfile>) {
            let id = FileID.make(at: scratch.time.now)
            let file = MediaFile(
                id: id, kind: .photo, resource: ann.user.id.text, contentType: "image/png", byteCount: 9,
                createdAt: scratch.time.now, owner: ann.user.id)
            return (id, try await commands.setPhoto(file, of: ann.principal))
        }
        func isThere(_ file: FileID) async throws -> Bool {
            try await scratch.store.read { try $0.mediaFile(file) != nil }
        }
        let (first, outcome) = try await set()
        #expect(outcome.value.photoURL == "/v1/photos/\(first)" && outcome.removedFile == nil)
        #expect(outcome.positions[.user(ann.user.id)]?.sequence == 2)
        #expect(try await commands.profile(of: ann.user.id).photoURL == "/v1/photos/\(first)")
        let (second, replaced) = try await set()
        #expect(replaced.value.photoURL == "/v1/photos/\(second)" && replaced.removedFile == first)
        let (isFirst, isSecond) = (try await isThere(first), try await isThere(second))
        #expect(!isFirst && isSecond)
        // It counts for the user, once, and is refused over what a user may have.
        #expect(try await scratch.store.read { try $0.mediaBytes(of: ann.user.id) } == 9)
        let settings = AccountSettings(quota: MediaQuota(userBytes: 8))
        let narrow = AccountCommands(
            database: scratch.store, passwords: Argon2Hasher(), secrets: SystemSecrets(), tokens: scratch.tokens,
            settings: settings, uptime: { 0 })
        let large = MediaFile(
            id: .make(at: scratch.time.now), kind: .photo, resource: ann.user.id.text, contentType: "image/png",
            byteCount: 9, createdAt: scratch.time.now, owner: ann.user.id)
        #expect(await problem { _ = try await narrow.setPhoto(large, of: ann.principal) }?.kind == .quotaExceeded)
        #expect(try await commands.me(ann.principal).photoURL == "/v1/photos/\(second)")
        // Two ways to remove it, of which the second finds nothing.
        let cleared = try await commands.updateProfile(of: ann.principal, ProfileUpdate(photoURL: ""))
        #expect(cleared.value.photoURL == nil && cleared.removedFile == second)
        let nothing = try await commands.removePhoto(of: ann.principal)
        #expect(nothing.removedFile == nil && nothing.positions.isEmpty)
        let (third, _) = try await set()
        #expect(try await commands.removePhoto(of: ann.principal).removedFile == third)
        #expect(try await !isThere(third))
        #expect(try await scratch.store.read { try $0.mediaBytes(of: ann.user.id) } == 0)
        for address in ["https://a.example/p.png", "/v1/photos/\(third)", " "] {
            let refused = await problem {
                _ = try await commands.updateProfile(of: ann.principal, ProfileUpdate(photoURL: address))
            }
            #expect(refused?.field == "photoURL" && refused?.kind == .invalidRequest)
        }
        let changes = scratch.changes(of: ann.user.id).filter { $0.type == "profile" }
        #expect(changes.map { $0.data.contains("photoURL") } == [true, true, false, true, false])
    }

    @Test func peopleAreFound() async throws {
        let scratch = try await ScratchAccounts()
        let ann = try await scratch.signUp("Ann Lee")
        for (index, name) in ["José Lemos", "Annabel Ann", "Leeroy Joss", "山田 太郎"].enumerated() {
            try await scratch.signUp(name, email: "x\(index)@example.org")
        }
        func search(_ query: String) async throws -> [String] {
            try await scratch.commands.search(query, by: ann.principal).items.map(\.displayName).sorted()
        }
        #expect(try await search("jo") == ["José Lemos", "Leeroy Joss"])
        #expect(try await search("JOSÉ") == ["José Lemos"])
        #expect(try await search("le jos") == ["José Lemos", "Leeroy Joss"])
        #expect(try await search("lem jos") == ["José Lemos"])
        #expect(try await search("ann") == ["Annabel Ann"])
        #expect(try await search("山田") == ["山田 太郎"])
        #expect(try await search("zz").isEmpty)
        #expect(try await search("jo% le_").count == 2)
        #expect(try await search("X0@Example.org") == ["José Lemos"])
        for bad in ["", "a", " b ", "a b", "!!"] {
            #expect(await problem { _ = try await search(bad) }?.field == "query")
        }
    }

    @Test func anAddressIsFoundOnlyWhole() async throws {
        let scratch = try await ScratchAccounts()
        let ann = try await scratch.signUp("Ann")
        let ben = try await scratch.signUp("Ben")
        let found = try await scratch.commands.search("BEN@example.org", by: ann.principal)
        #expect(found.items == [UserProfile(id: ben.user.id, displayName: "Ben")] && found.nextCursor == nil)
        #expect(try await scratch.commands.search("ben@example", by: ann.principal).items.isEmpty)
        #expect(try await scratch.commands.search("ann@example.org", by: ann.principal).items.isEmpty)
    }

    @Test func aSearchIsPaged() async throws {
        let scratch = try await ScratchAccounts()
        let me = try await scratch.signUp("Zoe")
        let names = (0..<23).map { "Page\($0) Pagina" }
        for (index, name) in names.enumerated() { try await scratch.signUp(name, email: "p\(index)@example.org") }
        var found: [String] = []
        var cursor: String?
        var pages = 0
        repeat {
            let page = try await scratch.commands.search("pag", by: me.principal, limit: 5, cursor: cursor)
            found += page.items.map(\.displayName)
            cursor = page.nextCursor
            pages += 1
        } while cursor != nil
        #expect(pages == 5 && found.count == 23 && Set(found) == Set(names))
        for bad in ["", "x", "\(me.user.id).0", "\(me.user.id).zz", "x.00"] {
            let problem = await problem { _ = try await scratch.commands.search("pag", by: me.principal, cursor: bad) }
            #expect(problem?.field == "cursor")
        }
        for limit in [0, 101, -1, .max] {
            let problem = await problem { _ = try await scratch.commands.search("pag", by: me.principal, limit: limit) }
            #expect(problem?.field == "limit")
        }
    }

    @Test func whoBlocksLooksTheSameAsBefore() async throws {
        let scratch = try await ScratchAccounts()
        let (ann, ben) = (try await scratch.signUp("Ann"), try await scratch.signUp("Ben"))
        let commands = scratch.commands
        func seen() async throws -> [UserProfile] {
            try await [commands.profile(of: ann.user.id)] + commands.search("ann", by: ben.principal).items
                + commands.search("ann@example.org", by: ben.principal).items
        }
        let before = try await seen()
        #expect(before.map(\.displayName) == ["Ann", "Ann", "Ann"])
        let first = try await scratch.block(ben.user.id, by: ann.principal)
        #expect(first[.user(ann.user.id)]?.sequence == 2)
        #expect(try await scratch.block(ben.user.id, by: ann.principal).isEmpty)
        #expect(try await seen() == before)
        #expect(try await commands.blocks(of: ann.principal).items.map(\.id) == [ben.user.id])
        #expect(try await commands.blocks(of: ben.principal).items.isEmpty)
        _ = try await commands.unblock(ben.user.id, by: ann.principal)
        #expect(try await commands.unblock(ben.user.id, by: ann.principal).positions.isEmpty)
        #expect(scratch.changes(of: ann.user.id).map(\.type) == ["signIn", "block", "block"])
        #expect(scratch.changes(of: ann.user.id)[1].data.contains("\"blocked\":true"))
        #expect(await problem { _ = try await scratch.block(ann.user.id, by: ann.principal) }?.field == "user")
        _ = try await commands.setDisabled(true, email: "ann@example.org")
        #expect(await problem { _ = try await commands.profile(of: ann.user.id) }?.kind == .notFound)
        let nobody = UserID.make(at: scratch.time.now)
        #expect(await problem { _ = try await scratch.block(nobody, by: ann.principal) }?.kind == .notFound)
    }

    @Test func endpointsProveThemselves() async throws {
        let scratch = try await ScratchAccounts()
        let (ann, ben) = (try await scratch.signUp("Ann"), try await scratch.signUp("Ben"))
        let commands = scratch.commands
        let id = EndpointID.make(at: scratch.time.now)
        let secret = "a-secret-of-the-client"
        for _ in 0..<3 {
            let proved = try await commands.endpoint(id, secret: secret, of: ann.principal)
            #expect(proved.id == id && proved.newSecret == nil)
        }
        #expect(
            await problem { _ = try await commands.endpoint(id, secret: "another-secret-000", of: ann.principal) }?.kind
                == .forbidden)
        #expect(
            await problem { _ = try await commands.endpoint(id, secret: secret, of: ben.principal) }?.kind == .forbidden
        )
        #expect(
            await problem { _ = try await commands.endpoint(id, secret: nil, of: ann.principal) }?.kind == .forbidden)
        #expect(
            await problem { _ = try await commands.endpoint(id, secret: "short", of: ann.principal) }?.kind
                == .invalidRequest)
        let made = try await commands.endpoint(nil, secret: nil, of: ben.principal)
        let newSecret = try #require(made.newSecret)
        #expect(try await commands.endpoint(made.id, secret: newSecret, of: ben.principal).id == made.id)
        let race = EndpointID.make(at: scratch.time.now)
        let won = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<10 {
                group.addTask {
                    (try? await commands.endpoint(race, secret: "secret-number-00\(number % 2)", of: ann.principal))
                        != nil
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(won == 5)
    }

    @Test func theLeastRecentlyUsedOfTooManyEndpointsAreRemoved() async throws {
        let scratch = try await ScratchAccounts()
        let (ann, ben) = (try await scratch.signUp("Ann"), try await scratch.signUp("Ben"))
        let (commands, secret) = (scratch.commands, "a-secret-of-the-client")
        let others = try await commands.endpoint(nil, secret: nil, of: ben.principal).id
        var ids: [EndpointID] = []
        for _ in 0..<AccountCommands.endpointsPerUser {
            ids.append(.make(at: scratch.time.now))
            _ = try await commands.endpoint(ids.last, secret: secret, of: ann.principal)
            scratch.advance(seconds: 60)
        }
        // The first is used again, so that the second is the one unused for longest.
        scratch.advance(seconds: 3600)
        _ = try await commands.endpoint(ids[0], secret: secret, of: ann.principal)
        for _ in 0..<3 { _ = try await commands.endpoint(nil, secret: nil, of: ann.principal) }
        let all = ids
        let left = try await scratch.store.readAccounts { store in
            try (all + [others]).filter { try store.endpoint($0) != nil }
        }
        #expect(left == [ids[0]] + ids[4...] + [others])
        // Nothing remembers what is gone: its id is anybody's.
        _ = try await commands.endpoint(ids[1], secret: "another-secret-000", of: ben.principal)
        #expect(
            await problem { _ = try await commands.endpoint(ids[1], secret: secret, of: ann.principal) }?.kind
                == .forbidden)
    }

    @Test func externalIdentitiesBecomeUsersOnce() async throws {
        let scratch = try await ScratchAccounts()
        let ann = try await scratch.signUp("Ann")
        let identity = ExternalIdentity(issuer: "https://i", subject: "s", name: "Otto", email: "otto@example.org")
        let users = await withTaskGroup(of: UserID?.self) { group in
            for _ in 0..<10 { group.addTask { try? await scratch.commands.user(of: identity) } }
            return await group.reduce(into: Set<UserID?>()) { $0.insert($1) }
        }
        #expect(users.count == 1)
        let user = try #require(users.first ?? nil)
        let me = try await scratch.commands.me(Principal(user: user))
        #expect(me.displayName == "Otto" && me.email == "otto@example.org")
        // What nobody sees in a name of elsewhere is left out of it.
        let hidden = ExternalIdentity(issuer: "https://i", subject: "t", name: "\u{202E}Ot\u{200B}to\u{200D}")
        let named = try await scratch.commands.user(of: hidden)
        #expect(try await scratch.commands.profile(of: named).displayName == "Otto")
        // The same subject elsewhere is somebody else, and an address that is taken stays its owner's.
        let thief = try await scratch.commands.user(
            of: ExternalIdentity(issuer: "https://j", subject: "s", email: "ann@example.org"))
        #expect(thief != user && thief != ann.user.id)
        let other = try await scratch.commands.me(Principal(user: thief))
        #expect(other.email == nil && other.displayName == "ann")
        _ = try await scratch.commands.setDisabled(true, email: "otto@example.org")
        #expect(await problem { _ = try await scratch.commands.user(of: identity) }?.kind == .forbidden)
        let noPassword = await problem {
            _ = try await scratch.commands.changePassword(of: Principal(user: thief), from: "x", to: "battery staple")
        }
        #expect(noPassword?.kind == .conflict)
        #expect(
            await problem { _ = try await scratch.commands.endSession(nil, of: Principal(user: thief)) }?.kind
                == .conflict)
    }
}

/// What operators see of users.
@Suite struct OperatorUserTests {
    @Test func usersAreFoundByEverythingThatNamesThem() async throws {
        let scratch = try await ScratchAccounts()
        let ann = try await scratch.signUp("Ann Abel")
        let ben = try await scratch.signUp("Ben Abel")
        let key = KeyPrincipal(id: try #require(ServerKeyID("0123456789abcdef")), scopes: [.operator], address: "-")
        let shop = try await scratch.commands.putUser(
            UserReference("ext:shop-1", field: "user"), PutUser(displayName: "Cem Can"), by: key
        ).user.id
        func find(_ query: String) async throws -> [UserID] {
            try await scratch.commands.findUsers(query, limit: 10, cursor: nil).items.map(\.id)
        }
        let (disabled, entry) = try await scratch.commands.setDisabled(
            true, .id(ben.user.id), by: key, area: "admin")
        #expect(disabled.disabled && entry.action == "admin.users.disable" && entry.actor == .key(key.id))
        #expect(try await find("") == [ann.user.id, ben.user.id, shop].sorted { $0.text < $1.text })
        #expect(Set(try await find("abel")) == [ann.user.id, ben.user.id], "disabled users too")
        #expect(try await find(" Ben.Abel@EXAMPLE.org ") == [ben.user.id])
        #expect(try await find(ben.user.id.text) == [ben.user.id])
        #expect(try await find("ext:shop-1") == [shop])
        #expect(try await find("ext:nobody").isEmpty)
        #expect(try await find("nobody@example.org").isEmpty)
        // Others still do not find who is disabled.
        #expect(try await scratch.commands.search("abel", by: ann.principal).items.isEmpty)
        for query in ["ext:a/b", "%%", String(repeating: "a", count: 601)] {
            #expect(await problem { _ = try await find(query) }?.field == "query")
        }
    }

    @Test func aUserHasDevicesAndSessions() async throws {
        let scratch = try await ScratchAccounts()
        let ann = try await scratch.signUp("Ann Abel", device: DeviceClaim(name: "Phone", platform: "test"))
        let shown = try await scratch.commands.userInDetail(.id(ann.user.id))
        #expect(shown.user.email == "ann.abel@example.org" && shown.devices.map(\.name) == ["Phone"])
        #expect(shown.sessions.map(\.id) == [ann.session.id] && shown.sessions.first?.device == shown.devices.first?.id)
        #expect(await problem { _ = try await scratch.commands.userInDetail(.external("nobody")) }?.field == "user")
    }
}
