import TestSupport
import Testing
import Wire

@testable import Messaging

@Suite("What a member may see")
struct MembershipSpansTests {
    @Test("from joining to leaving, and again from returning")
    func spans() {
        var spans = MembershipSpans()
        #expect(!spans.isOpen && !spans.contains(1) && spans.newest(lastNumber: 10) == nil)
        spans.join(after: 4)
        spans.join(after: 6)
        #expect(spans.isOpen && !spans.contains(4) && spans.contains(5) && spans.contains(1_000))
        spans.leave(after: 9, sequence: 30)
        spans.leave(after: 12, sequence: 40)
        #expect(spans.contains(9) && !spans.contains(10))
        #expect(spans.span(of: 9)?.untilSequence == 30)
        #expect(spans.newest(lastNumber: 20) == 9)
        spans.join(after: 15)
        #expect(spans.visible(in: 1...20) == [5...9, 16...20])
        #expect(spans.visible(in: 10...15) == [])
        #expect(spans.from == 15 && spans.newest(lastNumber: 15) == 9)
    }

    @Test("who returns before anything was written has missed nothing")
    func returning() {
        var spans = MembershipSpans()
        spans.join(after: 0)
        spans.leave(after: 3, sequence: 8)
        spans.join(after: 3)
        #expect(spans.spans == [.init(from: 0)])
        // Joining and leaving with nothing in between leaves nothing.
        spans.leave(after: 3, sequence: 9)
        spans.join(after: 5)
        spans.leave(after: 5, sequence: 12)
        #expect(spans.spans == [.init(from: 0, until: 3, untilSequence: 9)])
    }

    @Test("clearing hides what was, and not what comes")
    func clearing() {
        var spans = MembershipSpans()
        spans.join(after: 0)
        spans.leave(after: 3, sequence: 8)
        spans.join(after: 7)
        spans.clear(after: 9)
        #expect(spans.spans == [.init(from: 9)])
        #expect(!spans.contains(2) && !spans.contains(9) && spans.contains(10))
        spans.leave(after: 12, sequence: 20)
        spans.clear(after: 14)
        #expect(spans.spans.isEmpty)
    }

    @Test("after anything, spans are what a list of all numbers says")
    func model() {
        let seed = freshSeed()
        var random = SeededRandom(seed: seed)
        for _ in 0..<200 {
            var spans = MembershipSpans()
            var (seen, last, isIn, sequence) = (Set<Int64>(), Int64(0), false, Int64(0))
            for _ in 0..<60 {
                sequence += 1
                switch Int.random(in: 0..<6, using: &random) {
                case 0:
                    spans.join(after: last)
                    isIn = true
                case 1:
                    spans.leave(after: last, sequence: sequence)
                    isIn = false
                case 2 where Int.random(in: 0..<4, using: &random) == 0:
                    let number = Int64.random(in: 0...last, using: &random)
                    spans.clear(after: number)
                    seen = seen.filter { $0 > number }
                default:
                    last += 1
                    if isIn { seen.insert(last) }
                }
                #expect(spans.isOpen == isIn, "seed \(seed)")
            }
            guard last > 0 else { continue }
            #expect(Set((1...last).filter(spans.contains)) == seen, "seed \(seed)")
            #expect(Set(spans.visible(in: 1...last).flatMap { $0 }) == seen, "seed \(seed)")
            #expect(spans.newest(lastNumber: last) == seen.max(), "seed \(seed)")
            for (one, next) in zip(spans.spans, spans.spans.dropFirst()) {
                #expect(one.until.map { $0 < next.from } == true, "seed \(seed): in order and apart")
            }
        }
    }

    @Test("the number of spans is bounded")
    func bound() {
        var spans = MembershipSpans()
        for number: Int64 in 1...200 {
            spans.join(after: number * 10)
            spans.leave(after: number * 10 + 5, sequence: number)
        }
        #expect(spans.spans.count == MembershipSpans.maxCount)
        #expect(spans.contains(2_003))
    }
}
