import RTP
import Testing
import Wire

@Suite("Speakers and layers")
struct SelectionTests {
    private func at(_ milliseconds: Int) -> Instant { Instant(nanoseconds: UInt64(milliseconds) * 1_000_000) }

    /// Plays `levels` (dB below full scale per speaker) from `from` until `until`, in packets of 20 ms, and says who
    /// led and who was in after each 100 ms.
    @discardableResult
    private func play(
        _ ranking: inout SpeakerRanking, _ levels: [UInt32: UInt8], from: Int, until: Int,
        _ body: (SpeakerRanking, Instant) -> Void = { _, _ in }
    ) -> Int {
        var changes = 0
        for time in stride(from: from, to: until, by: 20) {
            for (id, level) in levels.sorted(by: { $0.key < $1.key }) {
                ranking.receive(AudioLevel(below: level, isVoice: level < 60), from: id, at: at(time))
            }
            guard time % 100 == 0 else { continue }
            changes += ranking.advance(to: at(time)) ? 1 : 0
            body(ranking, at(time))
        }
        return changes
    }

    @Test("the speaker changes when another is clearly louder for a while, and not for a cough")
    func speaker() {
        var ranking = SpeakerRanking()
        play(&ranking, [1: 30, 2: 90, 3: 127], from: 0, until: 1_000)
        #expect(ranking.speakers == [1])
        play(&ranking, [1: 30, 2: 20, 3: 127], from: 1_000, until: 1_200)
        #expect(ranking.speakers == [1], "a cough")
        play(&ranking, [1: 30, 2: 90, 3: 127], from: 1_200, until: 2_000)
        #expect(ranking.speakers == [1])
        play(&ranking, [1: 32, 2: 30, 3: 127], from: 2_000, until: 5_000)
        #expect(ranking.speakers == [1], "as loud as the speaker")
        let changes = play(&ranking, [1: 100, 2: 30, 3: 127], from: 5_000, until: 7_000)
        #expect(ranking.speakers == [2, 1] && changes == 1)
        play(&ranking, [1: 127, 2: 127, 3: 127], from: 7_000, until: 12_000)
        #expect(ranking.speakers == [2, 1], "in silence it stays")
        ranking.remove(2)
        #expect(ranking.speakers == [1] && ranking.loudness(of: 2) == 0)
    }

    @Test("the selection changes only with cause, and a muted voice yields")
    func loudest() {
        var ranking = SpeakerRanking()
        var selection = TopNSelector()
        var chosen: [UInt32] = []
        var changes = 0
        func choose(_ ranking: SpeakerRanking, _ now: Instant) {
            let next = selection.select(2, of: [1, 2, 3, 4], chosen: chosen, by: ranking, at: now)
            if next != chosen { changes += 1 }
            chosen = next
        }
        play(&ranking, [1: 127, 2: 127, 3: 30, 4: 35], from: 0, until: 1_000, choose)
        #expect(Set(chosen) == [3, 4], "whoever speaks takes the place of the silent")
        changes = 0
        play(&ranking, [1: 127, 2: 33, 3: 30, 4: 35], from: 1_000, until: 3_000, choose)
        #expect(changes == 0, "as loud as they")
        play(&ranking, [1: 127, 2: 15, 3: 30, 4: 35], from: 3_000, until: 4_000, choose)
        #expect(Set(chosen) == [3, 2] && changes == 1, "clearly louder than the weakest")
        // 3 sends nothing any more.
        play(&ranking, [1: 30, 2: 15], from: 4_000, until: 6_000, choose)
        #expect(Set(chosen) == [1, 2] && changes == 2)
        play(&ranking, [1: 127, 2: 127], from: 6_000, until: 9_000, choose)
        #expect(Set(chosen) == [1, 2] && changes == 2, "in silence they stay")
        chosen = selection.select(3, of: [4, 2], chosen: chosen, by: ranking, at: at(9_000))
        #expect(chosen == [2, 4], "who is gone is out, and room is used")
    }

    private static let video = LayerSelection.Demand(bitrates: [150_000, 500_000, 1_700_000])

