package import Containers

/// Mixes several tracks into one file: each begins at its offset, and the sum is limited.
///
/// It works incrementally, so that a mix of hours takes no more memory than one of seconds: a decoder and a chunk of
/// the file for each track that plays at the time. It uses a processor for long, and blocks on reading and writing.
package struct VoiceMix {
    /// A track and its start in the mix.
    package struct Voice {
        let start: UInt64
        let open: () throws -> () throws -> [UInt8]

        /// - Parameters:
        ///   - offset: milliseconds from the beginning of the mix.
        ///   - open: opens its Ogg file when it is needed, and returns a function that reads the next chunk, which is
        ///     empty at its end.
        package init(offset: Int64, open: @escaping () throws -> () throws -> [UInt8]) {
            start = UInt64(clamping: offset) &* 48
            self.open = open
        }
    }

    /// The size of written chunks.
    private static let chunkByteCount = 64 * 1024
    private static let bitrate: Int32 = 48_000

    /// Voices that have not begun, in reverse order.
    private var pending: [Voice]
    private var tracks: [MixedTrack] = []
    private var limiter = SoftLimiter()
    private let encoder: VoiceEncoder
    private var writer: OggOpusWriter
    private var file: [UInt8]
    /// The number of mixed samples at 48 kHz, and the end of the last voice so far.
    private var position: UInt64 = 0
    private var end: UInt64 = 0
    /// Mixed samples that are not encoded yet.
    private var samples: [Int16] = []
    private var encodedCount: UInt64 = 0

    package init(_ voices: [Voice], serial: UInt32, tags: OpusTags) throws(OpusFailure) {
        pending = voices.sorted { $0.start > $1.start }
        encoder = try VoiceEncoder(.full, .init(bitrate: Self.bitrate))
        writer = OggOpusWriter(serial: serial, head: OpusHead(preSkip: encoder.preSkip))
        file = writer.begin(tags)
    }

    /// Mixes everything, once, and returns the length in samples at 48 kHz.
    ///
    /// - Parameters:
    ///   - write: writes the next chunk of the file.
    ///   - check: called for each second; throws to cancel.
    package mutating func run(write: ([UInt8]) throws -> Void, check: () throws -> Void) throws -> UInt64 {
        var block = [Int32](repeating: 0, count: SoftLimiter.blockCount)
        while !tracks.isEmpty || !pending.isEmpty {
            if position % 48_000 == 0 { try check() }
            for index in block.indices { block[index] = 0 }
            try open(until: position + UInt64(block.count))
            for track in tracks {
                try track.add(to: &block, from: position)
                end = max(end, track.end)
            }
            tracks.removeAll { $0.isOver }
            limiter.process(block, into: &samples)
            position += UInt64(block.count)
            try encode()
            if file.count >= Self.chunkByteCount { try flush(write) }
        }
        try finish()
        try flush(write)
        return end
    }

    private mutating func open(until next: UInt64) throws {
        while let voice = pending.last, voice.start < next {
            pending.removeLast()
            tracks.append(try MixedTrack(start: voice.start, read: voice.open()))
        }
    }

    private mutating func encode() throws {
        while samples.count >= encoder.frameCount {
            file += writer.append(
                try encoder.encode(samples.prefix(encoder.frameCount))[...], duration: UInt32(encoder.frameCount))
            samples.removeFirst(encoder.frameCount)
            encodedCount += UInt64(encoder.frameCount)
        }
    }

    /// Flushes the encoder, and trims the last packet.
    private mutating func finish() throws {
        limiter.finish(into: &samples)
        let target = end + UInt64(encoder.preSkip)
        while encodedCount < target {
            samples.append(contentsOf: repeatElement(0, count: max(encoder.frameCount - samples.count, 0)))
            try encode()
        }
        file += writer.end(leavingOut: encodedCount - target)
    }

    private mutating func flush(_ write: ([UInt8]) throws -> Void) throws {
        guard !file.isEmpty else { return }
        try write(file)
        file.removeAll(keepingCapacity: true)
    }
}
