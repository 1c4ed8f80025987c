import Accounts
import Model
import Testing

@Suite("Who sees a presence")
struct PresenceAccessTests {
    private static let time = Timestamp(milliseconds: 1_800_000_000_000)
    private static let blocked = PresenceRelation(isBlocked: true, isFriend: true, sharesConversation: true)
    private static let friend = PresenceRelation(isBlocked: false, isFriend: true, sharesConversation: true)
    private static let fellow = PresenceRelation(isBlocked: false, isFriend: false, sharesConversation: true)
    private static let unknown = PresenceRelation(isBlocked: false, isFriend: false, sharesConversation: false)

    private func user(
        _ lastSeen: LastSeenVisibility = .everybody, _ presence: PresenceVisibility = .everybody
    ) -> UserRecord {
        var user = UserRecord(
            id: .make(at: Self.time), displayName: "Ann", presence: presence, createdAt: Self.time)
        user.lastSeen = lastSeen
        return user
    }

    @Test("who is unknown, and the blocked, see nothing, whatever is set")
    func nothing() {
        for setting in LastSeenVisibility.allCases {
            for relation in [Self.blocked, Self.unknown] {
                #expect(user(setting).presence(seenBy: user(), relation) == .nothing)
            }
        }
    }

    @Test(
        "last seen is for those whom both allow",
        arguments: [
            (LastSeenVisibility.everybody, LastSeenVisibility.everybody, true, true),
            (.friends, .everybody, true, false), (.everybody, .friends, true, false), (.friends, .friends, true, false),
            (.nobody, .everybody, false, false), (.everybody, .nobody, false, false),
        ])
    func both(_ mine: LastSeenVisibility, _ theirs: LastSeenVisibility, friend: Bool, fellow: Bool) {
        let (ann, ben) = (user(mine), user(theirs))
        #expect(ann.presence(seenBy: ben, Self.friend) == (friend ? .full : .online))
        #expect(ann.presence(seenBy: ben, Self.fellow) == (fellow ? .full : .online))
    }

    @Test("who is never online shows and sees no time")
    func hidden() {
        let (hidden, shown) = (user(.everybody, .nobody), user())
        #expect(hidden.presence(seenBy: shown, Self.friend) == .online)
        #expect(shown.presence(seenBy: hidden, Self.friend) == .online)
    }

    @Test("one sees oneself, and nobody a disabled user")
    func oneself() {
        var ann = user(.nobody)
        #expect(ann.presence(seenBy: ann, Self.unknown) == .full)
        ann.disabledAt = Self.time
        #expect(ann.presence(seenBy: user(), Self.friend) == .nothing)
    }
}