    @Test("a layer steps down at once and up after a second of headroom")
    func layers() {
        var selection = LayerSelection()
        #expect(selection.select([Self.video], order: [0], available: 2_500_000, at: at(0)) == [2])
        #expect(selection.select([Self.video], order: [0], available: 300_000, at: at(100)) == [0])
        #expect(
            selection.select([Self.video], order: [0], available: 520_000, at: at(200)) == [0], "not enough to spare")
        #expect(selection.select([Self.video], order: [0], available: 600_000, at: at(300)) == [0])
        #expect(selection.select([Self.video], order: [0], available: 600_000, at: at(1_200)) == [0])
        #expect(selection.select([Self.video], order: [0], available: 600_000, at: at(1_300)) == [1])
        #expect(selection.select([Self.video], order: [0], available: 520_000, at: at(1_400)) == [1], "kept")
        #expect(selection.select([Self.video], order: [0], available: 100_000, at: at(1_500)) == [0], "never none")
        let unwanted = LayerSelection.Demand(bitrates: Self.video.bitrates, limit: -1)
        #expect(selection.select([unwanted], order: [0], available: 600_000, at: at(1_600)) == [nil])
        #expect(
            selection.select([Self.video], order: [0], available: 600_000, at: at(1_700)) == [1], "from nothing at once"
        )
        selection.reset(0)
        #expect(selection.select([Self.video], order: [0], available: 2_500_000, at: at(1_800)) == [2], "another track")
    }

    @Test("a step up that was reverted waits longer the next time")
    func waitGrows() {
        var selection = LayerSelection()
        var rises: [Int] = []
        var layer: Int? = 0
        _ = selection.select([Self.video], order: [0], available: 200_000, at: at(0))
        for time in stride(from: 0, to: 60_000, by: 100) {
            // The estimate falls whenever the higher layer is shown.
            let next = selection.select(
                [Self.video], order: [0], available: layer == 1 ? 300_000 : 700_000, at: at(time))[0]
            if next == 1, layer != 1 { rises.append(time) }
            layer = next
        }
        let waits = zip(rises, rises.dropFirst()).map { $1 - $0 }
        #expect(zip(waits, waits.dropFirst()).allSatisfy { $0 <= $1 + 200 })
        #expect(rises.count <= 6)
    }

    @Test("the longer wait after reverted steps ends when much more bandwidth is available")
    func recovery() {
        var selection = LayerSelection()
        var time = 0
        func layer(_ available: UInt64) -> Int? {
            time += 100
            return selection.select([Self.video], order: [0], available: available, at: at(time))[0]
        }
        // After the fifth time it waits for half a minute.
        for _ in 0..<5 {
            while layer(600_000) == 0 {}
            while layer(300_000) == 1 {}
        }
        for _ in 0..<30 { #expect(layer(850_000) == 0, "not so much more than 600,000") }
        #expect((0..<12).map { _ in layer(1_000_000) }.last == 1)
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
                    }, limit: Int.random(in: -1...3, using: &random))
            }
            let order = Array(demands.indices.reversed())
            let chosen = selection.select(demands, order: order, available: available, at: at(step * 500))
            var sum: UInt64 = 0
            for (demand, layer) in zip(demands, chosen) {
                guard let layer else { continue }
                #expect(demand.bitrates[layer] > 0 && layer <= demand.limit, "seed \(seed)")
                sum += demand.bitrates[layer]
            }
            let minBitrate = demands.reduce(0) { $0 + $1.minBitrate }
            #expect(sum <= max(available, minBitrate), "seed \(seed)")
            if minBitrate <= available { #expect(zip(demands, chosen).allSatisfy { $0.minBitrate == 0 || $1 != nil }) }
        }
    }

    @Test("the first in priority is raised first")
    func importance() {
        var selection = LayerSelection()
        #expect(selection.select([Self.video, Self.video], order: [1, 0], available: 700_000, at: at(0)) == [0, 1])
    }
}

@Suite("Videos that a link does not carry")
struct PausedVideoTests {
    /// How many are paused after each second, when the link is strained while fewer than `carried` are.
    private func counts(seconds: Int, of videoCount: Int, needs: (_ second: Int) -> Int) -> [Int] {
        var paused = PausedVideo()
        return (0..<seconds).map { second in
            for tenth in 0..<10 {
                paused.advance(
                    isStrained: paused.count < needs(second), videoCount: videoCount,
                    to: Instant(nanoseconds: UInt64(second * 10 + tenth) * 100_000_000))
            }
            return paused.count
        }
    }

    @Test("a video is paused after three seconds, and retried with growing intervals")
    func trials() {
        let counts = counts(seconds: 120, of: 3) { _ in 1 }
        #expect(counts.prefix(4) == [0, 0, 0, 1])
        #expect(counts.max() == 1)
        let back = counts.indices.dropFirst().filter { counts[$0] < counts[$0 - 1] }
        #expect(back.count == 3, "\(back)")
        #expect(zip(back, back.dropFirst()).map { $1 - $0 } == zip(back, back.dropFirst()).map { $1 - $0 }.sorted())
    }

    @Test("a short strain pauses none, and no more than all are paused")
    func bounds() {
        #expect(counts(seconds: 30, of: 2) { $0 % 5 < 2 ? 2 : 0 }.allSatisfy { $0 == 0 })
        #expect(counts(seconds: 60, of: 2) { _ in 9 }.last == 2)
        #expect(counts(seconds: 60, of: 0) { _ in 9 }.last == 0)
    }

    @Test("all resume once the link carries them")
    func recovery() {
        #expect(counts(seconds: 60, of: 3) { $0 < 20 ? 3 : 0 }.last == 0)
    }
}
