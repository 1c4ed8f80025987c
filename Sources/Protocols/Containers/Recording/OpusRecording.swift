package import RTP
package import Wire

/// Records live audio without transcoding: packets go in as they arrive, pages of an Ogg file come out.
///
/// The file begins with the first packet and is as long as the time from there to its end, whatever was lost, late,
/// muted or not sent for silence.
package struct OpusRecording: Sendable {
    /// Packets wait at most so long for their page, since those that are not in a page are lost in a crash.
    private static let maximumDelay: UInt64 = 500_000_000
    /// The look-ahead of WebRTC's encoders, by which the decoder's output is delayed: 6.5 ms.
    private static let preSkip: UInt16 = 312
    /// Silence at the end, in whole packets of at least the pre-skip.
    private static let tail: UInt64 = 360

    private var playout: VoicePlayout
    private var writer: OggOpusWriter
    private var pages: [UInt8] = []
    /// When the first packet without a page arrived.
    private var waitingSince: Instant?
    private var isFinished = false

    /// - Parameters:
    ///   - first: the first packet of the file, which is recorded too.
    ///   - serial: unique among the streams of the file.
    ///   - isStereo: packets with two channels may come. The first packet may have them without that; later ones would
    ///     be downmixed by the decoder to what the header says.
    package init(_ first: AudioPacket, serial: UInt32, tags: OpusTags, isStereo: Bool = false) {
        playout = VoicePlayout(begin: first.arrival)
        // The bit s of its first byte (RFC 6716 section 3.1).
        let isStereo = isStereo || (first.payload.first ?? 0) & 0x04 != 0
        writer = OggOpusWriter(serial: serial, head: OpusHead(channelCount: isStereo ? 2 : 1, preSkip: Self.preSkip))
        pages = writer.begin(tags)
        take(first)
    }

    /// When the file begins.
    package var begin: Instant { playout.begin }
    /// How long it is so far: samples at 48 kHz.
    package var sampleCount: UInt64 { playout.sampleCount }
    /// Packets that were dropped because they came too late, or because the source's clock is fast.
    package var lateCount: Int { playout.lateCount }

    /// Bytes of pages that were not taken yet.
    package var waitingByteCount: Int { pages.count }

    package mutating func take(_ packet: AudioPacket) {
        guard !isFinished else { return }
        write(playout.take(packet), at: packet.arrival)
    }

    /// Advances the clock. Call it a few times a second.
    package mutating func advance(to now: Instant) {
        guard !isFinished else { return }
        write(playout.advance(to: now), at: now)
        guard let since = waitingSince, now.nanoseconds(since: since) >= Self.maximumDelay else { return }
        pages += writer.flush()
        waitingSince = nil
    }

    /// Ends the file at this time; later packets are ignored.
    package mutating func finish(at now: Instant) {
        guard !isFinished else { return }
        isFinished = true
        write(playout.finish(at: now), at: now)
        // Makes up for the pre-skip, which delays the decoder's output.
        write(OpusFiller.silence(Self.tail))
        pages += writer.end(leavingOut: Self.tail &- UInt64(Self.preSkip))
        waitingSince = nil
    }

    /// Removes and returns the bytes to append to the file.
    package mutating func takePages() -> [UInt8] {
        defer { pages = [] }
        return pages
    }

    private mutating func write(_ news: [AudioTimeline.Segment], at now: Instant) {
        for piece in news {
            switch piece {
            case .packet(let packet, let duration):
                pages += writer.append(packet.payload[...], duration: duration)
            case .silence(let count): write(OpusFiller.silence(count))
            case .lost(let count): write(OpusFiller.lost(count))
            }
        }
        if !news.isEmpty, waitingSince == nil { waitingSince = now }
    }

    private mutating func write(_ fillers: [OpusFiller.Packet]) {
        for filler in fillers { pages += writer.append(filler.bytes[...], duration: filler.duration) }
    }
}
