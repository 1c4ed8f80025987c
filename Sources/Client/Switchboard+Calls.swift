extension Switchboard {
    private struct Creation: Encodable {
        struct Offer: Encodable { var sdp: String }
        var clientID = newUUID()
        var callees: [UserID]?
        var conversation: ConversationID?
        var kind: Call.Kind
        var mode: String?
        var offer: Offer?
        var ringSeconds: Int?
        var other: OtherCall?
    }
    private struct Listing: Encodable { var limit: Int?; var cursor: String? }

    /// A page of a list of calls.
    public struct Page: Decodable, Hashable, Sendable {
        /// The calls, newest first.
        public var calls: [Call]
        /// The cursor of the next page for ``Switchboard/history(limit:after:)``; nil on the last page.
        public var nextCursor: String?
    }

    /// Calls people.
    ///
    /// If the callee called at the same time, their call is accepted instead: check whether ``Call/caller`` is somebody
    /// else, and answer their offer.
    ///
    /// - Parameters:
    ///   - callees: The users to ring, 1 to 49.
    ///   - kind: The kind of the call.
    ///   - mode: `direct` or `gateway`; nil is `direct` between two people and `gateway` for more, which the server
    ///     must support.
    ///   - offer: The SDP to offer, at most 256 KiB; only the endpoint that accepts gets it. It is generation 1.
    ///   - ringFor: Seconds to ring, 10 to 120; nil is the server's 60.
    ///   - other: What to do with the user's current call.
    /// - Returns: The call; its ``LiveCall/updates`` show its progress.
    public func call(
        _ callees: [UserID], kind: Call.Kind, mode: String? = nil, offer: String? = nil, ringFor: Int? = nil,
        other: OtherCall? = nil
    ) async throws -> LiveCall {
        try await realtime.requestCall(
            "calls.create",
            Creation(
                callees: callees, kind: kind, mode: mode, offer: offer.map(Creation.Offer.init), ringSeconds: ringFor,
                other: other))
    }

    /// Calls the other one of a conversation, or the members of a group, if there are at most 32; a larger group is shown
    /// that a call is on.
    ///
    /// If a call is on in the conversation, that one is joined.
    ///
    /// - Parameters:
    ///   - conversation: A conversation in which the user may write.
    ///   - kind: The kind of the call.
    ///   - mode: `direct` or `gateway`; nil is `direct` between two people and `gateway` in groups, which the server
    ///     must support.
    ///   - offer: The SDP to offer between two people, at most 256 KiB. It is generation 1.
    ///   - ringFor: Seconds to ring, 10 to 120; nil is the server's 60.
    ///   - other: What to do with the user's current call.
    /// - Returns: The call; its ``LiveCall/updates`` show its progress.
    public func call(
        in conversation: ConversationID, kind: Call.Kind, mode: String? = nil, offer: String? = nil,
        ringFor: Int? = nil, other: OtherCall? = nil
    ) async throws -> LiveCall {
        try await realtime.requestCall(
            "calls.create",
            Creation(
                conversation: conversation, kind: kind, mode: mode, offer: offer.map(Creation.Offer.init),
                ringSeconds: ringFor, other: other))
    }

    /// The calls that ring for the user: the current ones, then new ones. Opens the connection. A reader who falls 64
    /// calls behind misses the oldest.
    ///
    /// It outlives sign-ins: after signing out it waits, and goes on with the calls of the user who signs in next. Only
    /// ``close()`` ends it. A call may be over by the time it is read: that makes its functions throw, and the loop
    /// should go on.
    public var incomingCalls: AsyncStream<LiveCall> {
        get async { await realtime.incomingCalls() }
    }

    /// A call of the user by its id, for example from a push message or from the last run of the app.
    public func liveCall(_ id: CallID) async throws -> LiveCall {
        try await realtime.requestCall("calls.get", ["call": id])
    }

    /// The user's calls, newest first.
    ///
    /// - Parameters:
    ///   - limit: How many at most, 1 to 100.
    ///   - cursor: ``Page/nextCursor`` of the previous page.
    public func history(limit: Int? = nil, after cursor: String? = nil) async throws -> Page {
        try await realtime.request("calls.list", Listing(limit: limit, cursor: cursor))
    }

    /// STUN and TURN servers without a call; for a call use ``LiveCall/iceServers()``.
    ///
    /// - Parameter purpose: The purpose. The default is a test, unless the server is configured for apps with their own
    ///   signalling (`relay.credentials: open`).
    public func iceServers(for purpose: ICEServers.Purpose? = nil) async throws -> ICEServers {
        try await realtime.request("iceServers.get", RelayPurpose(scope: purpose?.rawValue))
    }

    private struct RelayPurpose: Encodable, Sendable {
        let scope: String?
    }
}
