import RTP
import Testing
import Wire

@Suite("Speakers and layers")
struct SelectionTests {
    private func at(_ milliseconds: Int) -> Instant { Instant(nanoseconds: UInt64(milliseconds) * 1_000_000) }

    /// Plays `levels` (dB below full scale per speaker) from `from` until `until`, in packets of 20 ms.
    private func play(
        _ ranking: inout SpeakerRanking, _ levels: [UInt32: UInt8], from: Int, until: Int
    ) -> [SpeakerRanking.Change] {
        var changes: [SpeakerRanking.Change] = []
        for time in stride(from: from, to: until, by: 20) {
            for (id, level) in levels.sorted(by: { $0.key < $1.key }) {
                ranking.receive(AudioLevel(below: level, isVoice: level < 60), from: id, at: at(time))
            }
            if time % 100 == 0 { changes.append(ranking.advance(to: at(time))) }
        }
        return changes.filter { $0 != SpeakerRanking.Change() }
    }

    @Test("the speaker changes when another is clearly louder for a while, and not for a cough")
    func speaker() {
        var ranking = SpeakerRanking(limit: 3)
        _ = play(&ranking, [1: 30, 2: 90, 3: 127], from: 0, until: 1_000)
        #expect(ranking.speaker == 1)
        _ = play(&ranking, [1: 30, 2: 20, 3: 127], from: 1_000, until: 1_200)
        #expect(ranking.speaker == 1, "a cough")
        _ = play(&ranking, [1: 30, 2: 90, 3: 127], from: 1_200, until: 2_000)
        #expect(ranking.speaker == 1)
        _ = play(&ranking, [1: 32, 2: 30, 3: 127], from: 2_000, until: 5_000)
        #expect(ranking.speaker == 1, "as loud as the speaker")
        _ = play(&ranking, [1: 100, 2: 30, 3: 127], from: 5_000, until: 7_000)
        #expect(ranking.speaker == 2)
        _ = play(&ranking, [1: 127, 2: 127, 3: 127], from: 7_000, until: 12_000)
        #expect(ranking.speaker == 2, "in silence it stays")
    }

    @Test("the loudest change places only with cause, and a muted one fades")
    func loudest() {
        var ranking = SpeakerRanking(limit: 2)
        _ = play(&ranking, [1: 30, 2: 35, 3: 127, 4: 127], from: 0, until: 1_000)
        #expect(Set(ranking.loudest) == [1, 2])
        let idle = play(&ranking, [1: 30, 2: 35, 3: 33, 4: 127], from: 1_000, until: 3_000)
        #expect(idle.allSatisfy { !$0.loudest })
        // 2 sends nothing any more.
        _ = play(&ranking, [1: 30, 3: 33], from: 3_000, until: 5_000)
        #expect(Set(ranking.loudest) == [1, 3])
        #expect(ranking.remove(1) == SpeakerRanking.Change(speaker: true, loudest: true))
        #expect(ranking.loudest == [3])
        #expect(ranking.speaker == nil)
    }

    private static let video = LayerSelection.Demand(bitrates: [150_000, 500_000, 1_700_000])

    @Test("a layer falls at once and rises after a second of room")
    func layers() {
        var selection = LayerSelection()
        #expect(selection.select([Self.video], available: 2_500_000, at: at(0)) == [2])
        #expect(selection.select([Self.video], available: 300_000, at: at(100)) == [0])
        #expect(selection.select([Self.video], available: 520_000, at: at(200)) == [0], "not enough to spare")
        #expect(selection.select([Self.video], available: 600_000, at: at(300)) == [0])
        #expect(selection.select([Self.video], available: 600_000, at: at(1_200)) == [0])
        #expect(selection.select([Self.video], available: 600_000, at: at(1_300)) == [1])
        #expect(selection.select([Self.video], available: 520_000, at: at(1_400)) == [1], "kept")
        #expect(selection.select([Self.video], available: 100_000, at: at(1_500)) == [nil])
        #expect(selection.select([Self.video], available: 600_000, at: at(1_600)) == [1], "from nothing at once")
    }

    @Test("a step up that was taken back waits longer the next time")
    func patience() {
        var selection = LayerSelection()
        var rises: [Int] = []
        var layer: Int? = 0
        _ = selection.select([Self.video], available: 200_000, at: at(0))
        for time in stride(from: 0, to: 60_000, by: 100) {
            // The estimate falls whenever the higher layer is shown.
            let next = selection.select([Self.video], available: layer == 1 ? 300_000 : 700_000, at: at(time))[0]
            if next == 1, layer != 1 { rises.append(time) }
            layer = next
        }
        let waits = zip(rises, rises.dropFirst()).map { $1 - $0 }
        #expect(zip(waits, waits.dropFirst()).allSatisfy { $0 <= $1 + 200 })
        #expect(rises.count <= 6)
    }

    @Test("several slots share, the first comes first, limits and layers that are not sent count", arguments: 0..<50)
    func sharing(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        var selection = LayerSelection()
        for step in 0..<300 {
            let available = UInt64.random(in: 0...8_000_000, using: &random)
            let demands = (0..<Int.random(in: 1...5, using: &random)).map { _ in
                LayerSelection.Demand(
                    bitrates: (0..<3).map { layer in
                        Int.random(in: 0..<5, using: &random) == 0
                            ? 0 : UInt64.random(in: 50_000...200_000, using: &random) << UInt64(layer * 2)
                    }, limit: Int.random(in: 0...3, using: &random))
            }
            let chosen = selection.select(demands, available: available, at: at(step * 500))
            var sum: UInt64 = 0
            for (demand, layer) in zip(demands, chosen) {
                guard let layer else { continue }
                #expect(demand.bitrates[layer] > 0 && layer <= demand.limit, "seed \(seed)")
                sum += demand.bitrates[layer]
            }
            #expect(sum <= available, "seed \(seed)")
        }
    }
}
