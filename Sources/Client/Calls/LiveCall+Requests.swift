/// What to do with the call that one is in already.
public enum OtherCall: String, Codable, Sendable {
    /// Put it on hold.
    case hold
    /// End it, or leave it where it is a group's.
    case end
}

/// What one changes of the media one sends; nil leaves it as it is.
public struct MediaChange: Codable, Hashable, Sendable {
    /// Whether the microphone is on.
    public var audio: Bool?
    /// Whether the camera is on.
    public var video: Bool?
    /// Whether the screen is shared.
    public var screen: Bool?
    /// Whether the call is on hold.
    public var held: Bool?

    /// Changes what is given.
    public init(audio: Bool? = nil, video: Bool? = nil, screen: Bool? = nil, held: Bool? = nil) {
        self.audio = audio
        self.video = video
        self.screen = screen
        self.held = held
    }
}

/// How well media flowed to oneself since the last report.
public struct QualityReport: Codable, Hashable, Sendable {
    /// The share of packets lost, 0 to 1.
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
    /// For how long media has flowed, in seconds.
    public var seconds: Double?

    /// Puts a report together.
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
    private struct Plain: Encodable { var call: CallID }
    private struct Accept: Encodable {
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
    private struct Answered: Decodable {
        var answer: Offer.Description
        var epoch: Int
        var slots: [Slot]
    }
    private struct Wishes: Encodable {
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

    /// Says that this endpoint rings, so that the caller may hear it.
    @discardableResult
    public func ringing() async throws -> Call { try await change("calls.ringing", Plain(call: id)) }

    /// Accepts the call here. Of all endpoints of the user one wins; the others get
    /// ``Problem/Kind/answeredElsewhere``. What becomes of another call one is in says `other`.
    @discardableResult
    public func accept(other: OtherCall? = nil, media: MediaChange? = nil) async throws -> Call {
        try await change("calls.accept", Accept(call: id, other: other, media: media))
    }

    /// Declines for the user, on all their endpoints; in a call of two that ends it.
    @discardableResult
    public func decline() async throws -> Call { try await change("calls.decline", Plain(call: id)) }

    /// Gives up ringing. Never fails on the call's state: where it was accepted meanwhile, this hangs up.
    @discardableResult
    public func cancel() async throws -> Call { try await change("calls.cancel", Plain(call: id)) }

    /// Hangs up, for everybody where the user may. Never fails on the call's state.
    @discardableResult
    public func end() async throws -> Call { try await change("calls.end", Plain(call: id)) }

    /// Leaves a group's call, which goes on without; hangs up a call of two. Never fails on the call's state.
    @discardableResult
    public func leave() async throws -> Call { try await change("calls.leave", Plain(call: id)) }

    /// Rings more people, who join when they accept. A call of two then moves to the media gateway; it is refused with
    /// ``Problem/Kind/conflict`` where the server has none.
    @discardableResult
    public func invite(_ users: [UserID]) async throws -> Call {
        try await change("calls.invite", Invite(call: id, users: users))
    }

    /// Has what is said recorded, which every participant is shown. The call's media must go through the gateway:
    /// ``Problem/Kind/conflict`` otherwise.
    @discardableResult
    public func record() async throws -> Call { try await change("calls.record", Plain(call: id)) }

    /// Ends the recording, whoever began it.
    @discardableResult
    public func stopRecording() async throws -> Call { try await change("calls.stopRecording", Plain(call: id)) }

    /// Has what is said written down while it is said, which every participant is shown and gets as
    /// ``LiveCall/captions``. The call's media must go through the gateway: ``Problem/Kind/conflict`` otherwise.
    @discardableResult
    public func caption() async throws -> Call { try await change("calls.caption", Plain(call: id)) }

    /// Ends the captions, whoever wanted them.
    @discardableResult
    public func stopCaptions() async throws -> Call { try await change("calls.stopCaptions", Plain(call: id)) }

    /// Reports that media flows. Without it the call ends 20 seconds after it was accepted.
    @discardableResult
    public func connected() async throws -> Call { try await change("calls.connected", Plain(call: id)) }

