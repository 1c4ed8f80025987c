import Model
import TestSupport
import Testing
import Wire

@testable import Messaging

@Suite("Parts of the search")
struct SearchPartsTests {
    @Test("a number set is a set")
    func numberSet() {
        let seed = freshSeed()
        var random = SeededRandom(seed: seed)
        for _ in 0..<200 {
            let block = Int64.random(in: 0...5, using: &random)
            let all = block * SearchIndex.blockLength...(block + 1) * SearchIndex.blockLength - 1
            var (set, model) = (NumberSet(block: block), Set<Int64>())
            for _ in 0..<20 {
                let number = Int64.random(in: all.lowerBound - 3...all.upperBound + 3, using: &random)
                let end = number + Int64.random(in: 0...300, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0:
                    set.insert(number)
                    if all.contains(number) { model.insert(number) }
                case 1:
                    set.remove(number)
                    model.remove(number)
                case 2:
                    set.insert(number...end)
                    model.formUnion((number...end).filter(all.contains))
                default:
                    set.formIntersection(NumberSet(block: block, min(all.lowerBound, end)...end))
                    model = model.filter { $0 <= end }
                }
                #expect(set.count == model.count && set.min == model.min() && set.max == model.max(), "seed \(seed)")
                #expect(set.isEmpty == model.isEmpty && all.allSatisfy { set.contains($0) == model.contains($0) })
            }
            var popped: [Int64] = []
            while let number = set.popMax() { popped.append(number) }
            #expect(popped == model.sorted(by: >), "seed \(seed)")
        }
    }

    @Test("the heap gives the newest first")
    func heap() {
        let seed = freshSeed()
        var random = SeededRandom(seed: seed)
        let id = ConversationID.make(at: Timestamp(milliseconds: 0), using: &random)
        var heap = SearchHeap()
        var model: [Int64] = []
        for _ in 0..<2_000 {
            if Bool.random(using: &random) || model.isEmpty {
                let number = Int64.random(in: 0...100, using: &random)
                heap.insert(SearchHeap.Entry(bound: SearchPosition(Timestamp(milliseconds: 0), id, number), walk: 0))
                model.append(number)
            } else {
                let newest = model.max() ?? 0
                #expect(heap.top?.bound.number == newest && heap.popTop()?.bound.number == newest, "seed \(seed)")
                model.remove(at: model.firstIndex(of: newest) ?? 0)
            }
        }
        #expect(heap.entries.count == model.count)
    }
}
