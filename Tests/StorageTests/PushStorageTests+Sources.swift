import Accounts
import Messaging
import Model
import Notifications
import TestSupport
import Testing

@testable import Storage

extension PushStorageTests {
    @Test func nothingIsWrittenWhereNobodyHasADevice() async throws {
        let id = try await group([0, 1])
        try await send(to: id)
        try await call(version: 1, .make(at: now), to: 0, 1)
        #expect(try await count("push_sources") == 0)
        // Somebody else has.
        try await register(2)
        try await send(to: id)
        try await call(version: 1, .make(at: now), to: 0, 1)
        #expect(try await count("push_sources") == 0)
        // Somebody in it registers.
        try await register(1, address: 2)
        let number = try await send(to: id)
        #expect(try await claimSources().map(\.upTo) == [number])
    }

    @Test func whoComesInIsNotified() async throws {
        let id = try await group([0, 1])
        try await register(2)
        try await send(to: id)
        #expect(try await count("push_sources") == 0)
        let (commands, people) = (commands, people)
        try await write { store in
            _ = try commands.add([people[2]], to: id, by: people[0], in: store)
        }
        try await send(to: id)
        #expect(try await count("push_sources") == 0, "invited")
        try await write { _ = try commands.accept(id, by: people[2], in: $0) }
        let number = try await send(to: id)
        #expect(try await claimSources().map(\.upTo) == [number])
    }

