import Accounts
import Foundation
import Friends
import Model
import Storage
import TestSupport
import Testing

/// Requests and friendships over a real database.
@Suite struct FriendTests {
    @Test func aRequestIsAccepted() async throws {
        let scratch = try await ScratchFriends()
        let people = try await scratch.users("Anna", "Ben")
        let (anna, ben) = (people[0], people[1])
        let asked = try await scratch.ask(ben, by: anna, note: " It is me ")
        #expect(asked.friend.state == "requested" && asked.friend.note == "It is me" && !asked.isDuplicate)
        #expect(asked.friend.expiresAt == scratch.time.now.adding(seconds: 30 * 86_400))
        let received = try await scratch.commands.list(of: ben).items
        #expect(received.map(\.state) == ["received"] && received.map(\.note) == ["It is me"])
        let outcome = try await scratch.commands.accept(anna.user, by: ben)
        #expect(outcome.value.state == "friend" && outcome.value.since == scratch.time.now && outcome.value.note == nil)
        let again = try await scratch.commands.accept(anna.user, by: ben)
        #expect(again.value == outcome.value && again.positions.isEmpty)
        #expect(try await scratch.states(of: anna) == [ben.user: "friend"])
        #expect(scratch.changes(of: anna).map(\.type) == ["friend", "friend"])
        #expect(scratch.changes(of: ben).map(\.type) == ["friend", "friend"])
        #expect(try await scratch.ask(ben, by: anna).isDuplicate)
    }

    @Test func requestsThatCrossMakeFriends() async throws {
        let scratch = try await ScratchFriends()
        let people = try await scratch.users("Anna", "Ben")
        try await scratch.ask(people[1], by: people[0])
        let crossed = try await scratch.ask(people[0], by: people[1])
        #expect(crossed.friend.state == "friend" && !crossed.isDuplicate)
        #expect(try await scratch.states(of: people[0]) == [people[1].user: "friend"])
    }

    @Test func whatIsNotAllowedNamesItsField() async throws {
        let scratch = try await ScratchFriends()
        let people = try await scratch.users("Anna", "Ben")
        let (anna, ben) = (people[0], people[1])
        let commands = scratch.commands
        #expect(await problem { try await scratch.ask(anna, by: anna) }?.field == "user")
        let nobody = Principal(user: .make(at: scratch.time.now))
        #expect(await problem { try await scratch.ask(nobody, by: anna) }?.kind == .notFound)
        for note in [String(repeating: "x", count: 301), "a\u{202E}b", "two\nlines"] {
            #expect(await problem { try await scratch.ask(ben, by: anna, note: note) }?.field == "note")
        }
        #expect(await problem { _ = try await commands.accept(ben.user, by: anna) }?.kind == .notFound)
        #expect(await problem { _ = try await commands.decline(ben.user, by: anna) }?.kind == .notFound)
        #expect(await problem { _ = try await commands.list(of: anna, cursor: "?") }?.field == "cursor")
        #expect(try await commands.remove(ben.user, by: anna).positions.isEmpty)
        _ = try await scratch.ask(ben, by: anna)
        #expect(await problem { _ = try await commands.remove(anna.user, by: ben) }?.kind == .conflict)
        for isDeleted in [false, true] {
            var gone = try #require(try await scratch.store.read { try $0.user(ben.user) })
            gone.disabledAt = scratch.time.now
            gone.deletedAt = isDeleted ? scratch.time.now : nil
            _ = try await scratch.store.write { [gone] in try $0.update(gone) }
            #expect(await problem { try await scratch.ask(ben, by: anna) }?.kind == .notFound)
        }
        #expect(try await scratch.states(of: anna).isEmpty, "deleted users are left out at once")
    }

