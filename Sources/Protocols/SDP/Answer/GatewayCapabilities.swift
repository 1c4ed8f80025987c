/// What the gateway takes and gives on one leg: the call decides the codecs, the door what may be published.
package struct GatewayCapabilities: Hashable, Sendable {
    /// What can be forwarded. Of what a client offers of these, its own order stands (RFC 3264 section 6.1).
    package var audioCodecs: Set<MediaCodec> = [.opus, .redundantAudio]
    package var videoCodecs: Set<MediaCodec> = [.vp8]
    /// What everybody who is to see it can play, when that is not all: a client that has one of these gets no other to
    /// publish in. Who has none of them publishes for those who can play it.
    package var commonVideoCodecs: Set<MediaCodec>?
    /// Receive-only sections of the client beyond these are answered `inactive`.
    package var audioSlots = 5
    package var videoSlots = 25
    /// What the client may send; other sections in which it would are answered without.
    package var mayPublish: Set<MediaKind> = [.audio, .video]
    package var extensions: Set<String> = [
        ExtensionURI.audioLevel, ExtensionURI.mid, ExtensionURI.rid, ExtensionURI.repairedRID,
        ExtensionURI.absoluteSendTime, ExtensionURI.transportWide, ExtensionURI.dependencyDescriptor,
        ExtensionURI.videoOrientation, ExtensionURI.layersAllocation, ExtensionURI.absoluteCaptureTime,
        ExtensionURI.colorSpace, ExtensionURI.playoutDelay,
    ]
    /// Encodings of one track that are taken at the same time.
    package var maximumEncodings = 3
    /// Encodings of all tracks of a leg: a microphone, a camera, a screen with its sound, and as much again. Sections in
    /// which there would be more are answered as if nothing were sent in them.
    package var maximumPublishedEncodings = 16
    /// Asks clients to send nothing during silence (RFC 7587 section 6.1).
    package var wantsSilenceSuppressed = true
    /// Bits a second that a client should send at most in a section, when there is a limit.
    package var audioBitrate: UInt64?
    package var videoBitrate: UInt64?

    package init() {}

    func codecs(_ kind: MediaKind) -> Set<MediaCodec> {
        kind == .audio ? audioCodecs : videoCodecs
    }

    func slots(_ kind: MediaKind) -> Int {
        kind == .audio ? audioSlots : videoSlots
    }
}

/// The gateway's side of the transport, the same for the whole life of a leg but for the ICE credentials.
package struct GatewayTransport: Hashable, Sendable {
    package var fingerprints: [CertificateFingerprint]
    package var candidates: [Candidate]
    /// Used for a leg's first answer and when the client restarts ICE; otherwise those in force stay.
    package var freshCredentials: ICECredentials

    package init(
        fingerprints: [CertificateFingerprint], candidates: [Candidate], freshCredentials: ICECredentials
    ) {
        self.fingerprints = fingerprints
        self.candidates = candidates
        self.freshCredentials = freshCredentials
    }
}

/// What a slot is called for ever, whichever participant's track it shows.
package struct SlotIdentity: Hashable, Sendable {
    package var ssrc: UInt32
    package var retransmissionSSRC: UInt32
    package var cname: String
    package var stream: String
    package var track: String

    package init(ssrc: UInt32, retransmissionSSRC: UInt32, cname: String, stream: String, track: String) {
        self.ssrc = ssrc
        self.retransmissionSSRC = retransmissionSSRC
        self.cname = cname
        self.stream = stream
        self.track = track
    }
}
