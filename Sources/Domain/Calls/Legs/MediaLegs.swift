package import Model

/// The media gateway as calls see it: it answers the offers of endpoints, and each answer is a leg.
///
/// A leg is one endpoint's peer connection with the gateway. An endpoint has at most one in a call: a further offer
/// changes it, or, where it comes from another peer connection, takes its place.
package protocol MediaLegs: Sendable {
    /// Answers an offer. Throws `LegRefusal` where none can be given; a leg that was there then goes on as it was.
    func answer(_ offer: LegOffer) async throws -> LegAnswer

    /// Takes what the endpoint wants in video slots of its leg, by mid. What it wants then in all of them, in the order of
    /// the sections; nothing changes where one that is named is not among them. nil when it has no leg.
    func want(_ wishes: [String: SlotQuality], call: CallID, endpoint: EndpointID) async -> [SlotWish]?

    /// The endpoint is not in the call any more, or its leg is not wanted: whatever is left of it goes, and the observer
    /// is not told. Called on the store's writer thread among others: it must be brief.
    func end(call: CallID, endpoint: EndpointID)
}

/// Learns from the gateway what becomes of legs.
///
/// Called on threads that forward packets: it must be brief. What concerns one leg is told in its order.
package protocol LegObserver: Sendable {
    /// The endpoint's handshake is done: media can flow from now on.
    func legIsConnected(call: CallID, endpoint: EndpointID)

    /// What the leg's slots show has changed: all of them, as they are now.
    func legShows(_ slots: [LegSlot], call: CallID, endpoint: EndpointID)

    /// Somebody came who cannot play what the endpoint publishes: with another offer it gets a codec that everybody has.
    func legIsOutdated(call: CallID, endpoint: EndpointID)

    /// Something came from the endpoint that only it can have sent; at most once in five seconds.
    func legIsAlive(call: CallID, endpoint: EndpointID)

    /// The leg has failed, and is gone. Not told of legs that `MediaLegs.end` ended or another offer replaced.
    func legEnded(because reason: LegEndReason, call: CallID, endpoint: EndpointID)
}

/// What an endpoint offers.
package struct LegOffer: Hashable, Sendable {
    /// What the leg may do; sections for anything else are rejected.
    package enum Part: Hashable, Sendable {
        case participant
        /// It only sends.
        case publisher
        /// It only receives.
        case viewer
        /// It only sends, and only sound.
        case speaker
    }

    package var call: CallID
    package var user: UserID
    package var endpoint: EndpointID
    package var sdp: String
    /// What the tracks are of, by the mids of their sections; without a word audio is a microphone, video a camera.
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
    /// What each section shows in which the gateway sends, in their order.
    package var slots: [LegSlot]
    /// The gateway's fragment of the ICE credentials: another one than before where ICE was restarted.
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
    /// Absent while it shows nothing.
    package var track: LegTrack?

    package init(mid: String, kind: Kind, track: LegTrack? = nil) {
        self.mid = mid
        self.kind = kind
        self.track = track
    }
}

/// A track that an endpoint publishes, as others are shown it.
package struct LegTrack: Hashable, Sendable {
    package enum Source: String, Hashable, Sendable, CaseIterable, Codable {
        case microphone, camera, screen
    }

    package var endpoint: EndpointID
    /// The section in which its endpoint sends it.
    package var mid: String
    package var source: Source

    package init(endpoint: EndpointID, mid: String, source: Source) {
        self.endpoint = endpoint
        self.mid = mid
        self.source = source
    }
}

/// Why an offer gets no answer.
package enum LegRefusal: Error, Hashable, Sendable {
    /// The offer is at fault; the text says what is wrong, for whoever wrote it.
    case badOffer(String)
    /// There is no room for another leg now.
    case full
    /// The gateway stops, or the leg ended at this moment.
    case gone
}

/// Why a leg ended by itself.
package enum LegEndReason: String, Hashable, Sendable, CaseIterable {
    /// No connectivity check of the endpoint ever came.
    case neverConnected = "never_connected"
    /// The handshake of DTLS failed, or took too long.
    case handshakeFailed = "handshake_failed"
    /// The certificate was not the one that the offer named.
    case wrongCertificate = "wrong_certificate"
    /// The endpoint closed its side.
    case closed
    /// Nothing has come from the endpoint for too long.
    case connectionLost = "connection_lost"
    /// The gateway stops.
    case stopped
}

extension Problem {
    package init(_ refusal: LegRefusal) {
        switch refusal {
        case .badOffer(let why): self = .invalid("offer.sdp", "The offer cannot be answered: \(why).")
        case .full: self.init(.unavailable, "The media gateway has no room for another leg.", retryAfter: 5000)
        case .gone:
            self.init(.unavailable, "The leg ended, or the media gateway stops: offer again.", retryAfter: 500)
        }
    }
}
