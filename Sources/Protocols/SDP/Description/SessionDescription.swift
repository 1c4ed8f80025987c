/// An SDP session description (RFC 8866), as far as a WebRTC peer needs it (RFC 9429).
///
/// Reading is lenient: lines may end with LF alone or with blanks, their order is not enforced, and lines and
/// attributes that this module does not interpret are kept unchanged. What no answer can do without must be valid: the
/// lines of the grammar, mids, ICE credentials, fingerprints, DTLS roles and the names of offered codecs. An error has
/// the line, what was found there and what is allowed there. Other attributes are ignored if they are malformed. A
/// description that is written and read again is equal.
///
///     v=0
///     o=- 4004249750 1 IN IP4 0.0.0.0
///     s=-
///     t=0 0
///     a=group:BUNDLE 0 1                 groups, attributes: for the whole session
///     m=audio 9 UDP/TLS/RTP/SAVPF 111    a section
///     a=mid:0
///     m=video 9 UDP/TLS/RTP/SAVPF 96     the next one
package struct SessionDescription: Hashable, Sendable {
    /// The largest text that is read.
    package static let maximumByteCount = 256 * 1024

    /// `o=`: the origin of the session, with its id and version.
    package struct Origin: Hashable, Sendable {
        package var username = "-"
        package var session = "0"
        package var version = "0"
        package var address = "IN IP4 0.0.0.0"

        package init() {}
    }

    package var origin = Origin()
    package var name = "-"
    /// The session's other lines in their order, `t=` among them.
    package var lines: [OtherLine] = [OtherLine("t", "0 0")]
    package var groups: [SectionGroup] = []
    package var isICELite = false
    package var attributes = LevelAttributes()
    package var sections: [MediaSection] = []

    package init() {}

    /// The mids of the first BUNDLE group, in its order.
    package var bundle: [String]? {
        groups.first { $0.semantics == "BUNDLE" }?.mids
    }
}

/// A media section of a description: an `m=` line and those after it.
package struct MediaSection: Hashable, Sendable {
    /// `audio`, `video`, `application` or another.
    package var kind: String
    /// 0 for a section that is rejected, or that has no address of its own (`isBundleOnly`).
    package var port: UInt16
    package var transport: String
    /// The payload types, in the order of preference, when the transport is RTP.
    package var payloads: [PayloadFormat] = []
    /// The formats of every other transport, such as `webrtc-datachannel`.
    package var formats: [String] = []
    package var connection: String? = "IN IP4 0.0.0.0"
    package var bandwidths: [Bandwidth] = []
    package var lines: [OtherLine] = []

    package var mid: String?
    package var attributes = LevelAttributes()
    package var candidates: [Candidate] = []
    package var hasEndOfCandidates = false
    package var hasRTCPMultiplexing = false
    package var hasReducedSizeRTCP = false
    package var isBundleOnly = false
    package var streams: [MSID] = []
    package var sources: [SourceAttribute] = []
    package var sourceGroups: [SourceGroup] = []
    package var restrictionIDs: [RestrictionID] = []
    package var simulcast: Simulcast?
    package var sctpPort: UInt16?
    package var maximumMessageSize: UInt64?

    package init(kind: String, port: UInt16, transport: String) {
        self.kind = kind
        self.port = port
        self.transport = transport
    }

    package var isRTP: Bool {
        Self.isRTP(transport[...])
    }

    static func isRTP(_ transport: Substring) -> Bool {
        transport.hasSuffix("RTP/SAVPF") || transport.hasSuffix("RTP/AVPF") || transport.hasSuffix("RTP/SAVP")
            || transport.hasSuffix("RTP/AVP")
    }

    /// Port 0 means rejected, except for a bundle-only section (RFC 9143 section 6).
    package var isRejected: Bool {
        port == 0 && !isBundleOnly
    }

    package var direction: Direction? {
        attributes.direction
    }
}
