package import SDP

/// Receives what the gateway engine sends, unencrypted: the host encrypts and transmits it.
package protocol GatewayOutbox: ~Copyable {
    /// A buffer for one packet to the leg, at least as large as any received datagram; nil when there is none now: then
    /// the packet is lost. `commit` is called with the number of bytes written, and returns whether they can be sent.
    mutating func reserve(for leg: LegID) -> UnsafeMutableRawBufferPointer?
    mutating func commit(_ byteCount: Int, isVideo: Bool) -> Bool
    /// Sends an RTCP compound to the leg.
    mutating func sendReport(_ bytes: borrowing [UInt8], to leg: LegID)
    /// The leg's slots changed: all of them, in the order of the sections.
    mutating func show(_ slots: [ShownSlot], on leg: LegID)
    /// The first packet of a source in a tapped call arrived.
    mutating func tapBegan(_ source: TappedSource)
    /// An Opus packet of the source. Copy it, and do not block.
    mutating func tap(_ payload: RawSpan, _ packet: TappedPacket)
    /// The source ended; its number is not used again.
    mutating func tapEnded(_ source: UInt32)
}

/// Identifies a leg; the generation distinguishes it from earlier legs with the same index.
package struct LegID: Hashable, Sendable {
    package let index: UInt32
    package let generation: UInt32

    package init(index: UInt32, generation: UInt32) {
        self.index = index
        self.generation = generation
    }
}

/// A section in which the gateway sends, and the track that it shows now.
package struct ShownSlot: Hashable, Sendable {
    package let mid: String
    package let kind: MediaKind
    /// Nil while it shows nothing.
    package let track: TrackName?

    package init(mid: String, kind: MediaKind, track: TrackName?) {
        self.mid = mid
        self.kind = kind
        self.track = track
    }
}

/// Identifies a published track to other participants.
package struct TrackName: Hashable, Sendable {
    package let participant: String
    /// The section in which its participant sends it.
    package let mid: String
    package let source: TrackSource

    package init(participant: String, mid: String, source: TrackSource) {
        self.participant = participant
        self.mid = mid
        self.source = source
    }
}

/// The source of a track, as its participant declared it.
package enum TrackSource: String, Hashable, Sendable, CaseIterable {
    case microphone
    case camera
    case screen
}
