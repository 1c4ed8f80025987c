import Friends
import Model
import TestSupport
import Testing
import Wire

/// The rules of two users, without storage: every state, every action, both sides, blocked or not.
@Suite struct PairTests {
    static let anna = UserID.make(at: Timestamp(milliseconds: 1))
    static let ben = UserID.make(at: Timestamp(milliseconds: 2))
    static let now = Timestamp(milliseconds: 1_000_000)
    static let end = now.adding(seconds: FriendRules.requestSeconds)

    /// What Anna holds about Ben, and Ben about Anna.
    enum Start: CaseIterable {
        case nothing, sent, received, sentAndDeclined, sentAndWithheld, declined, withheldFromMe, friends
    }

    static func record(_ owner: UserID, _ state: FriendRecord.State) -> FriendRecord {
        FriendRecord(
            owner: owner, user: owner == anna ? ben : anna, state: state, note: nil, at: now,
            expiresAt: state == .friend ? nil : end)
    }

    /// Anna is `me`.
    static func pair(_ start: Start, at time: Timestamp = now) -> FriendPair {
        let (mine, theirs): (FriendRecord.State?, FriendRecord.State?) =
            switch start {
            case .nothing: (nil, nil)
            case .sent: (.requested, .received)
            case .received: (.received, .requested)
            case .sentAndDeclined: (.requested, .declined)
            case .sentAndWithheld: (.requested, nil)
            case .declined: (.declined, .requested)
            case .withheldFromMe: (nil, .requested)
            case .friends: (.friend, .friend)
            }
        return FriendPair(
            me: anna, other: ben, mine: mine.map { record(anna, $0) }, theirs: theirs.map { record(ben, $0) }, at: time)
    }

    private func states(_ pair: FriendPair) -> [FriendRecord.State?] { [pair.mine?.state, pair.theirs?.state] }

    @Test(arguments: [true, false]) func requesting(isDeliverable: Bool) {
        for start in Start.allCases {
            var pair = Self.pair(start)
            let action = pair.request(note: "Hi", isDeliverable: isDeliverable, at: Self.now)
            switch start {
            case .nothing:
                #expect(action == .requested && states(pair) == [.requested, isDeliverable ? .received : nil])
                #expect(pair.mine?.note == "Hi" && pair.mine?.expiresAt == Self.end)
            case .sent, .sentAndDeclined, .sentAndWithheld, .friends:
                #expect(action == .none && pair == Self.pair(start))
            case .received, .declined, .withheldFromMe:
                #expect(action == .befriended && states(pair) == [.friend, .friend])
            }
        }
    }

    @Test func accepting() {
        for start in Start.allCases {
            var pair = Self.pair(start)
            let action = pair.accept(at: Self.now)
            switch start {
            case .received:
                #expect(action == .befriended && states(pair) == [.friend, .friend])
                #expect(pair.mine?.expiresAt == nil && pair.theirs?.expiresAt == nil)
                #expect(pair.accept(at: Self.now.adding(seconds: 9)) == .none && pair.mine?.at == Self.now)
            case .friends: #expect(action == .none && pair == Self.pair(start))
            default: #expect(action == .rejected && pair == Self.pair(start))
            }
        }
    }

    @Test func declining() {
        for start in Start.allCases {
            var pair = Self.pair(start)
            let action = pair.decline(at: Self.now)
            switch start {
            case .received:
                #expect(action == .declined && states(pair) == [.declined, .requested])
                #expect(pair.theirs == Self.pair(start).theirs, "the requester's record is as it was")
                #expect(pair.decline(at: Self.now) == .none)
            case .declined: #expect(action == .none && pair == Self.pair(start))
            default: #expect(action == .rejected && pair == Self.pair(start))
            }
        }
    }

    @Test func removing() {
        for start in Start.allCases {
            var pair = Self.pair(start)
            let action = pair.remove()
            switch start {
            case .sent, .friends, .sentAndWithheld: #expect(action == .removed && states(pair) == [nil, nil])
            case .sentAndDeclined: #expect(action == .removed && states(pair) == [nil, .declined])
            case .received: #expect(action == .rejected && pair == Self.pair(start))
            case .nothing, .declined, .withheldFromMe: #expect(action == .none && pair == Self.pair(start))
            }
        }
    }

