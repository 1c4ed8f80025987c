import Testing

@testable import Services

@Suite struct DeadlineQueueTests {
    private let start = ContinuousClock.now

    @Test func takesWhatIsDueInOrder() {
        var queue = DeadlineQueue<String>()
        queue.set("b", due: start + .seconds(2))
        queue.set("a", due: start + .seconds(1))
        queue.set("c", due: start + .seconds(3))
        #expect(queue.next() == start + .seconds(1))
        #expect(queue.take(at: start + .seconds(2)) == ["a", "b"])
        #expect(queue.next() == start + .seconds(3))
    }

    @Test func settingAgainMovesAndRemovingForgets() {
        var queue = DeadlineQueue<String>()
        queue.set("a", due: start + .seconds(1))
        queue.set("a", due: start + .seconds(5))
        queue.set("b", due: start + .seconds(2))
        queue.remove("b")
        #expect(queue.take(at: start + .seconds(4)).isEmpty)
        #expect(queue.next() == start + .seconds(5))
        #expect(queue.take(at: start + .seconds(5)) == ["a"])
        #expect(queue.next() == nil && queue.count == 0)
    }

    @Test func staleEntriesDoNotAccumulate() {
        var queue = DeadlineQueue<Int>()
        for round in 0..<10_000 {
            queue.set(round, due: start + .seconds(60))
            queue.remove(round)
        }
        #expect(queue.count == 0)
        queue.set(-1, due: start + .seconds(1))
        #expect(queue.take(at: start + .seconds(61)) == [-1])
    }

    @Test func someArePostponed() {
        var queue = DeadlineQueue<String>()
        queue.set("early", due: start + .seconds(9))
        queue.set("early", due: start + .seconds(1))
        queue.set("late", due: start + .seconds(2))
        queue.set("gone", due: start + .seconds(1))
        queue.remove("gone")
        queue.postpone(by: .seconds(10)) { $0 != "late" }
        #expect(queue.take(at: start + .seconds(10)) == ["late"])
        #expect(queue.next() == start + .seconds(11))
        #expect(queue.take(at: start + .seconds(20)) == ["early"] && queue.count == 0)
    }
}
