import Calls
import Model
import Testing
import Wire

@testable import Services

/// How a stall of the server affects the timers of calls, on a virtual clock.
@Suite struct CallTimesTests {
    private let start = ContinuousClock.now
    private let call = CallID.make(at: Timestamp(milliseconds: 1))
    private let ann = UserID.make(at: Timestamp(milliseconds: 2))
    private let ben = UserID.make(at: Timestamp(milliseconds: 3))

    /// The moment so many seconds after the start; the machine was suspended for some of them.
    private func at(_ seconds: Double, suspended: Double = 0) -> CallTimes.Moment {
        .init(
            awake: Instant(nanoseconds: UInt64((1_000 + seconds - suspended) * 1e9)),
            continuous: start + .milliseconds(Int64(seconds * 1_000)))
    }

    private func holder(_ user: UserID) -> CallLeases.Holder {
        .init(call: call, user: user, endpoint: .make(at: Timestamp(milliseconds: 4)))
    }

    private func deadline(_ kind: CallDeadline.Kind) -> CallDeadline {
        CallDeadline(key: .init(call: call, kind: kind), at: Timestamp(milliseconds: 0))
    }

    private func times() -> CallTimes { CallTimes(leaseSeconds: 30, at: at(0)) }

    private func due(_ times: inout CallTimes, _ now: CallTimes.Moment) -> [CallDeadline.Kind] {
        times.takeDue(at: now).map(\.key.kind)
    }

    private func lapsed(_ times: inout CallTimes, _ now: CallTimes.Moment) -> [UserID] {
        times.tick(at: now).map(\.user)
    }

    private func next(_ times: inout CallTimes) -> ContinuousClock.Instant? { times.nextDeadline() }

    /// Ticks each second of the range.
    private func tick(_ times: inout CallTimes, _ seconds: ClosedRange<Int>) -> [CallLeases.Holder] {
        seconds.flatMap { times.tick(at: at(Double($0))) }
    }

    @Test func leasesLapseAfterTheirTime() {
        var times = times()
        times.startLease(holder(ann), at: at(0.5))
        #expect(tick(&times, 1...30).isEmpty)
        #expect(tick(&times, 31...31).map(\.user) == [ann])
        #expect(times.leaseCount == 0)
    }

    @Test func aStallExtendsLeasesWhateverDetectsIt() {
        let (anna, ben) = (holder(ann), holder(self.ben))
        for finder in ["the tick", "a renewal", "a new lease"] {
            var times = times()
            times.startLease(anna, at: at(0))
            times.startLease(ben, at: at(0))
            #expect(tick(&times, 1...20).isEmpty)
            switch finder {
            case "a renewal": _ = times.renewLeases(of: ben.endpoint, at: at(120))
            case "a new lease": times.startLease(ben, at: at(120))
            default: break
            }
            #expect(tick(&times, 120...129).isEmpty, "\(finder)")
            let lapsed = tick(&times, 130...149).map(\.user)
            #expect(Set(lapsed) == (finder == "the tick" ? [ann, self.ben] : [ann]), "\(finder)")
            #expect(tick(&times, 150...150).map(\.user) == (finder == "the tick" ? [] : [self.ben]), "\(finder)")
        }
    }

    @Test func slightlyLateTicksExtendNothing() {
        var times = times()
        times.startLease(holder(ann), at: at(0))
        for second in stride(from: 1.9, through: 30, by: 1.9) { #expect(lapsed(&times, at(second)).isEmpty) }
        #expect(lapsed(&times, at(30.4)) == [ann])
    }

    @Test func setupDeadlinesAreExtendedAndRingDeadlinesAreNot() {
        var times = times()
        let isFirst = times.schedule(deadline(.setup(ann)), in: .seconds(20), at: at(0))
        let isFirstToo = times.schedule(deadline(.ring(ben)), in: .seconds(60), at: at(0))
        #expect(isFirst && !isFirstToo)
        #expect(tick(&times, 1...10).isEmpty)
        #expect(due(&times, at(100)) == [.ring(ben)])
        #expect(next(&times) == at(110).continuous)
        #expect(tick(&times, 100...110).isEmpty)
        #expect(due(&times, at(110)) == [.setup(ann)])
        #expect(times.deadlineCount == 0)
    }

    @Test func aSuspendedMachineKeepsLeasesAndLetsRingsEnd() {
        var times = times()
        times.startLease(holder(ann), at: at(0))
        _ = times.schedule(deadline(.setup(ann)), in: .seconds(20), at: at(0))
        _ = times.schedule(deadline(.ring(ben)), in: .seconds(60), at: at(0))
        #expect(tick(&times, 1...10).isEmpty)
        // An hour passes for people, and half a second for this machine.
        let woken = at(3_610.5, suspended: 3_600)
        #expect(due(&times, woken) == [.ring(ben)])
        #expect(lapsed(&times, woken).isEmpty)
        for second in 3_611...3_629 {
            let now = at(Double(second), suspended: 3_600)
            #expect(lapsed(&times, now).isEmpty)
            #expect(due(&times, now) == (second == 3_621 ? [.setup(ann)] : []))
        }
        #expect(lapsed(&times, at(3_630, suspended: 3_600)) == [ann])
    }

    @Test func cancelledDeadlinesDoNotFire() {
        var times = times()
        _ = times.schedule(deadline(.setup(ann)), in: .seconds(20), at: at(0))
        times.unschedule(deadline(.setup(ann)).key)
        #expect(next(&times) == nil && due(&times, at(25)).isEmpty)
        times.startLease(holder(ann), at: at(25))
        times.endLease(call, ann)
        #expect(tick(&times, 26...60).isEmpty)
    }
}
