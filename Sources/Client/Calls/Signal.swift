/// An SDP or ICE message from the other side's endpoint. Only the recipient endpoint receives it.
public struct Signal: Hashable, Sendable {
    /// Who sent a signal, as the server says.
    public struct Sender: Codable, Hashable, Sendable {
        /// The user.
        public var user: UserID
        /// The user's endpoint in the call: the `to` of an answer.
        public var endpoint: EndpointID
    }

    /// The content of a signal. Later versions of this library may have more: a `switch` needs a `default`.
    public enum Content: Hashable, Sendable {
        /// A session description (SDP) to be answered within 10 seconds.
        case offer(sdp: String)
        /// The session description that answers this endpoint's offer.
        case answer(sdp: String)
        /// ICE candidates, at most 64; `end` says that no more will come in this generation.
        case candidates([ICECandidate], end: Bool)
    }

    /// Who sent it.
    public var from: Sender
    /// The content.
    public var content: Content
    /// The generation of the offer that it is or belongs to. Ignore candidates of an older generation.
    public var generation: Int
}

/// An ICE candidate like `RTCIceCandidateInit`.
public struct ICECandidate: Codable, Hashable, Sendable {
    /// The candidate line, such as `candidate:1 1 udp 2130706431 192.0.2.1 54321 typ host`.
    public var candidate: String
    /// The `mid` of the media section it belongs to.
    public var sdpMid: String?
    /// The index of that section.
    public var sdpMLineIndex: Int?
    /// The user name fragment of the description it belongs to.
    public var usernameFragment: String?

    /// Creates a candidate.
    public init(
        candidate: String, sdpMid: String? = nil, sdpMLineIndex: Int? = nil, usernameFragment: String? = nil
    ) {
        self.candidate = candidate
        self.sdpMid = sdpMid
        self.sdpMLineIndex = sdpMLineIndex
        self.usernameFragment = usernameFragment
    }
}

/// The result of sending a signal.
public struct SignalReceipt: Codable, Hashable, Sendable {
    /// The delivery status of a signal. Newer servers may have more.
    public struct Status: RawRepresentable, Hashable, Sendable, Codable {
        /// The status as it stands in JSON.
        public let rawValue: String
        /// Takes any status.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// In the mailbox of the other side's endpoint.
        public static let delivered = Self(rawValue: "delivered")
        /// Held until the other side's endpoint, or its offer, is known.
        public static let pending = Self(rawValue: "pending")
        /// Dropped: it belongs to a superseded generation.
        public static let ignored = Self(rawValue: "ignored")
    }

    /// The delivery status.
    public var status: Status
    /// The generation of the signal; an offer is answered in this generation.
    public var generation: Int
}

extension Signal.Content {
    /// The content's name in JSON.
    var kind: String {
        switch self {
        case .offer: "offer"
        case .answer: "answer"
        case .candidates: "candidates"
        }
    }

    struct Payload: Codable {
        var sdp: String?
        var candidates: [ICECandidate]?
        var end: Bool?
    }

    var payload: Payload {
        switch self {
        case .offer(let sdp), .answer(let sdp): Payload(sdp: sdp)
        case .candidates(let candidates, let end): Payload(candidates: candidates, end: end)
        }
    }
}

extension Signal: Decodable {
    private enum Key: String, CodingKey { case from, kind, generation, payload }

    /// Reads an entry of a signal mailbox.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        from = try container.decode(Sender.self, forKey: .from)
        generation = try container.decode(Int.self, forKey: .generation)
        let payload = try container.decode(Content.Payload.self, forKey: .payload)
        switch (try container.decode(String.self, forKey: .kind), payload.sdp, payload.candidates) {
        case ("offer", let sdp?, _): content = .offer(sdp: sdp)
        case ("answer", let sdp?, _): content = .answer(sdp: sdp)
        case ("candidates", _, let candidates?): content = .candidates(candidates, end: payload.end ?? false)
        case (let kind, _, _):
            throw DecodingError.dataCorruptedError(
                forKey: .payload, in: container, debugDescription: "not the payload of a signal of kind \(kind)")
        }
    }
}