    /// What is rolled back has not been: neither that a device was removed, nor what was learned then.
    @Test func whatFailsIsNotRemembered() async throws {
        struct Failure: Error {}
        try await register(1)
        let id = try await group([0, 1])
        let (user, call) = (people[1], CallID.make(at: now))
        await #expect(throws: Failure.self) {
            try await write { store in
                try store.removePushRegistrations(of: user)
                try store.notePush(of: call, version: 1, to: [user])
                throw Failure()
            }
        }
        let number = try await send(to: id)
        #expect(try await claimSources().map(\.upTo) == [number])
    }

    @Test func noticesAreNotPushed() async throws {
        try await register(1)
        let id = try await group([0, 1])
        #expect(try await count("push_sources") == 0)
        let (commands, owner) = (commands, people[0])
        try await write { _ = try commands.change(id, settings: ConversationSettings(), by: owner, in: $0) }
        #expect(try await count("push_sources") == 0)
    }

    @Test func aSourceIsOneRowHoweverManyMessages() async throws {
        try await register(1)
        let id = try await group([0, 1])
        let first = try await send(to: id)
        for _ in 0..<5 { try await send(to: id) }
        scratch.clock.advance(seconds: 1)
        let last = try await send(to: id)
        let source = try #require(try await claimSources().first)
        #expect(source.topic == .conversation(id) && source.after == first - 1 && source.upTo == last)
        #expect(source.since == now && source.fence == 1)
        #expect(try await claimSources().isEmpty, "it is claimed")
        #expect(try await nextPush() == now.adding(seconds: 60))
        try await write { [now] in try $0.finish(source, next: now) }
        #expect(try await count("push_sources") == 0)
        #expect(try await nextPush() == nil)
    }

    @Test func aSourceThatChangesMeanwhileIsDueAgain() async throws {
        try await register(1)
        let id = try await group([0, 1])
        let first = try await send(to: id)
        let source = try #require(try await claimSources().first)
        let second = try await send(to: id)
        #expect(try await claimSources().isEmpty)
        let next = now.adding(seconds: 2)
        try await write { try $0.finish(source, next: next) }
        #expect(try await nextPush() == next)
        #expect(try await claimSources().isEmpty)
        scratch.clock.advance(seconds: 2)
        let again = try #require(try await claimSources().first)
        #expect(again.after == first && again.upTo == second && again.fence == 3)
    }

    /// The devices of a busy conversation are read at intervals, not for each message.
    @Test func messagesThatFollowCloselyShareASource() async throws {
        let registration = try await register(1)
        let (id, other) = (try await group([0, 1]), try await group([0, 1]))
        let due = Shared<[Timestamp]>([])
        store.observePushes { time in due.update { $0.append(time) } }
        let first = try await send(to: id)
        let source = try await expand(to: registration)
        let next = now.adding(milliseconds: PushAudience.spacingMilliseconds)
        #expect(due.value == [now] && source.next == next)
        try await send(to: other)
        #expect(due.value.last == now, "others do not wait for it")
        try await expand(to: registration)
        scratch.clock.advance(milliseconds: 100)
        try await send(to: id)
        scratch.clock.advance(milliseconds: 100)
        let last = try await send(to: id)
        #expect(due.value.suffix(2) == [next, next])
        #expect(try await claimSources().isEmpty)
        scratch.clock.advance(milliseconds: PushAudience.spacingMilliseconds - 200)
        let again = try #require(try await claimSources().first)
        #expect(again.after == first && again.upTo == last && now == next)
    }

    @Test func aClockThatWasSetBackHoldsUpNothing() async throws {
        let registration = try await register(1)
        let id = try await group([0, 1])
        try await send(to: id)
        try await expand(to: registration)
        scratch.clock.advance(seconds: -3_600)
        try await send(to: id)
        #expect(try await claimSources().count == 1)
    }

    @Test func theLastPageEndsTheSource() async throws {
        let registration = try await register(1)
        let id = try await group([0, 1])
        func end(_ source: PushSource) async throws -> PushSourceState {
            let due = [(registration: registration.id, at: now, onlyKnown: false)]
            return try await write { try $0.savePushes(of: source, due: due, then: .ends(next: source.next)) }
        }
        let first = try await send(to: id)
        let lost = try #require(try await claimSources(seconds: 30).first)
        scratch.clock.advance(seconds: 30)
        let source = try #require(try await claimSources().first)
        #expect(try await end(lost) == .lost)
        #expect(try await count("pushes") == 0)
        let last = try await send(to: id)
        #expect(try await end(source) == .changed)
        #expect(try await count("pushes") == 1)
        #expect(try await claimSources().isEmpty)
        scratch.clock.advance(milliseconds: PushAudience.spacingMilliseconds)
        let again = try #require(try await claimSources().first)
        #expect(again.after == first && again.upTo == last)
        #expect(try await end(again) == .finished)
        #expect(try await count("push_sources") == 0)
    }

    @Test func aClaimEndsAndItsHolderChangesNothing() async throws {
        try await register(1)
        let id = try await group([0, 1])
        try await send(to: id)
        let lost = try #require(try await claimSources(seconds: 30).first)
        scratch.clock.advance(seconds: 30)
        let claim = try #require(try await claimSources(seconds: 30).first)
        #expect(claim.topic == lost.topic && claim.after == lost.after && claim.fence == 2)
        try await write { [now] in try $0.finish(lost, next: now) }
        #expect(try await count("push_sources") == 1)
        #expect(try await claimSources().isEmpty, "the late one made nothing due")
        try await write { [now] in try $0.finish(claim, next: now) }
        #expect(try await count("push_sources") == 0)
    }

    @Test func whoHasLostTheClaimWritesNothing() async throws {
        let registration = try await register(1)
        let id = try await group([0, 1])
        try await send(to: id)
        let lost = try #require(try await claimSources(seconds: 30).first)
        scratch.clock.advance(seconds: 30)
        let claim = try #require(try await claimSources(seconds: 30).first)
        #expect(try await !save(lost, to: registration))
        #expect(try await count("pushes") == 0)
        // Each page claims it for longer.
        scratch.clock.advance(seconds: 29)
        #expect(try await save(claim, to: registration))
        #expect(try await nextPush() == now)
        scratch.clock.advance(seconds: 31)
        #expect(try await claimSources().isEmpty)
        let next = now.adding(seconds: 1)
        try await write { store in
            try store.release(lost, until: store.now)
            try store.release(claim, until: next)
        }
        #expect(try await claimSources().isEmpty)
        scratch.clock.advance(seconds: 1)
        #expect(try await claimSources().first?.upTo == claim.upTo)
    }

    /// Whether what it sent has arrived nobody knows.
    @Test func whatAnEarlierProcessHadClaimedIsDueAtOnce() async throws {
        let (registration, id, record) = try await prepared()
        try await sendLater(to: id)
        let source = try #require(try await claimSources().first)
        try await write { try $0.releaseClaimedPushes() }
        #expect(try await nextPush() == now)
        let (sources, pushes) = (try await claimSources(), try await claimPushes())
        #expect(sources.map(\.upTo) == [source.upTo] && pushes.map(\.id) == [record.id])
        #expect(pushes.map(\.attempt) == [1] && pushes.map(\.registration) == [registration])
        // Its own late words count no more.
        try await settle(record, .done(next: now))
        try await write { [now] in try $0.finish(source, next: now) }
        #expect(try await count("pushes") == 1)
        #expect(try await count("push_sources") == 1)
        // What was not claimed is as it was.
        let claimed = try #require(pushes.first)
        try await settle(claimed, .released(at: now.adding(seconds: 9)))
        try await write { [now] in try $0.finish(try #require(sources.first), next: now) }
        try await write { try $0.releaseClaimedPushes() }
        #expect(try await nextPush() == now.adding(seconds: 9))
    }

    @Test func callsComeBeforeMessages() async throws {
        let registration = try await register(1)
        let id = try await group([0, 1])
        let number = try await send(to: id)
        scratch.clock.advance(seconds: 1)
        let call = CallID.make(at: now)
        try await self.call(version: 7, call, to: 1)
        let sources = try await claimSources(1) + claimSources(1)
        #expect(sources.map(\.topic) == [.call(call), .conversation(id)])
        #expect(sources.map(\.upTo) == [7, number])
        for source in sources.reversed() { try await save(source, to: registration) }
        let pushes = try await claimPushes(1) + claimPushes(1)
        #expect(pushes.map(\.topic) == [.call(call), .conversation(id)])
        #expect(try await claimPushes(0).isEmpty)
    }

    @Test func observersAreNotifiedOfCommits() async throws {
        struct Failure: Error {}
        let count = Shared(0)
        store.observePushes { _ in count.update { $0 += 1 } }
        let id = try await group([0, 1])
        try await send(to: id)
        #expect(count.value == 0)
        try await register(1)
        try await send(to: id)
        #expect(count.value == 1)
        let user = people[1]
        await #expect(throws: Failure.self) {
            try await write { store in
                try store.notePush(of: .make(at: store.now), version: 1, to: [user])
                throw Failure()
            }
        }
        #expect(count.value == 1)
    }
}

