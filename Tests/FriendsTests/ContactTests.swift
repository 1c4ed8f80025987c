import Accounts
import Friends
import Model
import Storage
import TestSupport
import Testing
import Webhooks

@Suite struct ContactTests {
    @Test func aLinkFindsItsOwner() async throws {
        let scratch = try await ScratchFriends()
        let people = try await scratch.users("Anna", "Ben")
        let (anna, ben) = (people[0], people[1])
        let commands = scratch.commands
        let first = try await commands.makeLink(of: anna)
        #expect(first.utf8.count == 43)
        #expect(try await commands.contact(first, for: ben).id == anna.user)
        let second = try await commands.makeLink(of: anna)
        #expect(try await commands.contact(second, for: ben).id == anna.user)
        var problems = [await problem { _ = try await commands.contact(first, for: ben) }]
        for wrong in ["", "x", String(repeating: "x", count: 500)] {
            problems.append(await problem { _ = try await commands.contact(wrong, for: ben) })
        }
        _ = try await commands.block(ben.user, by: anna)
        problems.append(await problem { _ = try await commands.contact(second, for: ben) })
        #expect(try await commands.contact(second, for: anna).id == anna.user)
        try await commands.removeLink(of: anna)
        problems.append(await problem { _ = try await commands.contact(second, for: anna) })
        #expect(Set(problems).count == 1 && problems[0]?.kind == .notFound)
    }

    @Test func reportsAreStored() async throws {
        let scratch = try await ScratchFriends()
        let people = try await scratch.users("Anna", "Ben")
        let (anna, ben) = (people[0], people[1])
        func report(_ clientID: ClientID, _ reason: String = "spam", _ text: String? = "One\ntwo") async throws -> Bool
        {
            scratch.time.advance(seconds: 1)
            return try await scratch.commands.report(
                .init(clientID: clientID, user: ben.user, reason: reason, text: text), by: anna)
        }
        let id = scratch.clientID()
        #expect(try await !report(id))
        #expect(try await report(id), "the same again")
        #expect(await problem { _ = try await report(id, "abuse") }?.kind == .clientIDReused)
        #expect(await problem { _ = try await report(scratch.clientID(), "boredom") }?.field == "reason")
        let long = String(repeating: "x", count: 2001)
        #expect(await problem { _ = try await report(scratch.clientID(), "spam", long) }?.field == "text")
        for _ in 1..<FriendRules.reportsPerDay { #expect(try await !report(scratch.clientID(), "other", nil)) }
        let refused = await problem { _ = try await report(scratch.clientID()) }
        #expect(refused?.kind == .rateLimited && (refused?.retryAfter ?? 0) > 0)
        scratch.time.advance(seconds: 86_400)
        #expect(try await !report(scratch.clientID()))
        let reports = try await scratch.commands.reports(limit: 100)
        #expect(reports.count == 21 && reports.allSatisfy { $0.reporter == anna.user && $0.user == ben.user })
        #expect(reports.last?.line.hasSuffix("spam\tOne two") == true)
        // A deleted reporter's texts go, the rows stay.
        #expect(try await scratch.store.write { try $0.eraseReports(by: anna.user, limit: 100) }.value == 2)
        let left = try await scratch.commands.reports(limit: 100)
        #expect(left.count == 21 && left.allSatisfy { $0.text == nil })
        // The oldest are removed, in parts.
        let last = try #require(left.first?.createdAt)
        for (limit, removed) in [(15, 15), (15, 5), (15, 0)] {
            #expect(
                try await scratch.store.write { try $0.removeReports(before: last, limit: limit) }.value == removed)
        }
        #expect(try await scratch.commands.reports(limit: 100).count == 1)
    }

    @Test func namesReachFriendsAlone() async throws {
        let scratch = try await ScratchFriends()
        let (anna, ben) = (try await scratch.user("Anna Secret", reach: .exact), try await scratch.user("Ben Secret"))
        let cleo = try await scratch.user("Cleo")
        func found(by reader: Principal) async throws -> [UserID] {
            try await scratch.store.read { store in
                try store.users(matching: ["secret"], for: reader.user, after: nil, limit: 10).map(\.user.id)
            }
        }
        #expect(try await found(by: cleo) == [ben.user])
        try await scratch.ask(anna, by: cleo)
        #expect(try await found(by: cleo) == [ben.user], "a request is not enough")
        _ = try await scratch.commands.accept(cleo.user, by: anna)
        #expect(Set(try await found(by: cleo)) == [anna.user, ben.user])
    }

    @Test func eventsAreWrittenWhereSubscribed() async throws {
        let scratch = try await ScratchFriends()
        let people = try await scratch.users("Anna", "Ben", "Cleo")
        let (anna, ben, cleo) = (people[0], people[1], people[2])
        func events() async throws -> [EventRecord] {
            try await scratch.store.read { try $0.pulledEvents(after: 0, limit: 100) }
        }
        try await scratch.befriend(anna, cleo)
        #expect(try await events().isEmpty)
        let now = scratch.time.now
        _ = try await scratch.store.write { store in
            try store.insert(
                WebhookRecord(
                    id: .make(at: now), url: nil, types: [.friendRequested, .friendAccepted, .friendRemoved],
                    secret: [1], createdAt: now))
        }
        try await scratch.befriend(anna, ben)
        _ = try await scratch.commands.block(anna.user, by: ben)
        try await scratch.ask(ben, by: anna)
        let written = try await events()
        #expect(
            written.map(\.type) == [.friendRequested, .friendAccepted, .friendRemoved], "a block withholds the rest")
        #expect(written.map(\.user) == [ben.user, anna.user, anna.user])
        #expect(written[0].data == #"{"user":"\#(ben.user)","by":{"user":"\#(anna.user)"}}"#)
    }
}
