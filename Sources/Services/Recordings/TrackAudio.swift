import Audio
import Containers

/// Decodes a track of a recording to 16 kHz while its file is read. At most one page is buffered.
struct TrackAudio {
    private static let limit = OpusLimit(seconds: 24 * 3600)

    private let decoder: VoiceDecoder
    private var stream = OggOpusStream(limit: Self.limit)
    /// Samples that were decoded, including those that are skipped.
    private var count: UInt64 = 0

    init() throws {
        decoder = try VoiceDecoder(.wide)
    }

    /// Whether the Opus header was read.
    var hasBegun: Bool { stream.head != nil }

    /// Appends the next bytes of the file.
    mutating func append(_ bytes: [UInt8]) { stream.append(bytes) }

    /// The next samples; nil if more bytes are needed first.
    mutating func next() throws -> [Int16]? {
        guard let page = try stream.nextPage() else { return nil }
        let divisor = decoder.rate.divisor
        var samples: [Int16] = []
        for packet in page where !decoder.decode(packet.bytes, into: &samples) {
            decoder.conceal(Int(packet.duration) / divisor, into: &samples)
        }
        let first = count
        count += UInt64(samples.count)
        let start = UInt64(stream.head?.preSkip ?? 0) / UInt64(divisor)
        if first < start { samples.removeFirst(Int(min(start - first, UInt64(samples.count)))) }
        if let audibleCount = stream.sampleCount {
            let end = start + audibleCount / UInt64(divisor)
            if count > end { samples.removeLast(Int(min(count - end, UInt64(samples.count)))) }
        }
        return samples
    }
}
