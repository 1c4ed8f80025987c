import FuzzInput
import RTP
import Wire

/// Bytes as the packets of a voice, with any numbers, timestamps and arrivals: they leave the jitter buffer in order
/// and once, and a recording is about as long as the time that passed, whatever the packets say.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzPlayout(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = FuzzInput(UnsafeRawBufferPointer(start: start, count: count))
    var harness = PlayoutHarness()
    var (sequence, timestamp) = (UInt16(0), UInt32(0))
    while !input.isEmpty, harness.inserted < 400 {
        let choice = input.byte()
        let value = UInt32(input.byte())
        // Most follow the one before, so that what goes wrong goes wrong among others.
        switch choice & 7 {
        case 0: sequence &+= UInt16(value) << 8
        case 1: sequence &-= UInt16(value)
        case 2: timestamp &+= value << 24
        case 3: timestamp &-= value << 8
        case 4: harness.now = harness.now.adding(nanoseconds: UInt64(value) * 40_000_000)
        default: harness.now = harness.now.adding(nanoseconds: UInt64(value) * 200_000)
        }
        // 20 ms, and now and then any packet that there is.
        let payload: [UInt8] = choice & 0x80 == 0 ? [0x78, choice] : [input.byte(), input.byte()]
        harness.insert(
            AudioPacket(sequence: sequence, timestamp: timestamp, arrival: harness.now, payload: payload))
        sequence &+= 1
        timestamp &+= 960
        harness.pass()
    }
    harness.finish()
    return 0
}

private struct PlayoutHarness {
    private static let begin = Instant(nanoseconds: 1_000_000_000)

    var now = Self.begin
    private(set) var inserted = 0
    private var passed = 0
    private var length: UInt64 = 0
    private var placed = 0
    private var isAfterLoss = false
    private var buffer = JitterBuffer(maxWait: 100_000_000, capacity: 20)
    private var timeline = AudioTimeline(begin: Self.begin)

    mutating func insert(_ packet: AudioPacket) {
        inserted += 1
        buffer.insert(packet)
    }

    mutating func pass() {
        while let output = buffer.next(at: now) { take(output) }
        if let deadline = buffer.deadline, deadline <= now { fatalError("something waits for too long") }
    }

    mutating func finish() {
        while let output = buffer.drain() { take(output) }
        if passed + buffer.lateCount + buffer.repeatedCount != inserted { fatalError("a packet is gone") }
        check(timeline.finish(at: now))
        if placed > passed { fatalError("a packet came twice") }
    }

    private mutating func take(_ output: JitterBuffer.Output) {
        switch output {
        case .lost(let count):
            if count <= 0 { fatalError("nothing is lost") }
            isAfterLoss = true
        case .packet(let packet):
            passed += 1
            check(timeline.take(packet, isAfterLoss: isAfterLoss))
            isAfterLoss = false
        }
    }

    private mutating func check(_ segments: [AudioTimeline.Segment]) {
        for segment in segments {
            switch segment {
            case .silence(let count), .lost(let count):
                if count == 0 || count % 120 != 0 { fatalError("no length of a gap") }
                length += count
            case .packet(let packet, let duration):
                if OpusPayload(packet.payload.span.bytes)?.duration != duration { fatalError("another duration") }
                length += UInt64(duration)
                placed += 1
            }
        }
        if length != timeline.end { fatalError("the segments are not as long as the recording") }
        // A second that it may be ahead, a packet of 120 ms, and what is tolerated.
        let most = now.nanoseconds(since: Self.begin) / 1_000 * 48 / 1_000 + 48_000 + 5_760 + 1_440
        if length > most { fatalError("longer than the time that passed") }
    }
}
