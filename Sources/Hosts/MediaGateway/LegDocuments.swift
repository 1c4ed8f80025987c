package import Gateway

/// Which leg: one participant of one call has one at a time.
package struct LegKey: Hashable, Sendable {
    package let call: String
    package let participant: String

    package init(call: String, participant: String) {
        self.call = call
        self.participant = participant
    }
}

/// A participant's description of the PeerConnection that it wants, or of how it is to change.
package struct LegOffer: Sendable {
    /// What a leg may do.
    package enum Part: Hashable, Sendable {
        case participant
        /// It only sends (WHIP).
        case publisher
        /// It only receives (WHEP).
        case viewer
        /// It only sends, and only sound, which is recorded.
        case speaker
    }

    package var key: LegKey
    package var sdp: String
    /// What the tracks are of, by mid; otherwise audio is a microphone and video a camera.
    package var sources: [String: TrackSource]
    package var part: Part

    package init(key: LegKey, sdp: String, sources: [String: TrackSource] = [:], part: Part = .participant) {
        self.key = key
        self.sdp = sdp
        self.sources = sources
        self.part = part
    }
}

/// The gateway's side of it.
package struct LegAnswer: Sendable {
    package let sdp: String
    /// What the slots show at this moment.
    package let slots: [ShownSlot]
    /// The gateway's ICE credentials: others than before when ICE was restarted.
    package let ufrag: String
}

/// How good a picture a participant wants in one of its video slots.
package struct SlotWish: Hashable, Sendable {
    package let mid: String
    package let quality: WantedQuality
}

/// Why an offer was not answered. Whatever there was before goes on.
package enum LegRefusal: Error, Hashable, Sendable {
    /// The description is none, or asks for what the gateway does not do; in words.
    case badOffer(String)
    case full
    /// The gateway stops, or the leg ended meanwhile.
    case gone
}

/// Why a leg ended.
package enum LegEnd: String, Hashable, Sendable, CaseIterable {
    /// The participant left, or the call ended.
    case left
    /// It offered a new PeerConnection.
    case replaced
    /// The client closed its PeerConnection.
    case closed
    /// No connectivity check of the client ever arrived.
    case neverConnected
    /// The client was not heard for 30 s.
    case connectionLost
    /// DTLS failed or took too long.
    case handshakeFailed
    /// The client's certificate is not the one that its offer named.
    case wrongCertificate
    case stopped
}

/// What the gateway has to tell. Called on a worker's thread: whoever gets it must be brief.
package enum GatewayEvent: Sendable {
    /// Media can flow from now on.
    case connected(LegKey)
    /// What the slots of the leg show now, all of them.
    case shows(LegKey, [ShownSlot])
    /// It publishes in a codec that somebody who came cannot play: what it offers next is answered without.
    case outdated(LegKey)
    /// The client was heard a moment ago; at most once in five seconds.
    case alive(LegKey)
    case ended(LegKey, LegEnd)
}
