internal import Containers

/// One voice of a mix: an Ogg file that is read and decoded as far as it is needed, from where it begins in the mix.
final class MixedTrack {
    /// More than the longest recording that there can be.
    private static let limit = OpusLimit(seconds: 48 * 3600)

    /// In samples at 48 kHz.
    let start: UInt64
    private let read: () throws -> [UInt8]
    private let decoder: VoiceDecoder
    private var stream = OggOpusStream(limit: limit)
    private var isRead = false
    /// What was read and is not decoded yet, the next last.
    private var packets: [OggOpusStream.Packet] = []
    /// What is decoded and not taken yet.
    private var samples: [Int16] = []
    private var takenCount = 0
    /// Samples that were decoded, the pre-skip included.
    private var decodedCount: UInt64 = 0
    /// Where it ends in the mix, as far as it was taken.
    private(set) var end: UInt64
    private(set) var isOver = false

    /// - Parameter read: the next piece of the file; empty at its end.
    init(start: UInt64, read: @escaping () throws -> [UInt8]) throws {
        self.start = start
        self.read = read
        end = start
        decoder = try VoiceDecoder(.full)
    }

    /// Adds what is heard in the `sum.count` samples from `position` on, which follow on those of the call before.
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

    /// Decodes the next packet of which something is heard. False behind the end of the file.
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
            let piece = try read()
            isRead = piece.isEmpty
            guard !isRead || stream.head != nil else { throw ContainerError.malformed("there is no sound", at: 0) }
            stream.append(piece)
        }
        return packets.removeLast()
    }

    private func decode(_ packet: OggOpusStream.Packet) {
        if !decoder.decode(packet.bytes, into: &samples) { decoder.conceal(Int(packet.duration), into: &samples) }
        // Whatever it held, it stands for so many.
        let missing = Int(packet.duration) - samples.count
        if missing > 0 { samples.append(contentsOf: repeatElement(0, count: missing)) }
        samples.removeLast(max(-missing, 0))
    }

    /// Leaves out what the file says is not to be heard, at its beginning and at its end.
    private func trim() {
        let begin = decodedCount
        decodedCount += UInt64(samples.count)
        let preSkip = UInt64(stream.head?.preSkip ?? 0)
        if let heard = stream.sampleCount, decodedCount > heard + preSkip {
            samples.removeLast(min(Int(clamping: decodedCount - heard - preSkip), samples.count))
        }
        if begin < preSkip { samples.removeFirst(min(Int(clamping: preSkip - begin), samples.count)) }
    }
}
