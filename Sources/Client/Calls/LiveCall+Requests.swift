/// What to do with the user's current call when another one begins. Newer servers may have more.
public struct OtherCall: RawRepresentable, Hashable, Sendable, Codable {
    /// The choice as it stands in JSON.
    public let rawValue: String
    /// Takes any choice.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Put it on hold.
    public static let hold = Self(rawValue: "hold")
    /// End it, or leave it if it is a group call.
    public static let end = Self(rawValue: "end")
}

/// A change of the media that this endpoint sends; nil leaves a member unchanged.
public struct MediaChange: Codable, Hashable, Sendable {
    /// Whether the microphone is on.
    public var audio: Bool?
    /// Whether the camera is on.
    public var video: Bool?
    /// Whether the screen is shared.
    public var screen: Bool?
    /// Whether the call is on hold.
    public var held: Bool?

    /// Creates a change of the given members.
    public init(audio: Bool? = nil, video: Bool? = nil, screen: Bool? = nil, held: Bool? = nil) {
        self.audio = audio
        self.video = video
        self.screen = screen
        self.held = held
    }
}

/// The quality of the received media since the last report.
public struct QualityReport: Codable, Hashable, Sendable {
    /// The fraction of packets lost, 0 to 1.
    public var loss: Double
    /// In milliseconds.
    public var jitter: Double
    /// In milliseconds.
    public var roundTrip: Double
    /// Whether media goes through a relay.
    public var relayed: Bool
    /// Bytes sent.
    public var sent: Int?
    /// Bytes received.
    public var received: Int?
    /// The length of the interval in seconds.
    public var seconds: Double?

    /// Creates a report.
    public init(
        loss: Double, jitter: Double, roundTrip: Double, relayed: Bool, sent: Int? = nil, received: Int? = nil,
        seconds: Double? = nil
    ) {
        self.loss = loss
        self.jitter = jitter
        self.roundTrip = roundTrip
        self.relayed = relayed
        self.sent = sent
        self.received = received
        self.seconds = seconds
    }
}

extension LiveCall {
    struct Plain: Encodable { var call: CallID }
    struct Accept: Encodable {
        var call: CallID
        var clientID = newUUID()
        var other: OtherCall?
        var media: MediaChange?
    }
    private struct Invite: Encodable {
        var call: CallID
        var clientID = newUUID()
        var users: [UserID]
    }
    private struct Media: Encodable {
        var call: CallID
        var audio: Bool?
        var video: Bool?
        var screen: Bool?
        var held: Bool?
    }
    private struct Signalling: Encodable {
        var call: CallID
        var clientID = newUUID()
        var to: EndpointID?
        var kind: String
        var generation: Int
        var payload: Signal.Content.Payload
    }
    private struct Offer: Encodable {
        struct Description: Codable { var sdp: String }
        var call: CallID
        var offer: Description
        var sources: [String: Slot.Source]?
    }
    private struct LegResult: Decodable {
        var answer: Offer.Description
        var epoch: Int
        var slots: [Slot]
        var rejected: [Leg.RejectedSection]?
    }
    private struct Preferences: Encodable {
        var call: CallID
        var slots: [String: Slot.Quality]
    }
    private struct Quality: Encodable {
        var call: CallID
        var loss: Double
        var jitter: Double
        var roundTrip: Double
        var relayed: Bool
        var sent: Int?
        var received: Int?
        var seconds: Double?
    }

    /// Reports that this endpoint rings, so that the caller can play a ringback tone.
    @discardableResult
    public func ringing() async throws -> Call { try await change("calls.ringing", Plain(call: id)) }

    /// Accepts the call on this endpoint. Of all endpoints of the user one wins; the others get
    /// ``Problem/Kind/answeredElsewhere``. `other` says what to do with the user's current call.
    @discardableResult
    public func accept(other: OtherCall? = nil, media: MediaChange? = nil) async throws -> Call {
        try await endpoint.accept(Accept(call: id, other: other, media: media))
    }

    /// Declines the call on all endpoints of the user; a call of two ends by that.
    @discardableResult
    public func decline() async throws -> Call { try await change("calls.decline", Plain(call: id)) }

    /// Cancels a ringing call. Never fails on the call's state: if it was accepted meanwhile, this hangs up.
    @discardableResult
    public func cancel() async throws -> Call { try await change("calls.cancel", Plain(call: id)) }

    /// Ends the call for everybody, if the user may. Never fails on the call's state.
    @discardableResult
    public func end() async throws -> Call { try await change("calls.end", Plain(call: id)) }

    /// Leaves a group call, which goes on; hangs up a call of two. Never fails on the call's state.
    @discardableResult
    public func leave() async throws -> Call { try await change("calls.leave", Plain(call: id)) }

    /// Rings more people, who join when they accept. A call of two then moves to the media gateway; throws
    /// ``Problem/Kind/conflict`` if the server has none.
    @discardableResult
    public func invite(_ users: [UserID]) async throws -> Call {
        try await change("calls.invite", Invite(call: id, users: users))
    }

    /// Starts a recording of the call, which every participant is shown. Throws ``Problem/Kind/conflict`` unless the
    /// call's media goes through the gateway.
    @discardableResult
    public func record() async throws -> Call { try await change("calls.record", Plain(call: id)) }

    /// Stops the recording, whoever started it.
    @discardableResult
    public func stopRecording() async throws -> Call { try await change("calls.stopRecording", Plain(call: id)) }

