/// The result of an offer and its answer, for forwarding.
package struct NegotiatedLeg: Hashable, Sendable {
    package var answer: SessionDescription
    package var sections: [NegotiatedSection]
    package var remote: RemoteTransport
    /// The gateway's current ICE credentials.
    package var credentials: ICECredentials
    /// The client's credentials changed (RFC 8839 section 4.4.1.1): a new ICE generation begins.
    package var isICERestart: Bool
    /// One-byte and two-byte header extensions may be mixed in one stream.
    package var allowsMixedExtensions: Bool
}

/// The client's transport parameters.
package struct RemoteTransport: Hashable, Sendable {
    package var credentials: ICECredentials
    /// One of these must match the certificate of the client.
    package var fingerprints: [FingerprintAttribute]
    package var candidates: [Candidate]
    package var trickles: Bool
    /// libwebrtc's renomination: the controlling side may nominate again, with a number in each nomination.
    package var renominates: Bool
    /// It is passive in DTLS, so that the gateway begins the handshake. It stays so (RFC 8842 section 5.1).
    package var awaitsHandshake: Bool
}

/// One section, seen from the gateway: where it receives, the client publishes a track; where it sends is a slot.
package struct NegotiatedSection: Hashable, Sendable {
    /// Its index in the description, from 0.
    package var index: Int
    /// Empty when it is rejected and has none.
    package var mid: String
    /// Nil when it is neither audio nor video, and then it is rejected.
    package var kind: MediaKind?
    package var direction: Direction
    /// Why it was rejected, nil when it was not.
    package var rejection: SectionRejection?
    /// The codecs that may be sent in it, in the order of preference.
    package var codecs: [NegotiatedCodec] = []
    package var extensions: [NegotiatedExtension] = []
    /// The names of the simulcast encodings that the client sends, in its order; empty without simulcast.
    package var rids: [String] = []
    /// The client's limits for these encodings, by rid.
    package var encodingLimits: [String: EncodingLimits] = [:]
    /// The sources that the client announced; one that uses rids announces none.
    package var sources: [AnnouncedSource] = []
    /// The client's own ids for what it sends.
    package var stream: MSID?
    package var slot: SlotIdentity?
    package var hasReducedSizeRTCP = false

    /// Opus with two channels may come in it.
    package var isStereo: Bool { codecs.contains(where: \.isStereo) }

    package func codec(_ payloadType: UInt8) -> NegotiatedCodec? {
        codecs.first { $0.payloadType == payloadType || $0.retransmission == payloadType }
    }

    package func extensionID(_ uri: String) -> UInt8? {
        extensions.first { $0.uri == uri }?.id
    }
}

package struct NegotiatedCodec: Hashable, Sendable {
    package var codec: MediaCodec
    package var payloadType: UInt8
    package var clockRate: UInt32
    package var feedback: MediaFeedback
    /// The payload type of its retransmissions (RFC 4588).
    package var retransmission: UInt8?
    /// The client was asked for two channels.
    package var isStereo = false
}

package struct NegotiatedExtension: Hashable, Sendable {
    package var id: UInt8
    package var uri: String
    /// Seen from the gateway.
    package var direction: Direction
}

package struct AnnouncedSource: Hashable, Sendable {
    package var ssrc: UInt32
    package var retransmission: UInt32?
}
