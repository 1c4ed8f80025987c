package import Wire

/// Plays out an audio source from its packets as they arrive: in order, each at its time, with silence and loss
/// between.
///
/// It begins with the first packet and is as long as the time since then.
package struct VoicePlayout: Sendable {
    /// The time of the first packet.
    package let begin: Instant
    private var buffer = JitterBuffer()
    private var timeline: AudioTimeline
    private var isAfterLoss = false

    /// - Parameters:
    ///   - begin: the time of the first packet.
    ///   - isLive: somebody waits for the segments.
    package init(begin: Instant, isLive: Bool = false) {
        self.begin = begin
        timeline = AudioTimeline(begin: begin, isLive: isLive)
    }

    /// Its length so far: samples at 48 kHz.
    package var sampleCount: UInt64 { timeline.end }
    /// Packets that arrived too late or were dropped to correct the clock.
    package var lateCount: Int { buffer.lateCount &+ timeline.droppedCount }

    /// Takes a packet and returns the next segments.
    package mutating func take(_ packet: AudioPacket) -> [AudioTimeline.Segment] {
        buffer.insert(packet)
        return advance(to: packet.arrival)
    }

    /// Gives up packets that are missing for too long. Call it a few times a second.
    package mutating func advance(to now: Instant) -> [AudioTimeline.Segment] {
        var segments: [AudioTimeline.Segment] = []
        while let output = buffer.next(at: now) { take(output, into: &segments) }
        return segments
    }

    /// Ends the playout now.
    package mutating func finish(at now: Instant) -> [AudioTimeline.Segment] {
        var segments: [AudioTimeline.Segment] = []
        while let output = buffer.drain() { take(output, into: &segments) }
        return segments + timeline.finish(at: now)
    }

    private mutating func take(_ output: JitterBuffer.Output, into segments: inout [AudioTimeline.Segment]) {
        switch output {
        case .lost: isAfterLoss = true
        case .packet(let packet):
            segments += timeline.take(packet, isAfterLoss: isAfterLoss)
            isAfterLoss = false
        }
    }
}
