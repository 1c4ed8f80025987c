package import Model

/// The media gateway's interface for calls: it answers the offers of endpoints, and each answer creates a leg.
///
/// A leg is one endpoint's peer connection with the gateway. An endpoint has at most one leg in a call: a further offer
/// renegotiates it or, if it comes from another peer connection, replaces it.
package protocol MediaLegs: Sendable {
    /// Answers an offer. Throws `LegRejection` if it cannot be answered; an existing leg then stays unchanged.
    func answer(_ offer: LegOffer) async throws -> LegAnswer

    /// Sets preferences for video slots of the endpoint's leg, by mid. Returns the preferences of all video slots in
    /// section order; nothing changes if a mid is not a video slot. Nil if the endpoint has no leg.
    func setPreferences(
        _ preferences: [String: SlotQuality], call: CallID, endpoint: EndpointID
    ) async -> [SlotPreference]?

    /// Ends the endpoint's leg, if there is one, without notifying the observer. Called on the store's writer thread
    /// among others: it must be brief.
    func end(call: CallID, endpoint: EndpointID)
}

/// Receives the gateway's events about legs.
///
/// Called on threads that forward packets: it must be brief. The events of one leg arrive in order.
package protocol LegObserver: Sendable {
    /// The endpoint's handshake is done: media can flow from now on.
    func legIsConnected(call: CallID, endpoint: EndpointID)

    /// The assignment of the leg's slots has changed; `slots` are all of them.
    func legSlotsChanged(_ slots: [LegSlot], call: CallID, endpoint: EndpointID)

    /// A participant joined who cannot decode what the endpoint publishes: renegotiation selects a codec that everybody
    /// supports.
    func legNeedsRenegotiation(call: CallID, endpoint: EndpointID)

    /// An authenticated packet arrived from the endpoint; called at most once in five seconds.
    func legIsAlive(call: CallID, endpoint: EndpointID)

    /// The leg has failed and was removed. Not called for legs that `MediaLegs.end` ended or another offer replaced.
    func legEnded(because reason: LegEndReason, call: CallID, endpoint: EndpointID)
}

/// What an endpoint offers.
package struct LegOffer: Hashable, Sendable {
    /// What the leg may send and receive; other sections are rejected.
    package enum Part: Hashable, Sendable {
        case participant
        /// It only sends.
        case publisher
        /// It only receives.
        case viewer
        /// It only sends, and only audio.
        case speaker
    }

    package var call: CallID
    package var user: UserID
    package var endpoint: EndpointID
    package var sdp: String
    /// The sources of the tracks, by the mids of their sections; by default audio is a microphone, video a camera.
    package var sources: [String: LegTrack.Source]
    package var part: Part

    package init(
        call: CallID, user: UserID, endpoint: EndpointID, sdp: String, sources: [String: LegTrack.Source] = [:],
        part: Part = .participant
    ) {
        self.call = call
        self.user = user
        self.endpoint = endpoint
        self.sdp = sdp
        self.sources = sources
        self.part = part
    }
}

package struct LegAnswer: Hashable, Sendable {
    package var sdp: String
    /// The sections in which the gateway sends, in order.
    package var slots: [LegSlot]
    /// The gateway's ICE username fragment; it changes when ICE is restarted.
    package var ufrag: String

    package init(sdp: String, slots: [LegSlot], ufrag: String) {
        self.sdp = sdp
        self.slots = slots
        self.ufrag = ufrag
    }
}

/// A section of a leg in which the gateway sends one track at a time.
package struct LegSlot: Hashable, Sendable {
    package enum Kind: String, Sendable, CaseIterable {
        case audio, video
    }

    package var mid: String
    package var kind: Kind
    /// Absent while no track is assigned.
    package var track: LegTrack?

    package init(mid: String, kind: Kind, track: LegTrack? = nil) {
        self.mid = mid
        self.kind = kind
        self.track = track
    }
}

/// A track that an endpoint publishes, as the others see it.
package struct LegTrack: Hashable, Sendable {
    package enum Source: String, Hashable, Sendable, CaseIterable, Codable {
        case microphone, camera, screen
    }

    package var endpoint: EndpointID
    /// The mid of the section in which its endpoint sends it.
    package var mid: String
    package var source: Source

    package init(endpoint: EndpointID, mid: String, source: Source) {
        self.endpoint = endpoint
        self.mid = mid
        self.source = source
    }
}

/// Why an offer cannot be answered.
package enum LegRejection: Error, Hashable, Sendable {
    /// The offer is invalid; the text says why, for the developer of the client.
    case badOffer(String)
    /// The gateway cannot accept another leg now.
    case full
    /// The gateway is stopping, or the leg ended at this moment.
    case gone
}

/// Why a leg failed.
package enum LegEndReason: String, Hashable, Sendable, CaseIterable {
    /// No connectivity check of the endpoint ever came.
    case neverConnected = "never_connected"
    /// The DTLS handshake failed or timed out.
    case handshakeFailed = "handshake_failed"
    /// The certificate does not match the offer's fingerprint.
    case wrongCertificate = "wrong_certificate"
    /// The endpoint closed its side.
    case closed
    /// No packets have arrived from the endpoint for too long.
    case connectionLost = "connection_lost"
    /// The gateway is stopping.
    case stopped
}

extension Problem {
    package init(_ error: LegRejection) {
        switch error {
        case .badOffer(let why): self = .invalid("offer.sdp", "The offer cannot be answered: \(why).")
        case .full: self.init(.unavailable, "The media gateway has no capacity for another leg.", retryAfter: 5000)
        case .gone:
            self.init(.unavailable, "The leg ended, or the media gateway is stopping: offer again.", retryAfter: 500)
        }
    }
}
