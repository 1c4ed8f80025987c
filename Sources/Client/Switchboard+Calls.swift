extension Switchboard {
    private struct Creation: Encodable {
        struct Offer: Encodable { var sdp: String }
        var clientID = newUUID()
        var callees: [UserID]
        var kind: Call.Kind
        var mode: String?
        var offer: Offer?
        var ringSeconds: Int?
        var other: OtherCall?
    }
    private struct Listing: Encodable { var limit: Int?; var cursor: String? }

    /// A part of a list, and where the next one begins.
    public struct Page: Decodable, Hashable, Sendable {
        /// The calls, the newest first.
        public var calls: [Call]
        /// What to give ``Switchboard/history(limit:after:)`` for the next part; nil where there is none.
        public var nextCursor: String?
    }

    /// Calls people.
    ///
    /// When a callee called at the same moment, their call is accepted instead: look whether
    /// ``Call/caller`` is somebody else, and answer their offer.
    ///
    /// - Parameters:
    ///   - callees: Whom to ring, 1 to 49.
    ///   - kind: What the call begins as.
    ///   - mode: `direct` or `gateway`; nil is direct between two people, and for more the gateway, which the server
    ///     must have.
    ///   - offer: The SDP to offer, at most 256 KiB; only the endpoint that accepts gets it. It is generation 1.
    ///   - ringFor: Seconds to ring, 10 to 120; nil is the server's 60.
    ///   - other: What becomes of another call one is in.
    /// - Returns: The call; its ``LiveCall/updates`` tell how it goes on.
    public func call(
        _ callees: [UserID], kind: Call.Kind, mode: String? = nil, offer: String? = nil, ringFor: Int? = nil,
        other: OtherCall? = nil
    ) async throws -> LiveCall {
        try await realtime.askForCall(
            "calls.create",
            Creation(
                callees: callees, kind: kind, mode: mode, offer: offer.map(Creation.Offer.init), ringSeconds: ringFor,
                other: other))
    }

    /// The calls that ring for the user, those that do so now and each that will. Asking opens the connection. A reader
    /// who falls 64 calls behind misses the oldest.
    public var incomingCalls: AsyncStream<LiveCall> {
        get async { await realtime.incomingCalls() }
    }

    /// The handle of a call one is in or was in, by its id: from a push message, or from the last run of the app.
    public func liveCall(_ id: CallID) async throws -> LiveCall {
        try await realtime.askForCall("calls.get", ["call": id])
    }

    /// The calls one was in, the newest first.
    ///
    /// - Parameters:
    ///   - limit: How many at most, 1 to 100.
    ///   - cursor: ``Page/nextCursor`` of the part before.
    public func history(limit: Int? = nil, after cursor: String? = nil) async throws -> Page {
        try await realtime.ask("calls.list", Listing(limit: limit, cursor: cursor))
    }

    /// STUN and TURN servers that belong to no call; those of a call are ``LiveCall/iceServers()``.
    ///
    /// - Parameter purpose: What they are for. Without it they are for a test too, unless the server is configured for apps
    ///   with signalling of their own (`relay.credentials: open`).
    public func iceServers(for purpose: ICEServers.Purpose? = nil) async throws -> ICEServers {
        try await realtime.ask("iceServers.get", RelayPurpose(scope: purpose?.rawValue))
    }

    private struct RelayPurpose: Encodable, Sendable {
        let scope: String?
    }
}
