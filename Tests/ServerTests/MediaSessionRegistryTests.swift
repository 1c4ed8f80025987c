import Model
import Testing
import WebAPI

@testable import Server

/// A user has one session of each protocol in a call, whatever is asked at the same time.
@Suite struct MediaSessionRegistryTests {
    private let call = CallID.make(at: Timestamp(milliseconds: 1))
    private let ann = UserID.make(at: Timestamp(milliseconds: 2))
    private let ben = UserID.make(at: Timestamp(milliseconds: 3))

    private func session(
        _ door: MediaDoor, of user: UserID, in call: CallID? = nil, signIn: SignInID? = nil
    ) -> MediaSessionRegistry.Session {
        let leg = EndpointID.make(at: Timestamp(milliseconds: 4))
        return .init(
            place: DoorPlace(door: door, call: call ?? self.call, leg: leg), user: user, signIn: signIn, offer: "v=0")
    }

    /// Opens a session at once. What it replaced is returned.
    @discardableResult
    private func open(
        _ session: MediaSessionRegistry.Session, _ registry: inout MediaSessionRegistry
    ) -> MediaSessionRegistry.Session? {
        let superseded = registry.begin(session)
        #expect(superseded == nil)
        let (isEntered, replaced) = registry.enter(session.place.leg, tag: "tag")
        #expect(isEntered)
        return replaced
    }

    @Test func aSecondSessionOfAProtocolReplacesTheFirst() {
        var registry = MediaSessionRegistry()
        let (first, second, player) = (session(.whip, of: ann), session(.whip, of: ann), session(.whep, of: ann))
        open(first, &registry)
        open(player, &registry)
        let replaced = open(second, &registry)
        #expect(replaced?.place == first.place)
        #expect(!registry.holds(first.place.leg) && registry.session(first.place.leg) == nil)
        #expect(registry.legs(in: call) == [second.place.leg: ann, player.place.leg: ann])
        let heir = registry.other(than: second)
        #expect(heir?.place == player.place)
    }

    @Test func othersAndOtherCallsKeepTheirs() {
        var registry = MediaSessionRegistry()
        let elsewhere = session(.whip, of: ann, in: .make(at: Timestamp(milliseconds: 9)))
        let all = [session(.whip, of: ann), session(.whip, of: ben), elsewhere]
        for one in all {
            let replaced = open(one, &registry)
            #expect(replaced == nil)
        }
        let left = registry.removeEntered(all[0].member)
        #expect(left.map(\.place) == [all[0].place])
        #expect(registry.legs(in: call) == [all[1].place.leg: ben])
        for one in all { _ = registry.remove(one.place.leg) }
        #expect(registry.isEmpty)
    }

    @Test func whatOpensIsHeldAndHasNotEntered() {
        var registry = MediaSessionRegistry()
        let (old, new) = (session(.whip, of: ann), session(.whip, of: ann))
        open(old, &registry)
        _ = registry.begin(new)
        #expect(registry.holds(new.place.leg) && registry.session(new.place.leg) == nil)
        #expect(registry.session(.whip, of: old.member)?.place == old.place, "The old one goes on until then.")
        #expect(registry.legs(in: call) == [old.place.leg: ann])
        // The leg failed before the user entered.
        let failed = registry.remove(new.place.leg)
        #expect(failed?.place == new.place)
        let (isEntered, replaced) = registry.enter(new.place.leg, tag: "tag")
        #expect(!isEntered && replaced == nil)
        #expect(registry.session(.whip, of: old.member)?.place == old.place)
    }

    @Test func whatOpensTwiceIsTheSecond() {
        var registry = MediaSessionRegistry()
        let (first, second) = (session(.whip, of: ann), session(.whep, of: ann))
        _ = registry.begin(first)
        let superseded = registry.begin(second)
        #expect(superseded?.place == first.place)
        let firstEnters = registry.enter(first.place.leg, tag: "tag").isEntered
        let secondEnters = registry.enter(second.place.leg, tag: "tag").isEntered
        #expect(!firstEnters && secondEnters)
    }

    @Test func theEndOfASignInTakesWhatItOpened() {
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
        #expect(Set(over.map(\.place)) == [entered.place, opening.place])
        #expect(Set(registry.legs(in: call).keys) == Set(others.map(\.place.leg)))
    }

    @Test func aRestartThatComesTooLateIsTold() {
        var registry = MediaSessionRegistry()
        let one = session(.whip, of: ann)
        open(one, &registry)
        let isThere = registry.restarted(one.place.leg, offer: "v=1", tag: "new")
        #expect(isThere)
        #expect(registry.session(one.place.leg)?.tag == "new" && registry.session(one.place.leg)?.offer == "v=1")
        _ = registry.remove(one.place.leg)
        let isStillThere = registry.restarted(one.place.leg, offer: "v=2", tag: "newer")
        #expect(!isStillThere && registry.isEmpty)
    }
}
