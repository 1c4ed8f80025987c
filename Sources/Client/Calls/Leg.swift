/// The media gateway's answer to an offer.
public struct Leg: Hashable, Sendable {
    /// The session description of the answer.
    public var answer: String
    /// The gateway epoch of the leg: the call's ``Call/gatewayEpoch`` at that moment.
    public var epoch: Int
    /// The sections in which the gateway sends.
    public var slots: [Slot]
    /// The sections that the gateway rejects although the offer does not: such a track is not forwarded. From servers of
    /// version 0.2.
    public var rejected: [RejectedSection] = []

    /// A section of an offer that is not used.
    public struct RejectedSection: Codable, Hashable, Sendable {
        /// The section's `mid`.
        public var mid: String
        /// Why, in English, such as which codecs it has and which are accepted.
        public var reason: String
    }
}

/// A section of a leg in which the gateway sends one participant's track at a time. The gateway selects the tracks by
/// the active speakers and the number of slots.
public struct Slot: Codable, Hashable, Sendable {
    /// The media type of a slot. Newer servers may have more.
    public struct Kind: RawRepresentable, Hashable, Sendable, Codable {
        /// The kind as it stands in JSON.
        public let rawValue: String
        /// Takes any kind.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Audio of a microphone or a screen.
        public static let audio = Self(rawValue: "audio")
        /// Video.
        public static let video = Self(rawValue: "video")
    }

    /// A published track.
    public struct Track: Codable, Hashable, Sendable {
        /// The user who publishes it.
        public var user: UserID
        /// The endpoint that sends it.
        public var endpoint: EndpointID
        /// The `mid` of the section in which that endpoint sends it.
        public var mid: String
        /// The source.
        public var source: Source
    }

    /// The source of a track. Newer servers may have more.
    public struct Source: RawRepresentable, Hashable, Sendable, Codable {
        /// The source as it stands in JSON.
        public let rawValue: String
        /// Takes any source.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A microphone.
        public static let microphone = Self(rawValue: "microphone")
        /// A camera.
        public static let camera = Self(rawValue: "camera")
        /// A screen, or its audio.
        public static let screen = Self(rawValue: "screen")
    }

    /// The preferred video quality of a slot. Newer servers may have more.
    public struct Quality: RawRepresentable, Hashable, Sendable, Codable {
        /// The quality as it stands in JSON.
        public let rawValue: String
        /// Takes any quality.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// No video: the slot is not visible.
        public static let off = Self(rawValue: "off")
        /// For a small tile.
        public static let low = Self(rawValue: "low")
        /// For one of a few tiles.
        public static let medium = Self(rawValue: "medium")
        /// The best available; the default.
        public static let high = Self(rawValue: "high")
    }

    /// The section's `mid` in this endpoint's session descriptions.
    public var mid: String
    /// The media type.
    public var kind: Kind
    /// The assigned track; nil while there is none.
    public var track: Track?
}

/// The state of this endpoint's leg with the media gateway.
public struct LegState: Hashable, Sendable {
    /// Why to call ``LiveCall/leg(offer:sources:)``: with a new peer connection, unless documented otherwise. Later
    /// versions of this library may have more: a `switch` needs a `default`.
    public enum Need: Hashable, Sendable {
        /// The call is in gateway mode, and this endpoint has no leg yet. A peer-to-peer call may move to the gateway
        /// when somebody is invited: close the old connection when the new one carries media.
        case first
        /// The gateway restarted and has lost its legs.
        case gatewayRestarted
        /// The leg failed; the reason is for logs, such as `connection_lost`.
        case ended(reason: String)
        /// The leg works, but a participant joined who cannot decode its media: offer again with the same peer
        /// connection, and send the first codec of the answer.
        case otherCodec
    }

    /// Set while an offer is needed; nil if there is nothing to do, or the call is peer to peer.
    public var need: Need?
    /// The leg's slots; empty without a leg.
    public var slots: [Slot]
}

/// A mailbox entry about the leg.
enum LegNotice: Hashable, Sendable {
    case slots([Slot])
    case ended(reason: String)
    case renegotiate
}

extension LegNotice: Decodable {
    private enum Key: String, CodingKey { case kind, slots, reason }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        switch try container.decode(String.self, forKey: .kind) {
        case "slots": self = .slots(try container.decode([Slot].self, forKey: .slots))
        case "renegotiate": self = .renegotiate
        case "legEnded": self = .ended(reason: try container.decodeIfPresent(String.self, forKey: .reason) ?? "")
        case let kind:
            throw DecodingError.dataCorruptedError(
                forKey: .kind, in: container, debugDescription: "\(kind) is no notice of a leg.")
        }
    }
}
