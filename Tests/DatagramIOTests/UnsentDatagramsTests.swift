import CLinux
import Testing

@testable import DatagramIO

/// What a full socket is owed, without a socket: each datagram is known by its first byte.
@Suite("Unsent datagrams")
struct UnsentDatagramsTests {
    private static let size = 100

    private func append(_ number: UInt8, isVideo: Bool, to queue: UnsentDatagrams, size: Int = Self.size) -> Int {
        let bytes = [UInt8](repeating: number, count: size)
        return bytes.withUnsafeBytes { queue.append($0, isVideo: isVideo, name: sockaddr_in6(), nameSize: 0) }
    }

    /// The numbers of those that leave, `limit` of them.
    private func drain(_ queue: UnsentDatagrams, limit: Int = .max) -> [UInt8] {
        var numbers: [UInt8] = []
        queue.drain { bytes, count, _, _ in
            guard numbers.count < limit else { return .wouldBlock }
            numbers.append(bytes.load(as: UInt8.self))
            #expect(count == Self.size)
            return .done
        }
        return numbers
    }

    @Test("they are sent in order, and the rest keeps waiting")
    func order() {
        let queue = UnsentDatagrams(0, byteLimit: 1_000)
        for number in 0..<5 as Range<UInt8> {
            let dropped = append(number, isVideo: number.isMultiple(of: 2), to: queue)
            #expect(dropped == 0)
        }
        #expect(drain(queue, limit: 2) == [0, 1])
        #expect((queue.byteCount, queue.isEmpty) == (300, false))
        #expect(drain(queue) == [2, 3, 4])
        #expect((queue.byteCount, queue.isEmpty) == (0, true))
    }

    @Test("beyond the limit the oldest video is dropped, and audio stays")
    func oldestVideo() {
        let queue = UnsentDatagrams(0, byteLimit: 1_000)
        for number in 0..<10 as Range<UInt8> {
            let dropped = append(number, isVideo: [2, 5, 8].contains(number), to: queue)
            #expect(dropped == 0)
        }
        let droppedForSound = append(10, isVideo: false, to: queue)
        let droppedForVideo = append(11, isVideo: true, to: queue)
        #expect(droppedForSound == 1 && droppedForVideo == 1)
        #expect(queue.byteCount == 1_000)
        #expect(drain(queue) == [0, 1, 3, 4, 6, 7, 8, 9, 10, 11])
    }

    @Test("with audio only, the oldest audio is dropped")
    func onlyAudio() {
        let queue = UnsentDatagrams(0, byteLimit: 300)
        var dropped = 0
        for number in 0..<8 as Range<UInt8> { dropped += append(number, isVideo: false, to: queue) }
        #expect(dropped == 5)
        #expect(drain(queue) == [5, 6, 7])
    }

    @Test("the limit holds for any sequence")
    func bound() {
        let queue = UnsentDatagrams(0, byteLimit: 2_000)
        var (kept, dropped, sent) = (0, 0, 0)
        var state: UInt64 = 9
        for step in 0..<20_000 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            dropped += append(UInt8(truncatingIfNeeded: step), isVideo: state >> 60 > 4, to: queue)
            kept += 1
            #expect(queue.byteCount <= 2_000)
            if state >> 40 & 3 == 0 { sent += drain(queue, limit: Int(state >> 50 & 7)).count }
        }
        sent += drain(queue).count
        #expect(queue.isEmpty && kept == dropped + sent)
    }

    @Test("a datagram larger than the limit is dropped alone")
    func tooLarge() {
        let queue = UnsentDatagrams(0, byteLimit: 50)
        let dropped = append(1, isVideo: false, to: queue)
        #expect(dropped == 1)
        #expect(queue.byteCount == 0 && drain(queue).isEmpty)
    }
}
