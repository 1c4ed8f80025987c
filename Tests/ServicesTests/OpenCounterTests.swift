import Testing

@testable import Services

struct OpenCounterTests {
    @Test func boundsAKeyAndAll() {
        let counter = OpenCounter<String>(maxOpen: 5, maxOfKey: 3)
        #expect(counter.enter("a", count: 2) == nil)
        #expect(counter.enter("a", count: 2) == .ofKey)
        #expect(counter.count(of: "a") == 2)
        #expect(counter.enter("a") == nil)
        #expect(counter.enter("b", count: 3) == .all)
        #expect(counter.count(of: "b") == 0)
        #expect(counter.enter("b", count: 2) == nil)
        #expect(counter.enter("c") == .all)
        counter.leave("a")
        #expect(counter.enter("c") == nil)
        #expect(counter.count(of: "a") == 2)
        counter.leave("a", count: 2)
        #expect(counter.count(of: "a") == 0)
        #expect(counter.enter("b") == nil)
        #expect(counter.enter("b") == .ofKey)
    }
}