// The devices that a source concerns.
extension PushStorageTests {
    private func candidates(
        _ id: ConversationID, but author: Int? = nil, limit: Int = 100
    ) async throws -> [Int64] {
        let author = author.map { people[$0] }
        return try await store.read { store in
            var found: [PushCandidate] = []
            while true {
                let page = try store.pushCandidates(in: id, but: author, after: found.last, limit: limit)
                found += page
                guard page.count == limit else { return found.map(\.registration) }
            }
        }
    }

    @Test(arguments: [1, 2, 3, 100]) func pagesHaveEachDeviceOnce(limit: Int) async throws {
        var ids: [[Int64]] = [[], [], [], []]
        // In an order that is neither that of the users nor that of the devices.
        for (index, user) in [2, 0, 1, 2, 0, 2, 3].enumerated() {
            ids[user].append(try await register(user, address: UInt8(index)).id)
        }
        let id = try await group([0, 1, 2])
        #expect(try await candidates(id, limit: limit) == ids[0] + ids[1] + ids[2])
        #expect(try await candidates(id, but: 1, limit: limit) == ids[0] + ids[2])
        #expect(try await candidates(id, but: 0, limit: limit) == ids[1] + ids[2])
    }

    @Test func whoHasLeftIsNotAmongThem() async throws {
        let stays = try await register(1)
        try await register(2, address: 2)
        let id = try await group([0, 1, 2])
        let (commands, user) = (commands, people[2])
        try await write { _ = try commands.leave(id, by: user, in: $0) }
        #expect(try await candidates(id) == [stays.id])
    }

    @Test func whoHasMutedItIsNotAmongThemUnlessMentionsArePushed() async throws {
        let registration = try await register(1)
        let id = try await group([0, 1])
        let (commands, user) = (commands, people[1])
        func mute(_ mute: Membership.Mute?) async throws {
            try await write { store in
                _ = try commands.change(
                    id, membership: MembershipChange(mute: .some(mute)), by: user, in: store)
            }
        }
        try await mute(Membership.Mute(until: nil, allowsMentions: false))
        #expect(try await candidates(id).isEmpty)
        try await mute(Membership.Mute(until: nil, allowsMentions: true))
        #expect(try await candidates(id) == [registration.id])
        try await mute(Membership.Mute(until: now.adding(seconds: 60), allowsMentions: false))
        #expect(try await candidates(id).isEmpty)
        scratch.clock.advance(seconds: 60)
        #expect(try await candidates(id) == [registration.id])
    }

    @Test func theOnlyAuthorIsKnown() async throws {
        let id = try await group([0, 1])
        let first = try await send(to: id)
        let second = try await send(to: id)
        let third = try await send(to: id, by: 1)
        let people = people
        let authors = try await store.read { store in
            try [(first - 1, second), (second, third), (first, third), (third, third)].map {
                try store.onlyAuthor(in: id, after: $0.0, upTo: $0.1)
            }
        }
        #expect(authors == [people[0], people[1], nil, nil])
    }
}
