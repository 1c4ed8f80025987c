package import SDP

/// Where the gateway's engine puts what it wants sent, in the clear: the host protects it and puts it on the wire.
package protocol GatewayOutbox: ~Copyable {
    /// Room for one packet to the leg, at least as large as any datagram that was received; nil when there is none now,
    /// and then the packet is lost, as on a wire. `commit` says how many bytes were written, and whether they can be sent.
    mutating func reserve(for leg: LegID) -> UnsafeMutableRawBufferPointer?
    mutating func commit(_ byteCount: Int, isVideo: Bool) -> Bool
    /// A compound of RTCP for the leg.
    mutating func sendReport(_ bytes: borrowing [UInt8], to leg: LegID)
    /// What the leg's slots show has changed: all of them, in the order of the sections.
    mutating func show(_ slots: [ShownSlot], on leg: LegID)
    /// A source of a tapped call is heard for the first time.
    mutating func tapBegan(_ source: TappedSource)
    /// A packet of it, in Opus. It is to be copied, and not to be waited for.
    mutating func tap(_ payload: RawSpan, _ packet: TappedPacket)
    /// Nothing more comes of it under this number.
    mutating func tapEnded(_ source: UInt32)
}

/// A leg, told apart from an earlier one in the same place by its generation.
package struct LegID: Hashable, Sendable {
    package let place: UInt32
    package let generation: UInt32

    package init(place: UInt32, generation: UInt32) {
        self.place = place
        self.generation = generation
    }
}

/// A section in which the gateway sends, and whose track it shows now.
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

/// A published track, as other participants know it.
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

/// What a track is of, as its participant said.
package enum TrackSource: String, Hashable, Sendable, CaseIterable {
    case microphone
    case camera
    case screen
}
