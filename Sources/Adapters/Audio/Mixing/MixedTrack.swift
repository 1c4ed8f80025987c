internal import Containers

/// One track of a mix: an Ogg file that is read and decoded incrementally, from its start in the mix.
final class MixedTrack {
    /// More than the maximum length of a recording.
    private static let limit = OpusLimit(seconds: 48 * 3600)

    /// In samples at 48 kHz.
    let start: UInt64
    private let read: () throws -> [UInt8]
    private let decoder: VoiceDecoder
    private var stream = OggOpusStream(limit: limit)
    private var isRead = false
    /// Packets that are not decoded yet, in reverse order.
    private var packets: [OggOpusStream.Packet] = []
    /// Decoded samples, of which the first `takenCount` are mixed already.
    private var samples: [Int16] = []
    private var takenCount = 0
    /// Decoded samples, the pre-skip included.
    private var decodedCount: UInt64 = 0
    /// The position in the mix up to which it is mixed.
    private(set) var end: UInt64
    private(set) var isOver = false

    /// - Parameter read: returns the next chunk of the file; empty at its end.
    init(start: UInt64, read: @escaping () throws -> [UInt8]) throws {
        self.start = start
        self.read = read
        end = start
        decoder = try VoiceDecoder(.full)
    }

    /// Adds its samples to the `sum.count` samples from `position` on. Calls must be consecutive.
    func add(to sum: inout [Int32], from position: UInt64) throws {
        var index = start > position ? Int(clamping: start - position) : 0
        while index < sum.count {
            if takenCount == samples.count, try !decodeMore() {
                isOver = true
                return
            }
            let count = min(sum.count - index, samples.count - takenCount)
            for offset in 0..<count { sum[index + offset] += Int32(samples[takenCount + offset]) }
            index += count
            takenCount += count
            end += UInt64(count)
        }
    }

    /// Decodes the next packet with audible samples. False at the end of the file.
    private func decodeMore() throws -> Bool {
        samples.removeAll(keepingCapacity: true)
        takenCount = 0
        while samples.isEmpty {
            guard let packet = try nextPacket() else { return false }
            decode(packet)
            trim()
        }
        return true
    }

    private func nextPacket() throws -> OggOpusStream.Packet? {
        while packets.isEmpty {
            if let page = try stream.nextPage() {
                packets = page.reversed()
                continue
            }
            guard !isRead else { return nil }
            let chunk = try read()
            isRead = chunk.isEmpty
            guard !isRead || stream.head != nil else { throw ContainerError.malformed("there is no sound", at: 0) }
            stream.append(chunk)
        }
        return packets.removeLast()
    }

    private func decode(_ packet: OggOpusStream.Packet) {
        if !decoder.decode(packet.bytes, into: &samples) { decoder.conceal(Int(packet.duration), into: &samples) }
        // Pads or cuts it to the duration of the packet.
        let missing = Int(packet.duration) - samples.count
        if missing > 0 { samples.append(contentsOf: repeatElement(0, count: missing)) }
        samples.removeLast(max(-missing, 0))
    }

    /// Trims the pre-skip at the beginning and the padding at the end.
    private func trim() {
        let begin = decodedCount
        decodedCount += UInt64(samples.count)
        let preSkip = UInt64(stream.head?.preSkip ?? 0)
        if let audibleCount = stream.sampleCount, decodedCount > audibleCount + preSkip {
            samples.removeLast(min(Int(clamping: decodedCount - audibleCount - preSkip), samples.count))
        }
        if begin < preSkip { samples.removeFirst(min(Int(clamping: preSkip - begin), samples.count)) }
    }
}
