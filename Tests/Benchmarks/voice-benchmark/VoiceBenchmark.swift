import Audio
import Containers
import Glibc
import RTP
import Transcription
import Wire

/// The cost of recording and decoding a track beyond its call, each step alone, on one thread: `voice-benchmark FILE`,
/// where FILE is speech as Opus in Ogg. Shares are of a core, per speaking track.
@main
struct VoiceBenchmark {
    private static let rounds = 15
    private static let bufferByteCount = 1 << 16

    static func main() throws {
        guard CommandLine.arguments.count == 2, let file = read(CommandLine.arguments[1]) else {
            print("usage: voice-benchmark FILE")
            exit(64)
        }
        let track = try OpusFile.read(file.span.bytes, limit: OpusLimit(seconds: 600))
        let packets = audioPackets(of: track)
        let seconds = Double(track.end) / 48_000
        print(
            "speech of \(shown(seconds)) s, \(packets.count) packets, \(file.count * 8 / Int(seconds * 1_000)) kbit/s")

        var pages = 0
        show("recorded", seconds) {
            var recording = record(packets) { pages += $0.takePages().count }
            pages += recording.takePages().count
        }
        let segments = played(packets)
        var samples: [Int16] = []
        try show("decoded", seconds) {
            samples.removeAll(keepingCapacity: true)
            let voice = try RecordedVoice(.wide)
            for segment in segments { voice.take(segment, into: &samples) }
            voice.finish(into: &samples)
        }
        var spoken: Int64 = 0
        show("speech detection", seconds) {
            var detector = VoiceActivityDetector()
            spoken = 0
            for start in stride(from: 0, to: samples.count, by: 800) {
                let utterances = detector.take(samples[start..<min(start + 800, samples.count)])
                spoken += utterances.reduce(0) { $0 + $1.audio.milliseconds }
            }
            spoken += detector.finish().reduce(0) { $0 + $1.audio.milliseconds }
        }
        print("\(pages / rounds) bytes of pages, \(samples.count / 16) ms decoded, \(spoken) ms of speech in them")
    }

    /// Like the recorder: the packets of 50 ms at a time.
    private static func record(_ packets: [AudioPacket], _ take: (inout OpusRecording) -> Void) -> OpusRecording {
        var recording = OpusRecording(packets[0], serial: 1, tags: OpusTags(vendor: "benchmark"))
        var round = packets[0].arrival
        for packet in packets.dropFirst() {
            recording.take(packet)
            guard packet.arrival.nanoseconds(since: round) >= 50_000_000 else { continue }
            round = packet.arrival
            recording.advance(to: round)
            take(&recording)
        }
        recording.finish(at: round)
        return recording
    }

    /// What is heard of the packets, in its order.
    private static func played(_ packets: [AudioPacket]) -> [AudioTimeline.Segment] {
        var playout = VoicePlayout(begin: packets[0].arrival)
        let segments = packets.flatMap { packet in playout.take(packet) + playout.advance(to: packet.arrival) }
        return segments + playout.finish(at: packets[packets.count - 1].arrival)
    }

    /// The file's packets as they come over the network.
    private static func audioPackets(of track: OpusTrack) -> [AudioPacket] {
        (0..<track.packetCount).map { index in
            let packet = track.packet(index)
            return AudioPacket(
                sequence: UInt16(truncatingIfNeeded: index), timestamp: UInt32(truncatingIfNeeded: packet.start),
                arrival: Instant(nanoseconds: 1_000_000_000 + packet.start * 1_000_000 / 48),
                payload: Array(packet.bytes))
        }
    }

    /// The best round, with the least interference.
    private static func show(_ name: String, _ seconds: Double, _ body: () throws -> Void) rethrows {
        var best = UInt64.max
        for _ in 0..<rounds {
            let start = processorTime()
            try body()
            best = min(best, processorTime() - start)
        }
        let share = Double(best) / 1e9 / seconds
        print("\(name): \(shown(share * 100)) % of a core, \(Int(1 / share)) voices for a core")
    }

    private static func shown(_ value: Double) -> String {
        let thousandths = Int((value * 1_000).rounded())
        let rest = String(thousandths % 1_000)
        return "\(thousandths / 1_000)." + String(repeating: "0", count: 3 - rest.count) + rest
    }

    private static func processorTime() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    private static func read(_ path: String) -> [UInt8]? {
        guard let stream = fopen(path, "rb") else { return nil }
        defer { fclose(stream) }
        var file: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: bufferByteCount)
        while case let count = fread(&buffer, 1, buffer.count, stream), count > 0 { file += buffer.prefix(count) }
        return file
    }
}
