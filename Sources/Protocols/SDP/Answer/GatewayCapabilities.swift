/// What the gateway receives and sends on one leg: the call decides the codecs, the endpoint (such as WHIP) what may be
/// published.
package struct GatewayCapabilities: Hashable, Sendable {
    /// The codecs that can be forwarded, in the order of the client's offer (RFC 3264 section 6.1).
    package var audioCodecs: Set<MediaCodec> = [.opus, .redundantAudio]
    package var videoCodecs: Set<MediaCodec> = [.vp8]
    /// The codecs that all viewers can decode, when those are not all codecs: a client that supports any of these
    /// publishes only in them. One that supports none publishes for those viewers that can decode it.
    package var commonVideoCodecs: Set<MediaCodec>?
    /// Receive-only sections of the client beyond these are answered `inactive`.
    package var audioSlots = 5
    package var videoSlots = 25
    /// The kinds that the client may send; in sections of other kinds the answer does not receive.
    package var mayPublish: Set<MediaKind> = [.audio, .video]
    /// An offer whose audio or video has no supported codec is not answered without it (RFC 9725 section 4.4.3).
    package var requiresEveryKind = false
    package var extensions: Set<String> = [
        ExtensionURI.audioLevel, ExtensionURI.mid, ExtensionURI.rid, ExtensionURI.repairedRID,
        ExtensionURI.absoluteSendTime, ExtensionURI.transportWide, ExtensionURI.dependencyDescriptor,
        ExtensionURI.videoOrientation, ExtensionURI.layersAllocation, ExtensionURI.absoluteCaptureTime,
        ExtensionURI.colorSpace, ExtensionURI.playoutDelay,
    ]
    /// Simulcast encodings of one track that are received at the same time.
    package var maximumEncodings = 3
    /// Encodings of all tracks of a leg: a microphone, a camera, a screen with its audio, and as many again. In
    /// sections beyond this the answer does not receive.
    package var maximumPublishedEncodings = 16
    /// Asks clients for discontinuous transmission, `usedtx=1` (RFC 7587 section 6.1).
    package var requestsDTX = true
    /// Asks for two channels of Opus also where the client only prefers to receive them.
    package var prefersStereo = false
    /// The maximum bits per second that a client should send in a section, when there is a limit.
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

/// The gateway's transport parameters, the same for the whole life of a leg except for the ICE credentials.
package struct GatewayTransport: Hashable, Sendable {
    package var fingerprints: [FingerprintAttribute]
    package var candidates: [Candidate]
    /// Used for a leg's first answer and when the client restarts ICE; otherwise the current ones stay.
    package var freshCredentials: ICECredentials

    package init(
        fingerprints: [FingerprintAttribute], candidates: [Candidate], freshCredentials: ICECredentials
    ) {
        self.fingerprints = fingerprints
        self.candidates = candidates
        self.freshCredentials = freshCredentials
    }
}

/// The identity of a slot, which stays the same whichever participant's track it shows.
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
