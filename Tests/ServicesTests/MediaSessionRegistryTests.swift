import Model
import Testing

@testable import Services

/// A user has one session of each protocol in a call, also with concurrent requests.
@Suite struct MediaSessionRegistryTests {
    private let call = CallID.make(at: Timestamp(milliseconds: 1))
    private let ann = UserID.make(at: Timestamp(milliseconds: 2))
    private let ben = UserID.make(at: Timestamp(milliseconds: 3))

    private func session(
        _ kind: WHIPKind, of user: UserID, in call: CallID? = nil, signIn: SignInID? = nil
    ) -> MediaSessionRegistry.Session {
        let leg = EndpointID.make(at: Timestamp(milliseconds: 4))
        return .init(
            id: WHIPSessionID(kind: kind, call: call ?? self.call, leg: leg), user: user, signIn: signIn, offer: "v=0")
    }

    /// Opens a session at once. What it replaced is returned.
    @discardableResult
    private func open(
        _ session: MediaSessionRegistry.Session, _ registry: inout MediaSessionRegistry
    ) -> MediaSessionRegistry.Session? {
        let superseded = registry.begin(session)
        #expect(superseded == nil)
        let (isEntered, replaced) = registry.enter(session.id.leg, tag: "tag")
        #expect(isEntered)
        return replaced
    }

    @Test func aSecondSessionOfAProtocolReplacesTheFirst() {
        var registry = MediaSessionRegistry()
        let (first, second, player) = (session(.whip, of: ann), session(.whip, of: ann), session(.whep, of: ann))
        open(first, &registry)
        open(player, &registry)
        let replaced = open(second, &registry)
        #expect(replaced?.id == first.id)
        #expect(!registry.holds(first.id.leg) && registry.session(first.id.leg) == nil)
        #expect(registry.legs(in: call) == [second.id.leg: ann, player.id.leg: ann])
        let successor = registry.other(than: second)
        #expect(successor?.id == player.id)
    }

    @Test func sessionsOfOtherUsersAndCallsAreKept() {
        var registry = MediaSessionRegistry()
        let elsewhere = session(.whip, of: ann, in: .make(at: Timestamp(milliseconds: 9)))
        let all = [session(.whip, of: ann), session(.whip, of: ben), elsewhere]
        for one in all {
            let replaced = open(one, &registry)
            #expect(replaced == nil)
        }
        let left = registry.removeEntered(all[0].member)
        #expect(left.map(\.id) == [all[0].id])
        #expect(registry.legs(in: call) == [all[1].id.leg: ben])
        for one in all { _ = registry.remove(one.id.leg) }
        #expect(registry.isEmpty)
    }

    @Test func anOpeningSessionIsHeldAndHasNotEntered() {
        var registry = MediaSessionRegistry()
        let (old, new) = (session(.whip, of: ann), session(.whip, of: ann))
        open(old, &registry)
        _ = registry.begin(new)
        #expect(registry.holds(new.id.leg) && registry.session(new.id.leg) == nil)
        #expect(registry.session(.whip, of: old.member)?.id == old.id, "The old one goes on until then.")
        #expect(registry.legs(in: call) == [old.id.leg: ann])
        // The leg failed before the user entered.
        let failed = registry.remove(new.id.leg)
        #expect(failed?.id == new.id)
        let (isEntered, replaced) = registry.enter(new.id.leg, tag: "tag")
        #expect(!isEntered && replaced == nil)
        #expect(registry.session(.whip, of: old.member)?.id == old.id)
    }

    @Test func aSecondOpeningSessionReplacesTheFirst() {
        var registry = MediaSessionRegistry()
        let (first, second) = (session(.whip, of: ann), session(.whep, of: ann))
        _ = registry.begin(first)
        let superseded = registry.begin(second)
        #expect(superseded?.id == first.id)
        let firstEnters = registry.enter(first.id.leg, tag: "tag").isEntered
        let secondEnters = registry.enter(second.id.leg, tag: "tag").isEntered
        #expect(!firstEnters && secondEnters)
    }

    @Test func theEndOfASignInRemovesItsSessions() {
        var registry = MediaSessionRegistry()
        let (lost, kept) = (
            SignInID.make(at: Timestamp(milliseconds: 5)), SignInID.make(at: Timestamp(milliseconds: 6))
        )
        let (entered, opening) = (session(.whip, of: ann, signIn: lost), session(.whip, of: ben, signIn: lost))
        let others = [session(.whep, of: ann, signIn: kept), session(.whep, of: ben)]
        open(entered, &registry)
        for other in others { open(other, &registry) }
        _ = registry.begin(opening)
        let over = registry.removeAll { $0.signIn == lost }
        #expect(Set(over.map(\.id)) == [entered.id, opening.id])
        #expect(Set(registry.legs(in: call).keys) == Set(others.map(\.id.leg)))
    }

    @Test func aRestartAfterTheEndFails() {
        var registry = MediaSessionRegistry()
        let one = session(.whip, of: ann)
        open(one, &registry)
        let isThere = registry.restarted(one.id.leg, offer: "v=1", tag: "new")
        #expect(isThere)
        #expect(registry.session(one.id.leg)?.tag == "new" && registry.session(one.id.leg)?.offer == "v=1")
        _ = registry.remove(one.id.leg)
        let isStillThere = registry.restarted(one.id.leg, offer: "v=2", tag: "newer")
        #expect(!isStillThere && registry.isEmpty)
    }
}
