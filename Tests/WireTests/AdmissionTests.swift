import Testing
import Wire

@Suite("Admission by source")
struct AdmissionTests {
    private func address(_ number: UInt32) -> IPAddress { IPAddress(ipv4: 0x0A00_0000 | number) }

    @Test("one source gets its share, and what it gives back is there for it again")
    func share() throws {
        var table = AdmissionTable(.init(all: 100))
        var entries: [AdmissionTable.Entry] = []
        for owner in 0..<25 as Range<UInt64> {
            entries.append(try table.admit(address(1), owner: owner, at: Instant(nanoseconds: owner)))
        }
        #expect(table.rejection(of: address(1)) == .sourceLimit && table.rejection(of: address(2)) == nil)
        table.release(entries[7])
        table.release(entries[7])
        #expect(table.count == 24 && table.count(of: address(1)) == 24)
        _ = try table.admit(address(1), owner: 25, at: Instant(nanoseconds: 25))
        #expect(table.rejection(of: address(1)) == .sourceLimit)
    }

    @Test("an IPv6 source is its /64", arguments: [(1, 1, true), (1, 2, false)] as [(UInt64, UInt64, Bool)])
    func prefixes(one: UInt64, other: UInt64, isSame: Bool) throws {
        var table = AdmissionTable(.init(all: 100, perSource: 1))
        _ = try table.admit(IPAddress(ipv6High: one, low: 1), owner: 1, at: Instant(nanoseconds: 0))
        #expect((table.rejection(of: IPAddress(ipv6High: other, low: 2)) == .sourceLimit) == isSame)
    }

    @Test(
        "small tables leave a single source its room", arguments: [(1, 1), (4, 4), (8, 8), (20, 8), (32, 8), (100, 25)])
    func small(all: Int, share: Int) {
        #expect(AdmissionTable.Limits(all: all).perSource == share)
    }

    @Test("an entry behind a proxy counts for its source once that is named")
    func named() throws {
        var table = AdmissionTable(.init(all: 3, perSource: 1))
        let now = Instant(nanoseconds: 1)
        let first = try table.admit(nil, owner: 1, at: now)
        let second = try table.admit(nil, owner: 2, at: now)
        let outcomes = [
            table.setSource(first, address(1)), table.setSource(second, address(1)),
            table.setSource(second, address(2)),
        ]
        #expect(outcomes == [true, false, true])
        _ = try table.admit(nil, owner: 3, at: now)
        #expect(table.rejection(of: nil) == .limit)
        #expect(table.oldestPending(of: address(2))?.owner == 2)
        table.release(second)
        #expect(table.sourceCount == 1 && table.oldestPending?.owner == 1)
    }

    @Test("does what a list does that is gone through each time", arguments: 1...20 as ClosedRange<UInt64>)
    func model(seed: UInt64) throws {
        struct Held {
            let entry: AdmissionTable.Entry
            let owner: UInt64
            var source: UInt32?
            var isPending = true
            /// Since when, as a number that rises.
            let order: UInt64
        }
        var random = SeededRandom(seed: seed)
        var table = AdmissionTable(.init(all: 20, perSource: 7, pending: 12, pendingPerSource: 4))
        var held: [Held] = []
        var time: UInt64 = 0
        for _ in 0..<3000 {
            time += 1
            let now = Instant(nanoseconds: time)
            switch UInt8.random(in: 0..<10, using: &random) {
            case 0..<5:
                let source =
                    UInt8.random(in: 0..<8, using: &random) == 0 ? nil : UInt32.random(in: 1...4, using: &random)
                let mine = held.filter { source != nil && $0.source == source }
                let expected: AdmissionTable.Rejection? =
                    mine.count >= 7
                    ? .sourceLimit
                    : mine.count(where: \.isPending) >= 4
                        ? .sourcePendingLimit
                        : held.count(where: \.isPending) >= 12 ? .pendingLimit : held.count >= 20 ? .limit : nil
                #expect(table.rejection(of: source.map { address($0) }) == expected)
                if expected == nil {
                    let entry = try table.admit(source.map { address($0) }, owner: time, at: now)
                    held.append(Held(entry: entry, owner: time, source: source, order: time))
                }
            case 5:
                guard let index = held.indices.randomElement(using: &random), held[index].source == nil else {
                    continue
                }
                let source = UInt32.random(in: 1...4, using: &random)
                let isFull = held.count(where: { $0.source == source }) >= 7
                let isCounted = table.setSource(held[index].entry, address(source))
                #expect(isCounted != isFull)
                if isCounted { held[index].source = source }
            case 6:
                guard let index = held.indices.randomElement(using: &random) else { continue }
                table.confirm(held[index].entry)
                held[index].isPending = false
            default:
                guard let index = held.indices.randomElement(using: &random) else { continue }
                table.release(held.remove(at: index).entry)
            }
            let pending = held.filter(\.isPending).sorted { $0.order < $1.order }
            #expect(table.count == held.count && table.pendingCount == pending.count)
            #expect(table.pendingOwners == pending.map(\.owner))
            #expect(table.oldestPending?.since.nanoseconds == pending.first?.order)
            #expect(table.sourceCount == Set(held.compactMap(\.source)).count)
            for source in 1...4 as ClosedRange<UInt32> {
                let owners = held.filter { $0.source == source && $0.isPending }.map(\.owner)
                #expect(table.oldestPending(of: address(source)).map { owners.contains($0.owner) } ?? owners.isEmpty)
                #expect(table.count(of: address(source)) == held.count { $0.source == source })
            }
        }
    }
}

@Suite("Turns of sources")
struct FairQueueTests {
    @Test("a source with many elements delays each of the others by one")
    func fair() {
        var queue = FairQueue<String>()
        let (crowd, ann, ben) = (IPAddress(ipv4: 1), IPAddress(ipv4: 2), IPAddress(ipv4: 3))
        for number in 0..<100 { queue.append("crowd \(number)", of: crowd) }
        queue.append("ann 0", of: ann)
        queue.append("ben 0", of: ben)
        queue.append("ann 1", of: ann)
        #expect(take(6, of: &queue) == ["crowd 0", "ann 0", "ben 0", "crowd 1", "ann 1", "crowd 2"])
        #expect(queue.count == 97)
        #expect(take(98, of: &queue) == (3..<100).map { "crowd \($0)" })
        #expect(queue.isEmpty)
        queue.append("again", of: crowd)
        #expect(take(1, of: &queue) == ["again"])
    }

    private func take(_ count: Int, of queue: inout FairQueue<String>) -> [String] {
        var taken: [String] = []
        for _ in 0..<count {
            if let next = queue.popFirst() { taken.append(next) }
        }
        return taken
    }
}

@Suite("Budgets of work")
struct WorkBudgetTests {
    @Test("what was spent beyond the share is owed")
    func debt() {
        var budget = WorkBudget(perSecond: 250_000_000, burst: 5_000_000)
        var now = Instant(nanoseconds: 1_000_000_000)
        var allowed = [budget.allowsMore(at: now)]
        budget.spend(15_000_000)
        for pause in [0, 40_000_000, 1_000_000] as [UInt64] {
            now = now.adding(nanoseconds: pause)
            allowed.append(budget.allowsMore(at: now))
        }
        #expect(allowed == [true, false, false, true])
    }

    @Test("no more than the burst is saved up")
    func burst() {
        var budget = WorkBudget(perSecond: 250_000_000, burst: 5_000_000)
        let now = Instant(nanoseconds: 60_000_000_000)
        let before = budget.allowsMore(at: now)
        budget.spend(5_000_000)
        let after = budget.allowsMore(at: now)
        #expect(before && !after)
    }
}
