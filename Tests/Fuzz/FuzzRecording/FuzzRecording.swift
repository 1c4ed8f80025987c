import Audio
import Containers
import FuzzInput
import RTP
import Wire

/// Bytes as a voice that is recorded: packets with any numbers, timestamps, contents and arrivals, in between time that
/// passes and pages that are taken, and an end that may come twice. Whatever comes, the file is whole, holds what the
/// recording says that it holds, is as long as the time that passed, and at no moment lacks more than a second.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzRecording(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = FuzzInput(UnsafeRawBufferPointer(start: start, count: count))
    var source = Source()
    let first = source.next(&input)
    var disk = Disk(first)
    while !input.isEmpty, source.sentCount < 400 {
        let packet = source.next(&input)
        disk.take(packet)
        // The recorder polls now and then, and may see a later time than the packets.
        if input.byte() & 3 == 0 { disk.write(at: source.now, isInterrupted: input.byte() & 15 == 0) }
    }
    disk.finish(at: source.now)
    // Who comes too late changes nothing.
    disk.recording.take(source.next(&input))
    disk.recording.advance(to: source.now)
    disk.recording.finish(at: source.now)
    if !disk.recording.takePages().isEmpty { fatalError("more after the end") }
    disk.check(from: first.arrival, to: disk.end)
    return 0
}

/// Who sends, and the clocks on both sides.
private struct Source {
    /// Ten minutes: what is filled is written and read, which would be all that a run does.
    private static let latest: UInt64 = 600_000_000_000

    private(set) var now = Instant(nanoseconds: 1_000_000_000)
    private(set) var sentCount = 0
    private var sequence = UInt16(0)
    private var timestamp = UInt32(0)

    /// Most follow the one before, so that what goes wrong goes wrong among others.
    mutating func next(_ input: inout FuzzInput) -> AudioPacket {
        let choice = input.byte()
        var arrival = now
        if choice & 0x40 != 0 {
            let value = input.byte()
            switch choice & 7 {
            case 0: sequence &+= UInt16(value) << 8
            case 1: sequence &+= UInt16(bitPattern: Int16(Int8(bitPattern: value)))
            case 2: timestamp &+= UInt32(value) << 24
            case 3: timestamp &+= UInt32(bitPattern: Int32(Int8(bitPattern: value)) * 480)
            case 4: pass(UInt64(value) * 40_000_000)
            // Minutes of mute.
            case 5: pass(UInt64(value) * 500_000_000)
            // It was there long before it was taken.
            case 6: arrival = Instant(nanoseconds: now.nanoseconds &- min(UInt64(value) * 10_000_000, now.nanoseconds))
            default: pass(UInt64(value) * 200_000)
            }
        } else {
            pass(20_000_000)
            arrival = now
        }
        // 20 ms, and now and then any packet that there is.
        let payload = choice & 0x80 == 0 ? [0x78, choice, 1, 2] : input.take(Int(input.byte() & 31))
        defer {
            sequence &+= 1
            timestamp &+= OpusPayload(payload.span.bytes)?.duration ?? 960
            sentCount += 1
        }
        return AudioPacket(sequence: sequence, timestamp: timestamp, arrival: arrival, payload: payload)
    }

    private mutating func pass(_ nanoseconds: UInt64) {
        now = min(now.adding(nanoseconds: nanoseconds), Instant(nanoseconds: Self.latest))
    }
}

/// The written file, and the segments that it must contain.
private struct Disk {
    private static let limit = OpusLimit(seconds: 100_000)
    private static let maxWaiting: UInt64 = 48_000

    var recording: OpusRecording
    private var playout: VoicePlayout
    private var sentByteCount: Int
    private(set) var end = Instant.distantFuture
    private var file: [UInt8] = []
    private var segments: [AudioTimeline.Segment]

    init(_ first: AudioPacket) {
        recording = OpusRecording(first, serial: 7, tags: OpusTags(vendor: "fuzz"))
        playout = VoicePlayout(begin: first.arrival)
        segments = playout.take(first)
        sentByteCount = first.payload.count
    }

    mutating func take(_ packet: AudioPacket) {
        recording.take(packet)
        segments += playout.take(packet)
        sentByteCount += packet.payload.count
    }

    mutating func write(at now: Instant, isInterrupted: Bool) {
        recording.advance(to: now)
        segments += playout.advance(to: now)
        file += recording.takePages()
        guard isInterrupted else { return }
        // A server that is killed now leaves this.
        guard let track = try? OpusFile.read(file.span.bytes, limit: Self.limit), track.isTruncated else {
            fatalError("what is written so far is not read")
        }
        if recording.sampleCount > track.end + Self.maxWaiting { fatalError("more than a second is missing") }
    }

