package import Model

/// The protocols by which WebRTC clients exchange media with a call over plain HTTP.
package enum WHIPKind: String, Hashable, Sendable, CaseIterable {
    /// WebRTC-HTTP ingestion (RFC 9725): publishes media.
    case whip
    /// WebRTC-HTTP egress (draft-ietf-wish-whep): plays media.
    case whep

    package static func isWHIP(path: String) -> Bool {
        path.hasPrefix("/v1/calls/") && allCases.contains { path.hasSuffix("/\($0.rawValue)") }
    }
}

/// The id of a session of WHIP or WHEP.
package struct WHIPSessionID: Hashable, Sendable {
    package var kind: WHIPKind
    package var call: CallID
    /// The endpoint that the server generated for it.
    package var leg: EndpointID

    package init(kind: WHIPKind, call: CallID, leg: EndpointID) {
        self.kind = kind
        self.call = call
        self.leg = leg
    }

    var callLeg: CallLeg { CallLeg(call: call, endpoint: leg) }
}

/// The answer of a session to an offer, or to an ICE restart.
package struct WHIPAnswer: Hashable, Sendable {
    package var id: WHIPSessionID
    package var sdp: String
    /// Identifies the ICE session; it changes with each ICE restart.
    package var tag: String

    package init(id: WHIPSessionID, sdp: String, tag: String) {
        self.id = id
        self.sdp = sdp
        self.tag = tag
    }
}
