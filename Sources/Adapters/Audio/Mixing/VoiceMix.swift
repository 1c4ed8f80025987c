package import Containers

/// One file of many voices: each is heard from its offset on, and all together no louder than a file can hold.
///
/// Everything happens piece by piece, so that a mix of hours takes no more memory than one of seconds: a decoder and a
/// piece of its file for each voice that is heard at the time. It takes a processor for long, and reads and writes while
/// it does.
package struct VoiceMix {
    /// A voice, and when it begins.
    package struct Voice {
        let start: UInt64
        let open: () throws -> () throws -> [UInt8]

        /// - Parameters:
        ///   - offset: milliseconds from the beginning of the mix.
        ///   - open: opens its Ogg file when it is needed, and returns what reads the next piece; empty at its end.
        package init(offset: Int64, open: @escaping () throws -> () throws -> [UInt8]) {
            start = UInt64(clamping: offset) &* 48
            self.open = open
        }
    }

    /// So much is written at a time.
    private static let pieceByteCount = 64 * 1024
    private static let bitrate: Int32 = 48_000

    /// The next one last.
    private var coming: [Voice]
    private var tracks: [MixedTrack] = []
    private var limiter = SoftLimiter()
    private let encoder: VoiceEncoder
    private var writer: OggOpusWriter
    private var file: [UInt8]
    /// Samples at 48 kHz that were mixed, and those of them that some voice was heard until.
    private var position: UInt64 = 0
    private var end: UInt64 = 0
    /// What was mixed and is not encoded yet.
    private var samples: [Int16] = []
    private var encodedCount: UInt64 = 0

    package init(_ voices: [Voice], serial: UInt32, tags: OpusTags) throws(OpusFailure) {
        coming = voices.sorted { $0.start > $1.start }
        encoder = try VoiceEncoder(.full, .init(bitrate: Self.bitrate))
        writer = OggOpusWriter(serial: serial, head: OpusHead(preSkip: encoder.preSkip))
        file = writer.begin(tags)
    }

    /// Mixes all of it, once, and returns how many samples at 48 kHz that is.
    ///
    /// - Parameters:
    ///   - write: takes the next piece of the file.
    ///   - check: asked for each second whether to go on; it throws where not.
    package mutating func run(write: ([UInt8]) throws -> Void, check: () throws -> Void) throws -> UInt64 {
        var block = [Int32](repeating: 0, count: SoftLimiter.blockCount)
        while !tracks.isEmpty || !coming.isEmpty {
            if position % 48_000 == 0 { try check() }
            for index in block.indices { block[index] = 0 }
            try open(until: position + UInt64(block.count))
            for track in tracks {
                try track.add(to: &block, from: position)
                end = max(end, track.end)
            }
            tracks.removeAll { $0.isOver }
            limiter.take(block, into: &samples)
            position += UInt64(block.count)
            try encode()
            if file.count >= Self.pieceByteCount { try flush(write) }
        }
        try finish()
        try flush(write)
        return end
    }

    private mutating func open(until next: UInt64) throws {
        while let voice = coming.last, voice.start < next {
            coming.removeLast()
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

    /// The last packets have what the encoder still holds, and what is too much of them is left out.
    private mutating func finish() throws {
        limiter.finish(into: &samples)
        let wanted = end + UInt64(encoder.preSkip)
        while encodedCount < wanted {
            samples.append(contentsOf: repeatElement(0, count: max(encoder.frameCount - samples.count, 0)))
            try encode()
        }
        file += writer.end(leavingOut: encodedCount - wanted)
    }

    private mutating func flush(_ write: ([UInt8]) throws -> Void) throws {
        guard !file.isEmpty else { return }
        try write(file)
        file.removeAll(keepingCapacity: true)
    }
}
