import Audio
import Containers

/// What is heard in a track of a recording, at 16 kHz, decoded as its file is read: no more than a page of it is held.
struct TrackSound {
    private static let limit = OpusLimit(seconds: 24 * 3600)

    private let decoder: VoiceDecoder
    private var stream = OggOpusStream(limit: Self.limit)
    /// Samples that the decoder has made, those included that are not heard.
    private var count: UInt64 = 0

    init() throws {
        decoder = try VoiceDecoder(.wide)
    }

    /// There is a voice in the file.
    var hasBegun: Bool { stream.head != nil }

    /// What comes next in the file.
    mutating func append(_ bytes: [UInt8]) { stream.append(bytes) }

    /// What is heard next; nil when more has to come first.
    mutating func next() throws -> [Int16]? {
        guard let page = try stream.nextPage() else { return nil }
        let divisor = decoder.rate.divisor
        var samples: [Int16] = []
        for packet in page where !decoder.decode(packet.bytes, into: &samples) {
            decoder.conceal(Int(packet.duration) / divisor, into: &samples)
        }
        let first = count
        count += UInt64(samples.count)
        let begin = UInt64(stream.head?.preSkip ?? 0) / UInt64(divisor)
        if first < begin { samples.removeFirst(Int(min(begin - first, UInt64(samples.count)))) }
        if let heard = stream.sampleCount {
            let end = begin + heard / UInt64(divisor)
            if count > end { samples.removeLast(Int(min(count - end, UInt64(samples.count)))) }
        }
        return samples
    }
}
