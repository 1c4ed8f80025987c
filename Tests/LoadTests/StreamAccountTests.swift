import RTP
import Testing
import Wire

@testable import switchboard_load

@Suite("Packet counts of a load")
struct StreamAccountTests {
    private static func account(_ numbers: [UInt32], source: UInt32 = 1) -> StreamAccount {
        var account = StreamAccount()
        for number in numbers {
            _ = account.record(MediaMark(source: source, number: number, sentAt: 0), isRepair: false)
        }
        return account
    }

    @Test("all packets between the first and the last are expected")
    func loss() {
        let whole = Self.account([5, 6, 7, 8])
        #expect(whole.packets == 4 && whole.lost == 0 && whole.loss == 0)
        let holes = Self.account([5, 7, 8, 12])
        #expect(holes.packets == 4 && holes.lost == 4 && holes.loss == 0.5)
        #expect(StreamAccount().loss == 0)
    }

    @Test("late and duplicate packets are distinguished")
    func order() {
        let account = Self.account([1, 3, 2, 3, 2, 4])
        #expect(account.packets == 4 && account.lost == 0 && account.reordered == 1 && account.duplicates == 2)
        let before = Self.account([10, 9, 11])
        #expect(before.packets == 2 && before.lost == 0, "packets from before the first do not count")
    }

    @Test("a repair fills a hole")
    func repair() {
        var account = Self.account([1, 2, 4])
        #expect(account.lost == 1)
        let isNew = account.record(MediaMark(source: 1, number: 3, sentAt: 0), isRepair: true)
        let isNewAgain = account.record(MediaMark(source: 1, number: 3, sentAt: 0), isRepair: true)
        #expect(isNew && !isNewAgain && account.lost == 0 && account.repaired == 1 && account.reordered == 0)
    }

    @Test("a retransmission starts no count, and one that probes the path is no duplicate")
    func repetition() {
        var account = StreamAccount()
        for number in [3, 4] as [UInt32] {
            _ = account.record(MediaMark(source: 1, number: number, sentAt: 0), isRepair: true)
        }
        #expect(account == StreamAccount())
        for number in [900, 901] as [UInt32] {
            _ = account.record(MediaMark(source: 1, number: number, sentAt: 0), isRepair: false)
        }
        let isOld = !account.record(MediaMark(source: 1, number: 5, sentAt: 0), isRepair: true)
        let isKnown = !account.record(MediaMark(source: 1, number: 900, sentAt: 0), isRepair: true)
        let isElsewhere = !account.record(MediaMark(source: 7, number: 902, sentAt: 0), isRepair: true)
        #expect(isOld && isKnown && isElsewhere)
        #expect(account.packets == 2 && account.lost == 0 && account.duplicates == 0 && account.repaired == 0)
    }

    @Test("another source in the same stream restarts the count")
    func sources() {
        var account = Self.account([1, 2, 4])
        for number in [900, 901, 903] as [UInt32] {
            _ = account.record(MediaMark(source: 2, number: number, sentAt: 0), isRepair: false)
        }
        #expect(account.packets == 6 && account.lost == 2)
    }

    @Test("a seeded shuffle with losses is counted as it was made", arguments: [1, 2, 3, 4, 5] as [UInt64])
    func shuffle(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var numbers = Array(0..<20_000 as Range<UInt32>)
        numbers = numbers.filter { $0 == 0 || $0 == 19_999 || UInt8.random(in: 0...255, using: &random) > 10 }
        let sent = numbers
        // Swaps packets within the window.
        for index in stride(from: 1, to: numbers.count - 50, by: 40) {
            numbers.swapAt(index, index + Int.random(in: 1..<40, using: &random))
        }
        let account = Self.account(numbers)
        #expect(account.packets == UInt64(sent.count) && account.lost == 20_000 - UInt64(sent.count))
        #expect(account.duplicates == 0 && account.reordered > 0)
    }

    @Test("a gap larger than the window is only lost")
    func gap() {
        let account = Self.account([0, 1_000_000, 999_999])
        #expect(account.packets == 3 && account.lost == 999_998)
    }

    @Test("the headers of synthetic packets are valid")
    func clip() throws {
        let opus = MediaClip.opus()
        let audio = OpusPayload(opus.span.bytes)
        #expect(audio?.duration == 960 && audio?.isSilence == false && opus.count == MediaClip.opusByteCount)
        for (isKeyFrame, isStart) in [(true, true), (false, true), (true, false)] {
            var bytes = MediaClip.noise(200)
            var span = bytes.mutableSpan
            var target = span.mutableBytes
            MediaClip.writeVP8(
                isStart: isStart, isKeyFrame: isKeyFrame, picture: 0x1234, frame: 4000, into: &target, at: 0)
            MediaMark(source: 3, number: 4, sentAt: 5).write(into: &target, endingAt: 200)
            let descriptor = VP8Descriptor(target.bytes)
            #expect(descriptor?.isStart == isStart && descriptor?.isKeyFrame == (isStart && isKeyFrame))
            #expect(descriptor?.pictureID == 0x1234)
            let mark = MediaMark(target.bytes)
            #expect(mark == MediaMark(source: 3, number: 4, sentAt: 5))
        }
        #expect(MediaMark(opus.span.bytes) == nil)
    }

    @Test("frames are split into packets that fit", arguments: [1, 40, 500, 1095, 1096, 1097, 4166, 20_000, 1_000_000])
    func split(frame: Int) {
        let (count, payload) = MediaClip.split(frame)
        #expect(payload <= MediaClip.maxPayloadByteCount && payload >= MediaMark.byteCount + 14)
        #expect(count * (payload - 4) > frame - count, "nothing of the frame is left out but a part of a byte each")
    }
}
