package import Audio
package import RTP
package import Wire

/// Makes captions of one voice of a call out of its packets as they come: puts them in order, decodes them, and feeds
/// `LiveCaptions` as time passes. One task at a time uses it.
///
/// Who mutes sends nothing: what was said until then is over when the time for which nothing came is as long as the
/// pause behind an utterance.
package final class CaptionedVoice {
    /// A packet may still come for so long, in nanoseconds; more would only make captions later.
    private static let patience: UInt64 = 300_000_000
    /// Silence is heard as such up to here, in samples at 48 kHz; more is passed over.
    private static let longestSilence: UInt64 = 48_000

    package let captions: LiveCaptions
    private var playout: VoicePlayout
    private let voice: RecordedVoice
    private var samples: [Int16] = []
    /// How much of the playout was fed, in samples at 48 kHz.
    private var position: UInt64 = 0
    /// Of silence that was fed because nothing came, and is not in the playout yet.
    private var ahead: UInt64 = 0

    /// - Parameter begin: when its first packet came, from where captions are timed.
    package init(begin: Instant, _ captions: LiveCaptions) throws(OpusFailure) {
        self.captions = captions
        playout = VoicePlayout(begin: begin)
        voice = try RecordedVoice(.wide)
    }

    /// When captions are timed from.
    package var begin: Instant { playout.begin }

    package func take(_ packet: SoundPacket) {
        feed(playout.take(packet))
    }

    /// Time passes. Call it a few times a second.
    package func advance(to now: Instant) {
        feed(playout.advance(to: now))
        let nanoseconds = now.nanoseconds(since: playout.begin)
        guard nanoseconds > Self.patience else { return }
        let heard = position &+ ahead
        let expected = (nanoseconds &- Self.patience) / 1_000 &* 48 / 1_000
        if expected > heard {
            ahead &+= expected &- heard
            silence(expected &- heard)
        }
    }

    /// Nothing more comes.
    package func finish(at now: Instant) {
        feed(playout.finish(at: now))
        voice.finish(into: &samples)
        flush()
        captions.finish()
    }

    private func feed(_ pieces: [SoundTimeline.Piece]) {
        for piece in pieces {
            switch piece {
            case .packet(_, let duration):
                voice.take(piece, into: &samples)
                position &+= UInt64(duration)
            case .lost(let count):
                voice.take(piece, into: &samples)
                position &+= count
            case .silence(let count):
                voice.finish(into: &samples)
                flush()
                position &+= count
                // Some of it was fed when it was not known yet.
                let known = min(count, ahead)
                ahead &-= known
                silence(count &- known)
            }
        }
        flush()
    }

    /// Feeds the last so many of what there is by now.
    private func silence(_ count: UInt64) {
        guard count > 0 else { return }
        guard count > Self.longestSilence else {
            return captions.feed(repeatElement(0, count: Int(count) / VoiceRate.wide.divisor))
        }
        captions.skip(to: Int64(clamping: (position &+ ahead) / 48))
    }

    private func flush() {
        guard !samples.isEmpty else { return }
        captions.feed(samples)
        samples.removeAll(keepingCapacity: true)
    }
}
