package import Model

/// The two doors to a call's media for programs that speak HTTP and WebRTC and nothing of ours.
package enum MediaDoor: String, Hashable, Sendable, CaseIterable {
    /// WebRTC-HTTP ingestion (RFC 9725): media comes in.
    case whip
    /// WebRTC-HTTP egress (draft-ietf-wish-whep): media goes out.
    case whep

    static func isDoor(path: String) -> Bool {
        path.hasPrefix("/v1/calls/") && allCases.contains { path.hasSuffix("/\($0.rawValue)") }
    }
}

/// Which session of which door.
package struct DoorPlace: Hashable, Sendable {
    package var door: MediaDoor
    package var call: CallID
    /// The endpoint that the server made for it.
    package var leg: EndpointID

    package init(door: MediaDoor, call: CallID, leg: EndpointID) {
        self.door = door
        self.call = call
        self.leg = leg
    }
}

/// What a door's session answers to an offer, or to a restart of ICE.
package struct DoorAnswer: Hashable, Sendable {
    package var place: DoorPlace
    package var sdp: String
    /// Names the ICE session; it changes when ICE is restarted.
    package var tag: String

    package init(place: DoorPlace, sdp: String, tag: String) {
        self.place = place
        self.sdp = sdp
        self.tag = tag
    }
}

/// Legs behind doors. Each method throws a `Problem` where it cannot do what it says.
package protocol DoorService: Sendable {
    /// Makes a session for the user, who joins the call through it unless they are in it already.
    func open(_ door: MediaDoor, in call: CallID, sdp: String, by principal: Principal) async throws -> DoorAnswer
    /// The tag of a session of the user's.
    func tag(of place: DoorPlace, by principal: Principal) throws -> String
    /// Restarts ICE with the client's new credentials.
    func restart(_ place: DoorPlace, ufrag: String, password: String, by principal: Principal) async throws
        -> DoorAnswer
    func close(_ place: DoorPlace, by principal: Principal) async throws
}