    mutating func finish(at now: Instant) {
        recording.finish(at: now)
        segments += playout.finish(at: now)
        file += recording.takePages()
        end = now
    }

    func check(from begin: Instant, to end: Instant) {
        guard let track = try? OpusFile.read(file.span.bytes, limit: Self.limit) else { fatalError("it is not read") }
        if track.isTruncated { fatalError("it has no end") }
        if track.sampleCount != recording.sampleCount { fatalError("it is not as long as it says") }
        let passed = end.nanoseconds(since: begin) / 1_000 * 48 / 1_000
        // What is left of the shortest frame.
        if track.sampleCount + 120 < passed { fatalError("shorter than the time that passed") }
        // A second that it may be ahead, a packet of 120 ms, and what is tolerated.
        if track.sampleCount > passed + 48_000 + 5_760 + 1_440 { fatalError("longer than the time that passed") }
        checkPages()
        checkPackets(of: track)
        checkSound()
    }

    /// Ogg as RFC 3533 and 7845 want it, read by hand.
    private func checkPages() {
        var (offset, number, granule) = (0, 0, UInt64(0))
        while offset < file.count {
            guard offset + 27 <= file.count, file[offset..<offset + 4].elementsEqual("OggS".utf8) else {
                fatalError("no page at \(offset)")
            }
            let isLast = file[offset + 5] & 4 != 0
            if file[offset + 5] & 1 != 0 { fatalError("a packet goes on in the next page") }
            if (number == 0) != (file[offset + 5] & 2 != 0) { fatalError("not the first page says that it is") }
            if word(at: offset + 18, 4) != number { fatalError("a page is missing") }
            let time = word(at: offset + 6, 8)
            if time < granule || time > granule + Self.maxWaiting {
                fatalError("from \(granule) to \(time) in a page")
            }
            let table = file[(offset + 27)...].prefix(Int(file[offset + 26]))
            if table.last == 255 { fatalError("a packet does not end") }
            (granule, number) = (time, number + 1)
            offset += 27 + table.count + table.reduce(0) { $0 + Int($1) }
            if isLast != (offset == file.count) { fatalError("not the last page says that it is") }
        }
        // What fills time is 14 bytes for 120 ms, and what is sent is there once.
        let most = sentByteCount + segments.count * 4 * 16 + Int(granule) / 5_760 * 15 + (number + 1) * 27 + 200
        if file.count > most { fatalError("\(file.count) bytes of at most \(most)") }
    }

    private func word(at offset: Int, _ count: Int) -> UInt64 {
        file[offset..<offset + count].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    private func checkPackets(of track: OpusTrack) {
        var index = 0
        var time: UInt64 = 0
        func expect(_ bytes: ArraySlice<UInt8>, _ duration: UInt32) {
            guard index < track.packetCount else { fatalError("a packet is missing") }
            let packet = track.packet(index)
            if !packet.bytes.elementsEqual(bytes) || packet.duration != duration || packet.start != time {
                fatalError("another packet is there")
            }
            index += 1
            time += UInt64(duration)
        }
        for segment in segments {
            switch segment {
            case .packet(let packet, let duration): expect(packet.payload[...], duration)
            case .silence(let count):
                for filler in OpusFiller.silence(count) { expect(filler.bytes[...], filler.duration) }
            case .lost(let count):
                for filler in OpusFiller.lost(count) { expect(filler.bytes[...], filler.duration) }
            }
        }
        if time != track.sampleCount { fatalError("the segments are not as long as the file") }
        // What the pre-skip takes.
        while index < track.packetCount {
            if track.packet(index).bytes.first.map({ $0 & 0x80 != 0 }) != true {
                fatalError("something behind the end")
            }
            index += 1
        }
        if track.end - time != 360 { fatalError("another tail") }
    }

    /// Decoding the segments gives the same length.
    private func checkSound() {
        // Those of minutes are only long.
        guard recording.sampleCount < 60 * 48_000, let voice = try? RecordedVoice(.wide) else { return }
        var samples: [Int16] = []
        for segment in segments { voice.take(segment, into: &samples) }
        voice.finish(into: &samples)
        if UInt64(samples.count) * 3 != recording.sampleCount { fatalError("\(samples.count) samples are heard") }
    }
}
