import DTLS
import TestSupport
import Testing
import Wire

/// Random cuts and random bytes. A failure prints its seed.
@Suite("The hello verifier under random datagrams")
struct HelloVerifierProperties {
    @Test("however a hello is fragmented, reordered, repeated and overlapped, it is reassembled", arguments: 1...200)
    func cuts(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        let harness = try HelloVerifierHarness()
        let rest = random.bytes(Int.random(in: 0...2000, using: &random))
        let cookie = try harness.cookie(for: Hello.message(rest: rest))
        let message = Hello.message(cookie: cookie, rest: rest)

        // Fragments, then some overlapping ones, the first one sent first: without it the others are dropped.
        var cuts = Set(
            (0..<Int.random(in: 0...6, using: &random)).map { _ in
                Int.random(in: 60...message.count, using: &random)
            })
        cuts.formUnion([0, message.count])
        let edges = cuts.sorted()
        var ranges = zip(edges, edges.dropFirst()).map { $0..<$1 }
        for _ in 0..<Int.random(in: 0...5, using: &random) {
            let start = Int.random(in: 60...message.count, using: &random)
            ranges.append(start..<Int.random(in: start...message.count, using: &random))
        }
        ranges += ranges.filter { _ in Bool.random(using: &random) }
        let first = ranges.removeFirst()
        ranges.shuffle(using: &random)

        var found: VerifiedHello?
        // A second and third time for what a completed hello may have left behind: the client's retransmission.
        for (index, range) in ([first] + ranges).enumerated() where found == nil {
            let datagram = Hello.fragment(of: message, range, messageSequence: 1, sequence: UInt64(index + 1))
            if case .verified(let hello) = harness.receive(datagram) { found = hello }
        }
        let hello = try #require(found, "seed \(seed)")
        #expect(Array(hello.record.dropFirst(25)) == message, "seed \(seed)")
        var whole = Hello.fragment(of: message, messageSequence: 1)
        whole[2] = 0xFF
        #expect(
            Array(hello.record.prefix(3) + hello.record.dropFirst(11)) == Array(whole.prefix(3) + whole.dropFirst(11)))
        #expect(harness.verifier.assemblyCount == 0)
    }

    @Test("random and nearly right bytes leave nothing behind", arguments: 1...50)
    func junk(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        let harness = try HelloVerifierHarness()
        for _ in 0..<500 {
            var datagram: [UInt8]
            switch Int.random(in: 0...2, using: &random) {
            case 0:
                datagram = random.bytes(Int.random(in: 0...300, using: &random))
            case 1:
                datagram = Hello.captured
            default:
                let message = Hello.message(cookie: [UInt8](repeating: 5, count: 20), rest: [1, 2, 3])
                let split = Int.random(in: 0...message.count, using: &random)
                datagram = Hello.fragment(of: message, 0..<split, messageSequence: 1)
                datagram += Hello.fragment(of: message, split..<message.count, messageSequence: 1)
            }
            for _ in 0..<Int.random(in: 0...8, using: &random) where !datagram.isEmpty {
                datagram[Int.random(in: 0..<datagram.count, using: &random)] = .random(in: 0...255, using: &random)
            }
            if case .verified = harness.receive(datagram) { Issue.record("seed \(seed): let in without a cookie") }
            #expect(harness.verifier.assemblyCount == 0, "seed \(seed)")
        }
    }
}
