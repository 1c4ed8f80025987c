import RTP
import Testing
import Wire

@Suite("Replay window and packet index")
struct ReplayWindowTests {
    @Test("a window gives the same verdicts as a set of all indices", arguments: 1...20)
    func againstASet(seed: Int) {
        var generator = SeededRandom(seed: UInt64(seed))
        var window = ReplayWindow()
        var seen: Set<UInt64> = []
        var highest: UInt64 = 0
        for _ in 0..<5000 {
            let index: UInt64
            switch Int.random(in: 0...9, using: &generator) {
            case 0: index = highest + .random(in: 0...3000, using: &generator)
            case 1...5: index = highest + 1
            default: index = highest - min(highest, .random(in: 0...2200, using: &generator))
            }
            let expected: ReplayWindow.Verdict =
                index + 2048 <= highest ? .tooOld : seen.contains(index) ? .replayed : .new
            #expect(window.verdict(on: index) == expected, "seed \(seed), index \(index), highest \(highest)")
            guard expected == .new else { continue }
            window.record(index)
            seen.insert(index)
            highest = max(highest, index)
            #expect(window.highest == highest)
        }
    }

    @Test("an index that was not recorded is new, index 0 included")
    func start() {
        var window = ReplayWindow()
        #expect(window.verdict(on: 0) == .new)
        window.record(0)
        #expect(window.verdict(on: 0) == .replayed)
        window.record((1 << 48) - 1)
        #expect(window.verdict(on: (1 << 48) - 1) == .replayed)
        #expect(window.verdict(on: 0) == .tooOld)
    }

    @Test("the index closest to the highest is chosen")
    func estimates() {
        #expect(PacketIndex.estimate(5, highest: 0) == 5)
        // Before the first wrap there is no round before.
        #expect(PacketIndex.estimate(65_535, highest: 3) == 65_535)
        #expect(PacketIndex.estimate(0, highest: 65_535) == 65_536)
        #expect(PacketIndex.estimate(65_535, highest: 65_536) == 65_535)
        #expect(PacketIndex.estimate(32_768, highest: 65_536) == 65_536 + 32_768)
        #expect(PacketIndex.estimate(32_769, highest: 65_536) == 32_769)
        #expect(PacketIndex.estimate(0, highest: PacketIndex.limit - 1) == PacketIndex.limit)
    }

    @Test("any index within half a round of the highest is found by its sequence number", arguments: 1...10)
    func estimatesNearby(seed: Int) {
        var generator = SeededRandom(seed: UInt64(seed))
        for _ in 0..<10_000 {
            let highest = UInt64.random(in: 65_536..<(1 << 47), using: &generator)
            let index = highest - 32_767 + .random(in: 0...65_534, using: &generator)
            #expect(PacketIndex.estimate(UInt16(truncatingIfNeeded: index), highest: highest) == index)
        }
    }

    private func rtpHeader(_ bytes: [UInt8]) -> SecuredRTPHeader? {
        SecuredRTPHeader(bytes.span.bytes)
    }

    private func rtcpHeader(_ bytes: [UInt8]) -> SecuredRTCPHeader? {
        SecuredRTCPHeader(bytes.span.bytes)
    }

    @Test("headers end where their sources and extensions end")
    func headers() {
        let plain: [UInt8] = [0x80, 96, 1, 2, 0, 0, 0, 0, 0xDE, 0xAD, 0xBE, 0xEF]
        #expect(
            rtpHeader(plain).map { [$0.byteCount, Int($0.sequence), Int($0.source)] } == [
                12, 0x102, 0xDEAD_BEEF,
            ])
        let full =
            [0x9F] + plain.dropFirst() + [UInt8](repeating: 0, count: 60) + [0xBE, 0xDE, 0, 2]
            + [UInt8](repeating: 1, count: 8)
        #expect(rtpHeader(full)?.byteCount == full.count)
        for count in 0..<full.count {
            #expect(rtpHeader(Array(full.prefix(count))) == nil)
        }
        #expect(rtpHeader(([0x40] + plain.dropFirst())) == nil)
        #expect(rtcpHeader(plain)?.source == 0)
        #expect(rtcpHeader(Array(plain.prefix(7))) == nil)
    }
}