    @Test func aClientIDIsExecutedOnce() async throws {
        let scratch = try await ScratchFriends()
        let people = try await scratch.users("Anna", "Ben", "Cleo")
        let request = FriendCommands.Request(clientID: scratch.clientID(), user: people[1].user, note: "Hi")
        let first = try await scratch.commands.request(request, by: people[0]).value
        _ = try await scratch.commands.remove(people[1].user, by: people[0])
        scratch.time.advance(seconds: 60)
        let again = try await scratch.commands.request(request, by: people[0]).value
        #expect(again.friend == first.friend && again.isDuplicate)
        #expect(try await scratch.states(of: people[0]).isEmpty, "a repetition does not ask again")
        var other = request
        other.user = people[2].user
        #expect(
            await problem { _ = try await scratch.commands.request(other, by: people[0]) }?.kind == .clientIDReused)
    }

    /// The order of an object's members differs from encoder to encoder.
    private static func canonical(_ json: String) throws -> String {
        let object = try JSONSerialization.jsonObject(with: Data(json.utf8))
        return String(
            decoding: try JSONSerialization.data(withJSONObject: object, options: [.sortedKeys]), as: UTF8.self)
    }

    /// The requester's list, results and stream are the same, whatever the other does.
    @Test func pendingDeclinedAndBlockedLookAlike() async throws {
        var seen: [[String]] = []
        for case_ in ["pending", "declined", "blocked before", "blocked after"] {
            let scratch = try await ScratchFriends()
            let people = try await scratch.users("Anna", "Ben")
            let (anna, ben) = (people[0], people[1])
            if case_ == "blocked before" { _ = try await scratch.commands.block(anna.user, by: ben) }
            var results = [String(describing: try await scratch.ask(ben, by: anna, note: "Hi"))]
            if case_ == "declined" { _ = try await scratch.commands.decline(anna.user, by: ben) }
            if case_ == "blocked after" { _ = try await scratch.commands.block(anna.user, by: ben) }
            for day in 1...32 {
                scratch.time.advance(seconds: 86_400)
                while try await scratch.commands.expire() > 0 {}
                results.append(String(describing: try await scratch.commands.list(of: anna).items))
                if day % 10 == 0 { results.append(String(describing: try await scratch.ask(ben, by: anna))) }
                if day == 15 { _ = try await scratch.commands.remove(ben.user, by: anna) }
            }
            results += try scratch.changes(of: anna).map {
                "\($0.type) \(try Self.canonical($0.data)) \($0.position.sequence)"
            }
            if case_ != "pending" {
                #expect(try await scratch.commands.list(of: ben).items.isEmpty || case_ == "declined")
            }
            seen.append(results.map { $0.replacing(anna.user.text, with: "A").replacing(ben.user.text, with: "B") })
        }
        #expect(seen[1] == seen[0])
        #expect(seen[2] == seen[0])
        #expect(seen[3] == seen[0])
    }

    @Test func blockingEndsWhatThereIs() async throws {
        let scratch = try await ScratchFriends()
        let people = try await scratch.users("Anna", "Ben", "Cleo", "Dan")
        let (anna, ben, cleo, dan) = (people[0], people[1], people[2], people[3])
        try await scratch.befriend(anna, ben)
        try await scratch.ask(cleo, by: anna)
        try await scratch.ask(anna, by: dan)
        for other in [ben, cleo, dan] { _ = try await scratch.commands.block(other.user, by: anna) }
        #expect(try await scratch.states(of: anna).isEmpty)
        #expect(scratch.changes(of: anna).suffix(3).allSatisfy { $0.type == "friend.removed" })
        #expect(scratch.changes(of: ben).last?.type == "friend.removed")
        #expect(scratch.changes(of: cleo).last?.type == "friend.removed")
        #expect(try await scratch.states(of: dan) == [anna.user: "requested"])
        #expect(scratch.changes(of: dan).map(\.type) == ["friend"])
        #expect(await problem { try await scratch.ask(ben, by: anna) }?.kind == .conflict)
        let nothing = scratch.changes(of: anna).count
        #expect(try await scratch.ask(anna, by: ben).friend.state == "requested")
        #expect(scratch.changes(of: anna).count == nothing)
    }

    @Test func requestsExpireForBoth() async throws {
        let scratch = try await ScratchFriends()
        let people = try await scratch.users("Anna", "Ben")
        try await scratch.ask(people[1], by: people[0])
        #expect(try await scratch.commands.expire() == 0)
        scratch.time.advance(seconds: FriendRules.requestSeconds)
        #expect(try await scratch.commands.list(of: people[1]).items.isEmpty, "also before it is removed")
        #expect(await problem { _ = try await scratch.commands.accept(people[0].user, by: people[1]) } != nil)
        #expect(try await scratch.commands.expire() == 2)
        for one in people { #expect(scratch.changes(of: one).map(\.type) == ["friend", "friend.removed"]) }
        #expect(try await !scratch.ask(people[1], by: people[0]).isDuplicate)
    }

    @Test func whatWaitsIsBounded() async throws {
        let scratch = try await ScratchFriends()
        let people = try await scratch.users("Anna", "Ben")
        let (anna, ben) = (people[0], people[1])
        let now = scratch.time.now
        @Sendable func fill(_ state: FriendRecord.State, of owner: UserID, count: Int) async throws {
            _ = try await scratch.store.write { store in
                for _ in 0..<count {
                    try store.save(
                        FriendRecord(
                            owner: owner, user: .make(at: now), state: state, at: now,
                            expiresAt: state == .friend ? nil : now.adding(seconds: 9)))
                }
            }
        }
        try await fill(.requested, of: anna.user, count: FriendRules.sentLimit)
        #expect(await problem { try await scratch.ask(ben, by: anna) }?.kind == .conflict)
        scratch.time.advance(seconds: 10)
        while try await scratch.commands.expire() > 0 {}
        try await fill(.received, of: ben.user, count: FriendRules.receivedLimit)
        #expect(try await scratch.ask(ben, by: anna).friend.state == "requested")
        #expect(scratch.changes(of: ben).isEmpty, "it does not arrive")
        try await fill(.friend, of: anna.user, count: FriendRules.friendLimit)
        #expect(await problem { try await scratch.ask(anna, by: ben) }?.kind == .conflict)
        #expect(try await scratch.store.read { try $0.friend(ben.user, of: anna.user)?.state } == .requested)
    }

    @Test func listsHavePages() async throws {
        let scratch = try await ScratchFriends()
        let anna = try await scratch.user("Anna")
        var others: Set<UserID> = []
        for number in 0..<7 {
            let other = try await scratch.user("Friend \(number)")
            others.insert(other.user)
            if number < 4 { try await scratch.befriend(anna, other) } else { try await scratch.ask(anna, by: other) }
        }
        var (seen, cursor): ([UserID], String?) = ([], nil)
        repeat {
            let page = try await scratch.commands.list(of: anna, limit: 3, cursor: cursor)
            seen += page.items.map(\.user.id)
            cursor = page.nextCursor
        } while cursor != nil
        #expect(seen.count == 7 && Set(seen) == others)
        #expect(try await scratch.commands.list(of: anna, in: .received).items.count == 3)
        #expect(try await scratch.commands.list(of: anna, in: .friend).items.count == 4)
        #expect(try await scratch.commands.list(of: anna, in: .requested).items.isEmpty)
    }

    @Test func aDeletedUserIsNobodysFriend() async throws {
        let scratch = try await ScratchFriends()
        let people = try await scratch.users("Anna", "Ben", "Cleo", "Dan")
        try await scratch.befriend(people[0], people[1])
        try await scratch.ask(people[2], by: people[0])
        try await scratch.ask(people[0], by: people[3])
        let removed = try await scratch.store.write { try $0.removeFriendRecords(about: people[0].user, limit: 50) }
        #expect(removed.value == 3)
        for one in people.dropFirst() { #expect(scratch.changes(of: one).last?.type == "friend.removed") }
    }
}