    @Test func blocking() {
        for start in Start.allCases {
            var pair = Self.pair(start)
            pair.block()
            switch start {
            case .sent, .friends, .sentAndWithheld: #expect(states(pair) == [nil, nil])
            case .sentAndDeclined: #expect(states(pair) == [nil, .declined])
            case .received: #expect(states(pair) == [nil, .requested], "the blocked one still sees the request")
            case .nothing, .declined, .withheldFromMe: #expect(pair == Self.pair(start))
            }
        }
    }

    @Test func whatHasExpiredIsGone() {
        for start in Start.allCases {
            let pair = Self.pair(start, at: Self.end)
            #expect(states(pair) == (start == .friends ? [.friend, .friend] : [nil, nil]))
        }
    }

    /// A declined request does not arrive again before 30 days, however often it is cancelled and made.
    @Test func aDeclinedRequestIsNotRepeated() {
        var pair = Self.pair(.sentAndDeclined)
        for day in Int64(0)..<30 {
            let time = Self.now.adding(seconds: day * 86_400)
            _ = pair.remove()
            #expect(pair.request(note: nil, isDeliverable: true, at: time) == .requested)
            #expect(pair.theirs?.state == .declined && pair.mine?.state == .requested)
        }
        var later = FriendPair(
            me: Self.anna, other: Self.ben, mine: nil, theirs: pair.theirs, at: Self.end)
        #expect(later.request(note: nil, isDeliverable: true, at: Self.end) == .requested)
        #expect(later.theirs?.state == .received)
    }
}

/// Random actions of both users: what must hold after each, and what a requester must not see.
@Suite struct PairProperties {
    private enum Act: CaseIterable { case request, accept, decline, remove, block, unblock, wait }

    private struct Harness {
        var records: [UserID: FriendRecord] = [:]
        var blocked: Set<UserID> = []
        var now = PairTests.now

        mutating func perform(_ act: Act, by me: UserID) {
            let other = me == PairTests.anna ? PairTests.ben : PairTests.anna
            var pair = FriendPair(me: me, other: other, mine: records[me], theirs: records[other], at: now)
            switch act {
            // The command refuses a request to somebody whom the requester has blocked.
            case .request where !blocked.contains(me):
                _ = pair.request(note: nil, isDeliverable: !blocked.contains(other), at: now)
            case .accept: _ = pair.accept(at: now)
            case .decline: _ = pair.decline(at: now)
            case .remove: _ = pair.remove()
            case .block:
                blocked.insert(me)
                pair.block()
            case .unblock: blocked.remove(me)
            case .wait: now = now.adding(seconds: 86_400)
            case .request: break
            }
            records = [:]
            records[me] = pair.mine
            records[other] = pair.theirs
        }

        /// What a user sees.
        func view(of user: UserID) -> FriendRecord? {
            records[user].flatMap { $0.isVisible && !$0.hasExpired(at: now) ? $0 : nil }
        }
    }

    @Test func bothSidesFit() {
        var random = SeededRandom(seed: 7)
        for _ in 0..<2000 {
            var harness = Harness()
            for _ in 0..<24 {
                let me = Bool.random(using: &random) ? PairTests.anna : PairTests.ben
                guard let act = Act.allCases.randomElement(using: &random) else { continue }
                harness.perform(act, by: me)
                let (one, other) = (harness.view(of: PairTests.anna)?.state, harness.view(of: PairTests.ben)?.state)
                #expect((one == .friend) == (other == .friend))
                if one == .received { #expect(other == .requested) }
                if other == .received { #expect(one == .requested) }
                if !harness.blocked.isEmpty { #expect(one != .friend && other != .friend) }
                for blocker in harness.blocked {
                    #expect(harness.view(of: blocker) == nil, "nothing of the blocked reaches the blocker")
                }
            }
        }
    }

    /// Anna acts alone and Ben never accepts or asks: whatever he does, she sees the same.
    @Test func aRequesterSeesNoDifference() {
        var random = SeededRandom(seed: 11)
        for _ in 0..<2000 {
            var harnesses = [Harness(), Harness()]
            harnesses[1].perform([.block, .unblock][Int.random(in: 0...1, using: &random)], by: PairTests.ben)
            for _ in 0..<24 {
                let act = [Act.request, .remove, .wait].randomElement(using: &random) ?? .wait
                for index in harnesses.indices { harnesses[index].perform(act, by: PairTests.anna) }
                if let silent = [Act.decline, .block, .unblock].randomElement(using: &random) {
                    harnesses[1].perform(silent, by: PairTests.ben)
                }
                #expect(harnesses[0].view(of: PairTests.anna) == harnesses[1].view(of: PairTests.anna))
            }
        }
    }
}