    /// Starts live captions, which every participant is shown and receives as ``LiveCall/captions``. Throws
    /// ``Problem/Kind/conflict`` unless the call's media goes through the gateway.
    @discardableResult
    public func caption() async throws -> Call { try await change("calls.caption", Plain(call: id)) }

    /// Stops the captions, whoever started them.
    @discardableResult
    public func stopCaptions() async throws -> Call { try await change("calls.stopCaptions", Plain(call: id)) }

    /// Reports that media flows. Without this report the call ends 20 seconds after it was accepted; through the media
    /// gateway, this participant leaves it after 60 seconds.
    @discardableResult
    public func connected() async throws -> Call { try await change("calls.connected", Plain(call: id)) }

    /// Reports that media from the other side still flows, which keeps the call alive if the other side has lost its
    /// connection to the server. Call it every 10 seconds.
    @discardableResult
    public func alive() async throws -> Call { try await change("calls.alive", Plain(call: id)) }

    /// Reports to all participants what this endpoint sends: mute, camera, screen, hold.
    @discardableResult
    public func setMedia(_ media: MediaChange) async throws -> Call {
        try await change(
            "calls.media",
            Media(call: id, audio: media.audio, video: media.video, screen: media.screen, held: media.held))
    }

    /// Reports how well media flows; returns the mean opinion score that the server estimates, 1 (bad) to 4.5.
    @discardableResult
    public func report(_ report: QualityReport) async throws -> Double {
        struct Score: Decodable { var mos: Double }
        let quality = Quality(
            call: id, loss: report.loss, jitter: report.jitter, roundTrip: report.roundTrip, relayed: report.relayed,
            sent: report.sent, received: report.received, seconds: report.seconds)
        let score: Score = try await endpoint.request("calls.quality", quality)
        return score.mos
    }

    /// Sends a signal to the endpoint on the other side.
    ///
    /// - Parameters:
    ///   - content: What to send. An SDP is at most 256 KiB, a batch at most 64 candidates.
    ///   - generation: For an offer the generation it builds on (0 for the first); the receipt has the one it was
    ///     committed as. Answers and candidates name the generation of their offer. The offer of
    ///     ``Switchboard/call(_:kind:mode:offer:ringFor:other:)`` is generation 1.
    ///   - recipient: The endpoint it is for; in a call of two it may be nil.
    /// - Throws: ``Problem/Kind/conflict`` with ``Problem/winner`` if the other side's offer was first.
    @discardableResult
    public func send(
        _ content: Signal.Content, generation: Int, to recipient: EndpointID? = nil
    ) async throws -> SignalReceipt {
        try await endpoint.request(
            "calls.signals",
            Signalling(
                call: id, to: recipient, kind: content.kind, generation: generation, payload: content.payload))
    }

    /// Creates this endpoint's leg with the call's media gateway from an offer, or renegotiates it.
    ///
    /// The client always offers: one section for each track that it sends, and one receive-only section for each track
    /// that it can show at a time, at most 5 of audio and 25 of video, all bundled. An offer of the same peer
    /// connection renegotiates the leg; one of another peer connection replaces it. Nothing else is exchanged: the
    /// answer contains the gateway's candidates, and the gateway discovers the client's as peer-reflexive candidates.
    ///
    /// - Parameters:
    ///   - offer: The session description, at most 256 KiB.
    ///   - sources: The sources of the tracks by the `mid` of their sections; by default audio is a microphone, video a
    ///     camera.
    /// - Throws: ``Problem/Kind/conflict`` if the call's media is peer to peer or the call was not accepted here, and
    ///   ``Problem/Kind/invalidRequest`` with the field `offer.sdp` for an offer that cannot be answered.
    @discardableResult
    public func leg(offer: String, sources: [String: Slot.Source] = [:]) async throws -> Leg {
        offerSent()
        let result: LegResult = try await endpoint.request(
            "calls.leg", Offer(call: id, offer: .init(sdp: offer), sources: sources.isEmpty ? nil : sources))
        answerReceived(epoch: result.epoch)
        return Leg(answer: result.answer.sdp, epoch: result.epoch, slots: result.slots, rejected: result.rejected ?? [])
    }

    /// Sets the preferred video quality of some slots of the leg: small tiles need a low one, invisible ones none.
    ///
    /// - Parameter preferences: The qualities by the `mid` of slots of the kind ``Slot/Kind/video``. Other slots stay
    ///   unchanged, also across renegotiation; slots of a new leg begin with ``Slot/Quality/high``.
    /// - Returns: The current preferences of all video slots, by mid.
    /// - Throws: ``Problem/Kind/conflict`` if there is no leg, and ``Problem/Kind/invalidRequest`` with a field such as
    ///   `slots.7` for a `mid` that is no video slot. Then nothing has changed.
    @discardableResult
    public func setSlotPreferences(_ preferences: [String: Slot.Quality]) async throws -> [String: Slot.Quality] {
        struct SlotsResult: Decodable { var slots: [String: Slot.Quality] }
        let result: SlotsResult = try await endpoint.request("calls.slots", Preferences(call: id, slots: preferences))
        return result.slots
    }

    /// The STUN and TURN servers for this call, with credentials that are valid while the user rings or is in the call.
    /// Request them again for each peer connection.
    ///
    /// - Throws: ``Problem/Kind/callEnded``, and ``Problem/Kind/conflict`` if the user is not in the call.
    public func iceServers() async throws -> ICEServers {
        try await endpoint.request("iceServers.get", Plain(call: id))
    }

    private func change(_ name: String, _ params: some Encodable & Sendable) async throws -> Call {
        let response: CallMember = try await endpoint.request(name, params)
        return response.call
    }
}
