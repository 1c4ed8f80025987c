import Calls
import Model
import Testing

@testable import Services

/// The notices of a leg, and their order.
@Suite struct LegNoticesTests {
    private typealias Notices = LegNotices<String>

    private func slots(_ mids: String...) -> [LegSlot] { mids.map { LegSlot(mid: $0, kind: .audio) } }

    /// Takes all pending jobs, and describes them.
    private func work(_ notices: inout Notices) -> [String] {
        var done: [String] = []
        while let job = notices.take() {
            switch job {
            case .answer(let offer): done.append("answer \(offer)")
            case .connected: done.append("connected")
            case .ended(let reason): done.append("ended \(reason.rawValue)")
            case .outdated: done.append("outdated")
            case .shows(let slots): done.append("shows \(slots.map(\.mid).joined(separator: " "))")
            }
        }
        return done
    }

    @Test func onlyTheNewestSlotsAreWritten() {
        var notices = Notices()
        for mid in ["1", "2", "3"] { notices.add(slots(mid)) }
        let begins = notices.beginProcessing()
        let beginsTwice = notices.beginProcessing()
        #expect(begins && !beginsTwice)
        let done = work(&notices)
        #expect(done == ["shows 3"])
        #expect(notices.isIdle)
        let beginsAgain = notices.beginProcessing()
        #expect(beginsAgain, "The work was over.")
    }

    @Test func anEndDiscardsEarlierSlotsAndComesBeforeLaterOnes() {
        var notices = Notices()
        notices.add(slots("old"))
        notices.add(LegEndReason.connectionLost)
        let done1 = work(&notices)
        #expect(done1 == ["ended connection_lost"])
        notices.add(LegEndReason.closed)
        notices.add(slots("new"))
        let done2 = work(&notices)
        #expect(done2 == ["ended closed", "shows new"])
    }

    @Test func anEndDiscardsOutdatedNotices() {
        var notices = Notices()
        notices.addOutdated()
        notices.addOutdated()
        notices.add(slots("1"))
        let once = work(&notices)
        #expect(once == ["outdated", "shows 1"])
        notices.addOutdated()
        #expect(!notices.isIdle)
        notices.add(LegEndReason.closed)
        notices.requeue(.outdated)
        let ended = work(&notices)
        #expect(ended == ["ended closed"])
        notices.requeue(.outdated)
        let again = work(&notices)
        #expect(again == ["outdated"])
        #expect(notices.isIdle)
    }

    @Test func offersAreAnsweredOneByOneBeforeNotices() {
        var notices = Notices()
        notices.add(slots("1"))
        notices.add("first")
        notices.add("second")
        let done3 = work(&notices)
        #expect(done3 == ["answer first", "answer second", "shows 1"])
    }

    @Test func slotsDuringAnAnswerCountIfTheyAreOfTheSameSections() {
        let track = LegTrack(endpoint: .make(at: .init(milliseconds: 1)), mid: "0", source: .camera)
        let newer = [LegSlot(mid: "2", kind: .video, track: track)]
        var notices = Notices()
        notices.add(newer)
        let first = notices.reconcile([LegSlot(mid: "2", kind: .video)])
        #expect(first == newer)
        notices.add(slots("1"))
        let second = notices.reconcile(slots("1", "2"))
        #expect(second == slots("1", "2"), "The notice is from before the offer was read.")
        let third = notices.reconcile(slots("3"))
        #expect(third == slots("3"))
        let rest = work(&notices)
        #expect(rest.isEmpty)
    }

    @Test func failedJobsAreRetriedUnlessThereAreNewerOnes() {
        var notices = Notices()
        notices.requeue(.shows(slots("1")))
        let done4 = work(&notices)
        #expect(done4 == ["shows 1"])
        notices.add(slots("2"))
        notices.requeue(.shows(slots("1")))
        let done5 = work(&notices)
        #expect(done5 == ["shows 2"])
        notices.add(LegEndReason.stopped)
        notices.requeue(.shows(slots("1")))
        let done6 = work(&notices)
        #expect(done6 == ["ended stopped"])
    }

    @Test func anEndpointThatLeftGetsNoNotices() {
        var notices = Notices()
        notices.add(slots("1"))
        notices.add(LegEndReason.closed)
        notices.forget()
        #expect(notices.isIdle)
    }
}
