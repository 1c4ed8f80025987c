package import Gateway

/// Identifies a leg: a participant of a call has one at a time.
package struct LegKey: Hashable, Sendable {
    package let call: String
    package let participant: String

    package init(call: String, participant: String) {
        self.call = call
        self.participant = participant
    }
}

/// A participant's offer for a new PeerConnection or for its renegotiation.
package struct LegOffer: Sendable {
    /// The role of a leg.
    package enum Part: Hashable, Sendable {
        case participant
        /// It only sends (WHIP).
        case publisher
        /// It only receives (WHEP).
        case viewer
        /// It only sends, and only audio, which is recorded.
        case speaker
    }

    package var key: LegKey
    package var sdp: String
    /// The sources of the tracks, by mid; the default is microphone for audio and camera for video.
    package var sources: [String: TrackSource]
    package var part: Part

    package init(key: LegKey, sdp: String, sources: [String: TrackSource] = [:], part: Part = .participant) {
        self.key = key
        self.sdp = sdp
        self.sources = sources
        self.part = part
    }
}

/// The gateway's answer to an offer.
package struct LegAnswer: Sendable {
    package let sdp: String
    /// What the slots show now.
    package let slots: [ShownSlot]
    /// The gateway's ICE ufrag: a new one after an ICE restart.
    package let ufrag: String
    /// The sections that are not forwarded although the client offers them.
    package let rejected: [RejectedSection]
}

/// A section that was answered with port 0, and why.
package struct RejectedSection: Hashable, Sendable {
    package let mid: String
    package let reason: String
}

/// The quality that a participant prefers in one of its video slots.
package struct LegSlotPreference: Hashable, Sendable {
    package let mid: String
    package let quality: PreferredQuality
}

/// Why an offer was not answered. The previous state stays.
package enum LegRejection: Error, Hashable, Sendable {
    /// The description is invalid or not supported; with the reason.
    case badOffer(String)
    /// A publisher offers audio or video in no codec that can be forwarded; with the section and the codecs.
    case codecsNotSupported(String)
    case full
    /// The gateway is stopping, or the leg ended meanwhile.
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
    /// Nothing was received from the client for 30 s.
    case connectionLost
    /// DTLS failed or took too long.
    case handshakeFailed
    /// The client's certificate does not match the fingerprint of its offer.
    case wrongCertificate
    case stopped
}

/// An event of the gateway. Delivered on a worker's thread: handlers must be brief.
package enum GatewayEvent: Sendable {
    /// Media can flow from now on.
    case connected(LegKey)
    /// The slots of the leg changed: all of them.
    case shows(LegKey, [ShownSlot])
    /// It publishes in a codec that another leg cannot play: its next offer will be answered without that codec.
    case outdated(LegKey)
    /// Something was received from the client; at most once in five seconds.
    case alive(LegKey)
    /// Why DTLS failed, in OpenSSL's words where it was an error; the end follows.
    case handshakeFailed(LegKey, String)
    case ended(LegKey, LegEnd)
}
