package import Audio
package import RTP
package import Wire

/// Makes captions of one voice of a call from its packets as they arrive: puts them in order, decodes them, and feeds
/// `LiveCaptions` as time passes. One task at a time uses it.
///
/// A muted participant sends nothing: an utterance then ends when nothing was received for as long as the pause that
/// ends an utterance.
package final class CaptionedVoice {
    /// How long to wait for a late packet, in nanoseconds; a longer wait would only delay captions.
    private static let reorderDelay: UInt64 = 300_000_000
    /// Longer silence is skipped instead of fed, in samples at 48 kHz.
    private static let maxSilence: UInt64 = 48_000

    package let captions: LiveCaptions
    private var playout: VoicePlayout
    private let voice: RecordedVoice
    private var samples: [Int16] = []
    /// How much of the playout was fed, in samples at 48 kHz.
    private var position: UInt64 = 0
    /// Silence that was fed because nothing was received, and is not in the playout yet, in samples at 48 kHz.
    private var ahead: UInt64 = 0

    /// - Parameter begin: when its first packet arrived, which is time 0 of the captions.
    package init(begin: Instant, _ captions: LiveCaptions) throws(OpusFailure) {
        self.captions = captions
        playout = VoicePlayout(begin: begin, isLive: true)
        voice = try RecordedVoice(.wide)
    }

    /// Time 0 of the captions.
    package var begin: Instant { playout.begin }

    package func take(_ packet: AudioPacket) {
        feed(playout.take(packet))
    }

    /// Advances the time. To be called a few times a second.
    package func advance(to now: Instant) {
        feed(playout.advance(to: now))
        let nanoseconds = now.nanoseconds(since: playout.begin)
        guard nanoseconds > Self.reorderDelay else { return }
        let fed = position &+ ahead
        let expected = (nanoseconds &- Self.reorderDelay) / 1_000 &* 48 / 1_000
        if expected > fed {
            ahead &+= expected &- fed
            silence(expected &- fed)
        }
    }

    /// Ends the voice.
    package func finish(at now: Instant) {
        feed(playout.finish(at: now))
        voice.finish(into: &samples)
        flush()
        captions.finish()
    }

    private func feed(_ segments: [AudioTimeline.Segment]) {
        for segment in segments {
            switch segment {
            case .packet(_, let duration):
                voice.take(segment, into: &samples)
                position &+= UInt64(duration)
            case .lost(let count):
                voice.take(segment, into: &samples)
                position &+= count
            case .silence(let count):
                voice.finish(into: &samples)
                flush()
                position &+= count
                // Some of it was fed in advance.
                let known = min(count, ahead)
                ahead &-= known
                silence(count &- known)
            }
        }
        flush()
    }

    /// Feeds or skips this much silence, up to the current position.
    private func silence(_ count: UInt64) {
        guard count > 0 else { return }
        guard count > Self.maxSilence else {
            return captions.feed(repeatElement(0, count: Int(count) / SampleRate.wide.divisor))
        }
        captions.skip(to: Int64(clamping: (position &+ ahead) / 48))
    }

    private func flush() {
        guard !samples.isEmpty else { return }
        captions.feed(samples)
        samples.removeAll(keepingCapacity: true)
    }
}
