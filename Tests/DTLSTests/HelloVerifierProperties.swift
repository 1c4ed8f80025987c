import DTLS
import Testing
import Wire

/// Random cuts and random bytes. A failure prints its seed.
@Suite("The front door under random datagrams")
struct HelloDoorProperties {
    @Test("however a hello is cut, mixed up, doubled and overlapped, it comes out as it was", arguments: 1...200)
    func cuts(seed: Int) throws {
        var chance = SeededRandom(seed: UInt64(seed))
        let lab = try DoorLab()
        let rest = (0..<Int.random(in: 0...2000, using: &chance)).map { _ in UInt8.random(in: 0...255, using: &chance) }
        let cookie = try lab.cookie(for: Hello.message(rest: rest))
        let message = Hello.message(cookie: cookie, rest: rest)

        // Cut, then some overlapping pieces more, the first one sent first: without it the others are strangers'.
        var cuts = Set(
            (0..<Int.random(in: 0...6, using: &chance)).map { _ in
                Int.random(in: 60...message.count, using: &chance)
            })
        cuts.formUnion([0, message.count])
        let edges = cuts.sorted()
        var pieces = zip(edges, edges.dropFirst()).map { $0..<$1 }
        for _ in 0..<Int.random(in: 0...5, using: &chance) {
            let start = Int.random(in: 60...message.count, using: &chance)
            pieces.append(start..<Int.random(in: start...message.count, using: &chance))
        }
        pieces += pieces.filter { _ in Bool.random(using: &chance) }
        let first = pieces.removeFirst()
        pieces.shuffle(using: &chance)

        var found: ProvenHello?
        // A second and third time for what a completed hello may have left behind: the client's retransmission.
        for (index, piece) in ([first] + pieces).enumerated() where found == nil {
            let datagram = Hello.fragment(of: message, piece, messageSequence: 1, sequence: UInt64(index + 1))
            if case .proven(let hello) = lab.receive(datagram) { found = hello }
        }
        let hello = try #require(found, "seed \(seed)")
        #expect(Array(hello.record.dropFirst(25)) == message, "seed \(seed)")
        var whole = Hello.fragment(of: message, messageSequence: 1)
        whole[2] = 0xFF
        #expect(
            Array(hello.record.prefix(3) + hello.record.dropFirst(11)) == Array(whole.prefix(3) + whole.dropFirst(11)))
        #expect(lab.door.assemblyCount == 0)
    }

    @Test("random and nearly right bytes leave nothing behind", arguments: 1...50)
    func junk(seed: Int) throws {
        var chance = SeededRandom(seed: UInt64(seed))
        let lab = try DoorLab()
        for _ in 0..<500 {
            var datagram: [UInt8]
            switch Int.random(in: 0...2, using: &chance) {
            case 0:
                datagram = (0..<Int.random(in: 0...300, using: &chance)).map { _ in .random(in: 0...255, using: &chance)
                }
            case 1:
                datagram = Hello.captured
            default:
                let message = Hello.message(cookie: [UInt8](repeating: 5, count: 20), rest: [1, 2, 3])
                let cut = Int.random(in: 0...message.count, using: &chance)
                datagram = Hello.fragment(of: message, 0..<cut, messageSequence: 1)
                datagram += Hello.fragment(of: message, cut..<message.count, messageSequence: 1)
            }
            for _ in 0..<Int.random(in: 0...8, using: &chance) where !datagram.isEmpty {
                datagram[Int.random(in: 0..<datagram.count, using: &chance)] = .random(in: 0...255, using: &chance)
            }
            if case .proven = lab.receive(datagram) { Issue.record("seed \(seed): let in without a cookie") }
            #expect(lab.door.assemblyCount == 0, "seed \(seed)")
        }
    }
}
