import Model
import Testing

@testable import Calls

/// Who can be rung at all, and whose devices are pushed to.
@Suite struct ReachableTests {
    private let caller = UserID.make(at: CallsHarness.start)
    private let callee = UserID.make(at: CallsHarness.start)

    private func call(_ change: (inout CallParty) -> Void) -> Call {
        var party = CallParty(user: callee, displayName: "Ben")
        change(&party)
        return Call.begin(
            id: .make(at: CallsHarness.start), kind: .audio, caller: CallParty(user: caller, displayName: "Anna"),
            endpoint: .make(at: CallsHarness.start), callees: [(party, false)], ringSeconds: 30, rules: CallRules(),
            at: CallsHarness.start)
    }

    @Test func whoCannotBeRungIsUnreachableAtOnce() throws {
        // Whoever has blocked the caller looks like anybody else.
        for hasBlocked in [false, true] {
            let call = call {
                $0.isReachable = false
                $0.hasBlockedCaller = hasBlocked
            }
            #expect(call.ending?.reason == .unreachable)
            #expect(try #require(call.participant(callee)).state == .unreachable)
        }
    }

    @Test func theRingOfPushedDevicesHasATime() throws {
        for hasBlocked in [false, true] {
            let pushed = call {
                $0.isPushed = true
                $0.hasBlockedCaller = hasBlocked
            }
            let participant = try #require(pushed.participant(callee))
            #expect(participant.pushedAt == CallsHarness.start && participant.isRinging)
            #expect(participant.json(at: CallsHarness.start, version: 1).contains(#""pushedAt":"#))
        }
        let connected = call { $0.hasBlockedCaller = false }
        #expect(try #require(connected.participant(callee)).pushedAt == nil)
        let busy = call {
            $0.isPushed = true
            $0.isDisabled = true
        }
        #expect(try #require(busy.participant(callee)).pushedAt == nil)
    }
}
