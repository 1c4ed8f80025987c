package import RTP
package import Wire

/// A voice that is recorded while it is heard: packets as they come in, and pages of an Ogg file out, without transcoding.
///
/// The file begins with the first packet and is as long as the time from there to its end, whatever was lost, late, muted
/// or not sent for silence.
package struct VoiceRecording: Sendable {
    /// Who is killed loses what is not in a page yet.
    private static let longestWait: UInt64 = 500_000_000
    /// What encoders of WebRTC look ahead, and decoders make before the first sample that was spoken: 6.5 ms.
    private static let preSkip: UInt16 = 312
    /// Whole packets of at least as much, at the end.
    private static let tail: UInt64 = 360

    private var playout: VoicePlayout
    private var writer: OggOpusWriter
    private var pages: [UInt8] = []
    /// Since when something waits for its page.
    private var waitingSince: Instant?
    private var isFinished = false

    /// - Parameters:
    ///   - first: the packet that the file begins with; it is taken.
    ///   - serial: any number that other streams in the same file do not have.
    package init(_ first: SoundPacket, serial: UInt32, tags: OpusTags) {
        playout = VoicePlayout(begin: first.arrival)
        // A decoder mixes what is written of two channels into the one that the file names.
        let isStereo = (first.payload.first ?? 0) & 0x04 != 0
        writer = OggOpusWriter(serial: serial, head: OpusHead(channelCount: isStereo ? 2 : 1, preSkip: Self.preSkip))
        pages = writer.begin(tags)
        take(first)
    }

    /// When the file begins.
    package var begin: Instant { playout.begin }
    /// How long it is so far: samples at 48 kHz.
    package var sampleCount: UInt64 { playout.sampleCount }
    /// Packets that came too late, or of which the source's clock had too many.
    package var lateCount: Int { playout.lateCount }

    /// What nobody has taken yet.
    package var waitingByteCount: Int { pages.count }

    package mutating func take(_ packet: SoundPacket) {
        guard !isFinished else { return }
        write(playout.take(packet), at: packet.arrival)
    }

    /// Time passes. Call it a few times a second.
    package mutating func advance(to now: Instant) {
        guard !isFinished else { return }
        write(playout.advance(to: now), at: now)
        guard let since = waitingSince, now.nanoseconds(since: since) >= Self.longestWait else { return }
        pages += writer.flush()
        waitingSince = nil
    }

    /// Nothing more comes, or is taken when it does: the file lasts until now.
    package mutating func finish(at now: Instant) {
        guard !isFinished else { return }
        isFinished = true
        write(playout.finish(at: now), at: now)
        // What the pre-skip took from the beginning.
        write(OpusFiller.silence(Self.tail))
        pages += writer.end(leavingOut: Self.tail &- UInt64(Self.preSkip))
        waitingSince = nil
    }

    /// What is to be written to the file now.
    package mutating func takePages() -> [UInt8] {
        defer { pages = [] }
        return pages
    }

    private mutating func write(_ news: [SoundTimeline.Piece], at now: Instant) {
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
