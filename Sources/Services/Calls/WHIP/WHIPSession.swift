package import Model

/// The protocols by which WebRTC clients exchange media with a call over plain HTTP.
package enum WHIPKind: String, Hashable, Sendable, CaseIterable {
    /// WebRTC-HTTP ingestion (RFC 9725): publishes media.
    case whip
    /// WebRTC-HTTP egress (draft-ietf-wish-whep): plays media.
    case whep

    static func isWHIP(path: String) -> Bool {
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

/// Sessions of WHIP and WHEP. Each method throws a `Problem` if it fails.
package protocol WHIPService: Sendable {
    /// Creates a session for the user, who joins the call with it unless they are in it already.
    func open(_ kind: WHIPKind, in call: CallID, sdp: String, by principal: Principal) async throws -> WHIPAnswer
    /// The tag of one of the user's sessions.
    func tag(of id: WHIPSessionID, by principal: Principal) throws -> String
    /// Restarts ICE with the client's new credentials.
    func restart(_ id: WHIPSessionID, ufrag: String, password: String, by principal: Principal) async throws
        -> WHIPAnswer
    func close(_ id: WHIPSessionID, by principal: Principal) async throws
}