    /// Reports that media from the other side still flows, which keeps a call alive whose other side has lost its
    /// connection to the server. Every 10 seconds is right.
    @discardableResult
    public func alive() async throws -> Call { try await change("calls.alive", Plain(call: id)) }

    /// Tells everyone what one sends: muted, with pictures, on hold.
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
        let score: Score = try await endpoint.ask("calls.quality", quality)
        return score.mos
    }

    /// Sends a signal to the endpoint on the other side.
    ///
    /// - Parameters:
    ///   - content: What to send. An SDP is at most 256 KiB, a batch at most 64 candidates.
    ///   - generation: For an offer the generation it builds on (0 for the first); the receipt has the one it was
    ///     committed as. Answers and candidates name the generation of their offer. The offer that ``Switchboard/call(_:kind:mode:offer:ringFor:other:)``
    ///     brings is generation 1.
    ///   - recipient: The endpoint it is for; in a call of two it may be nil.
    /// - Throws: ``Problem/Kind/conflict`` with ``Problem/winner``, where the other side's offer was first.
    @discardableResult
    public func send(
        _ content: Signal.Content, generation: Int, to recipient: EndpointID? = nil
    ) async throws -> SignalReceipt {
        try await endpoint.ask(
            "calls.signals",
            Signalling(
                call: id, to: recipient, kind: content.kind, generation: generation, payload: content.payload))
    }

    /// Joins the call's media gateway with an offer, or changes the leg that one has there.
    ///
    /// The client always offers: a section for each track that it sends, and one that only receives for each track that
    /// it wants to be shown at a time, at most 5 of audio and 25 of video. All of them are bundled. An offer of the same
    /// peer connection changes the leg; one of another takes its place. Nothing else is exchanged: the answer has the
    /// gateway's candidates, and the gateway learns those of this side from their checks.
    ///
    /// - Parameters:
    ///   - offer: The session description, at most 256 KiB.
    ///   - sources: What the tracks are of, by the `mid` of their sections; else audio is a microphone, video a camera.
    /// - Throws: ``Problem/Kind/conflict`` where the call goes from peer to peer or was not accepted here, and
    ///   ``Problem/Kind/invalidRequest`` with the field `offer.sdp` for an offer that cannot be answered.
    @discardableResult
    public func leg(offer: String, sources: [String: Slot.Source] = [:]) async throws -> Leg {
        offers()
        let answered: Answered = try await endpoint.ask(
            "calls.leg", Offer(call: id, offer: .init(sdp: offer), sources: sources.isEmpty ? nil : sources))
        self.answered(epoch: answered.epoch)
        return Leg(answer: answered.answer.sdp, epoch: answered.epoch, slots: answered.slots)
    }

    /// Says how good a picture one wants in some slots of one's leg: what is shown small needs no better, and of what nobody
    /// sees none need be sent.
    ///
    /// - Parameter wishes: What is wanted, by the `mid` of slots of the kind ``Slot/Kind/video``. Slots that are not named
    ///   stay as they are, also when the leg changes; those of a new leg begin with ``Slot/Quality/high``.
    /// - Returns: What is wanted now in all video slots, by mid.
    /// - Throws: ``Problem/Kind/conflict`` where there is no leg, and ``Problem/Kind/invalidRequest`` with a field such as
    ///   `slots.7` for what is no video slot of it. Then nothing has changed.
    @discardableResult
    public func want(_ wishes: [String: Slot.Quality]) async throws -> [String: Slot.Quality] {
        struct Kept: Decodable { var slots: [String: Slot.Quality] }
        let kept: Kept = try await endpoint.ask("calls.slots", Wishes(call: id, slots: wishes))
        return kept.slots
    }

    /// The STUN and TURN servers to use for this call, with credentials of its own: they are good while one rings for the
    /// call or is in it. Ask anew for each connection.
    ///
    /// - Throws: ``Problem/Kind/callEnded``, and ``Problem/Kind/conflict`` where one is out of the call.
    public func iceServers() async throws -> ICEServers {
        try await endpoint.ask("iceServers.get", Plain(call: id))
    }

    private func change(_ name: String, _ params: some Encodable & Sendable) async throws -> Call {
        let answer: CallMember = try await endpoint.ask(name, params)
        return answer.call
    }
}
