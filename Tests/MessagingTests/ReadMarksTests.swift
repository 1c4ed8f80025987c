import TestSupport
import Testing
import Wire

@testable import Messaging

@Suite("Marks of what was read")
struct ReadMarksTests {
    @Test("marks only rise, and not beyond what may be seen")
    func rising() {
        var marks = ReadMarks()
        var rose = [marks.raise(delivered: 5, newest: 9, showsReceipts: true)]
        rose.append(marks.raise(delivered: 3, newest: 9, showsReceipts: true))
        rose.append(marks.raise(read: 4, newest: 9, showsReceipts: true))
        #expect((marks.read, marks.delivered) == (4, 5))
        rose.append(marks.raise(read: 1_000, newest: 9, showsReceipts: true))
        #expect((marks.read, marks.delivered) == (9, 9), "what was read was delivered")
        rose.append(marks.raise(read: -5, delivered: .min, newest: 9, showsReceipts: true))
        // Who was removed sees fewer; what was read stays read.
        rose.append(marks.raise(read: 9, newest: 3, showsReceipts: true))
        #expect(marks.read == 9)
        #expect(rose == [true, false, true, true, false, false])
    }

    @Test("what was read while receipts were off is never shown")
    func receipts() {
        var marks = ReadMarks()
        marks.raise(read: 3, newest: 100, showsReceipts: true)
        marks.raise(read: 5, newest: 100, showsReceipts: true)
        marks.raise(read: 20, newest: 100, showsReceipts: false)
        marks.raise(read: 25, newest: 100, showsReceipts: true)
        #expect(marks.shown == [.init(from: 0, to: 5), .init(from: 20, to: 25)])
        #expect(marks.delivered == 25)
        marks.raise(delivered: 40, newest: 100, showsReceipts: false)
        #expect(marks.delivered == 25)
        #expect([1, 5, 21, 25].allSatisfy(marks.isShownAsRead) && ![6, 20, 26].contains(where: marks.isShownAsRead))
    }

    @Test("who is blocked shows nothing, and does not learn of it by their own marks")
    func blocked() {
        var (free, blocked) = (ReadMarks(read: 1, delivered: 1), ReadMarks(read: 1, delivered: 1))
        for (read, delivered) in [(Int64(0), Int64(4)), (6, 0), (2, 3), (7, 99)] {
            free.raise(read: read, delivered: delivered, newest: 9, showsReceipts: true)
            blocked.raise(read: read, delivered: delivered, newest: 9, showsReceipts: true, isBlocked: true)
            #expect((free.read, free.received) == (blocked.read, blocked.received) && free.delivered == free.received)
        }
        #expect(blocked.delivered == 1 && blocked.shown.isEmpty && blocked.received == 9)
    }

    @Test("who comes later, or returns, is not shown to have read what was before")
    func later() {
        var marks = ReadMarks()
        marks.raise(read: 60, after: 50, newest: 70, showsReceipts: true)
        marks.raise(read: 65, after: 50, newest: 70, showsReceipts: true)
        // Back after a time elsewhere.
        marks.raise(read: 95, after: 90, newest: 95, showsReceipts: true)
        #expect(marks.shown == [.init(from: 50, to: 65), .init(from: 90, to: 95)])
    }

    @Test("nothing is shown that was not read with receipts on, whatever happens")
    func model() {
        let seed = freshSeed()
        var random = SeededRandom(seed: seed)
        for _ in 0..<200 {
            var marks = ReadMarks()
            var shown: Set<Int64> = []
            for _ in 0..<100 {
                let number = Int64.random(in: 0...400, using: &random)
                let shows = Bool.random(using: &random)
                let before = marks
                marks.raise(read: number, newest: 380, showsReceipts: shows)
                if shows, marks.read > before.read { shown.formUnion((before.read + 1)...marks.read) }
                #expect(marks.read >= before.read && marks.delivered >= before.delivered, "seed \(seed)")
                #expect(marks.delivered == marks.shown.last?.to ?? 0, "seed \(seed)")
            }
            let advertised = Set((1...400).filter { marks.isShownAsRead(Int64($0)) }.map(Int64.init))
            #expect(advertised.isSubset(of: shown), "seed \(seed)")
            if marks.shown.count < ReadMarks.maxShown { #expect(advertised == shown, "seed \(seed)") }
        }
    }
}
