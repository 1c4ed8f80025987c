package import Wire

/// A voice as it was said, from its packets as they come: in order, each at its place, with silence and loss between them.
///
/// It begins with the first packet and is as long as the time from there.
package struct VoicePlayout: Sendable {
    /// When it begins.
    package let begin: Instant
    private var order = JitterBuffer()
    private var timeline: SoundTimeline
    private var lostBefore = false

    package init(begin: Instant) {
        self.begin = begin
        timeline = SoundTimeline(begin: begin)
    }

    /// How long it is so far: samples at 48 kHz.
    package var sampleCount: UInt64 { timeline.end }
    /// Packets that came too late, or of which the source's clock had too many.
    package var lateCount: Int { order.lateCount &+ timeline.droppedCount }

    /// Takes a packet, and returns what follows.
    package mutating func take(_ packet: SoundPacket) -> [SoundTimeline.Piece] {
        order.insert(packet)
        return advance(to: packet.arrival)
    }

    /// Time passes, and what is missing is lost. Call it a few times a second.
    package mutating func advance(to now: Instant) -> [SoundTimeline.Piece] {
        var pieces: [SoundTimeline.Piece] = []
        while let output = order.next(at: now) { take(output, into: &pieces) }
        return pieces
    }

    /// Nothing more comes: it lasts until now.
    package mutating func finish(at now: Instant) -> [SoundTimeline.Piece] {
        var pieces: [SoundTimeline.Piece] = []
        while let output = order.drain() { take(output, into: &pieces) }
        return pieces + timeline.finish(at: now)
    }

    private mutating func take(_ output: JitterBuffer.Output, into pieces: inout [SoundTimeline.Piece]) {
        switch output {
        case .lost: lostBefore = true
        case .packet(let packet):
            pieces += timeline.take(packet, isAfterLoss: lostBefore)
            lostBefore = false
        }
    }
}
