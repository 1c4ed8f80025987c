/// What the media gateway answered to an offer.
public struct Leg: Hashable, Sendable {
    /// The session description that answers one's own.
    public var answer: String
    /// Which life of the gateway the leg belongs to: the call's ``Call/gatewayEpoch`` at that moment.
    public var epoch: Int
    /// What the sections show in which the gateway sends.
    public var slots: [Slot]
}

/// A section of a leg in which the gateway sends: it shows one track of somebody at a time. Which one, the gateway decides,
/// by who speaks and how many slots there are.
public struct Slot: Codable, Hashable, Sendable {
    /// What a slot carries.
    public enum Kind: String, Codable, Sendable {
        /// A voice, or the sound of a screen.
        case audio
        /// A picture.
        case video
    }

    /// What somebody publishes.
    public struct Track: Codable, Hashable, Sendable {
        /// Whose it is.
        public var user: UserID
        /// The endpoint that sends it.
        public var endpoint: EndpointID
        /// The `mid` of the section in which that endpoint sends it.
        public var mid: String
        /// What it is of.
        public var source: Source
    }

    /// What a track is of. Servers may learn new ones.
    public struct Source: RawRepresentable, Hashable, Sendable, Codable {
        /// The source as it stands in JSON.
        public let rawValue: String
        /// Takes any source.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A microphone.
        public static let microphone = Self(rawValue: "microphone")
        /// A camera.
        public static let camera = Self(rawValue: "camera")
        /// A screen, or its sound.
        public static let screen = Self(rawValue: "screen")
    }

    /// How good a picture one wants in a slot. Servers may learn more.
    public struct Quality: RawRepresentable, Hashable, Sendable, Codable {
        /// The quality as it stands in JSON.
        public let rawValue: String
        /// Takes any quality.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// None at all: nobody looks.
        public static let off = Self(rawValue: "off")
        /// As for a small tile.
        public static let low = Self(rawValue: "low")
        /// As for one of a few tiles.
        public static let medium = Self(rawValue: "medium")
        /// The best that there is; so it is at first.
        public static let high = Self(rawValue: "high")
    }

    /// The section's `mid` in one's own descriptions.
    public var mid: String
    /// What it carries.
    public var kind: Kind
    /// What it shows; nil while that is nothing.
    public var track: Track?
}

/// How it stands between this endpoint and the media gateway.
public struct LegState: Hashable, Sendable {
    /// Why an offer is to be made with ``LiveCall/leg(offer:sources:)``: of a new peer connection, where nothing else is said.
    public enum Need: Hashable, Sendable {
        /// The call goes through the gateway, and this endpoint has no leg yet. A call that went from peer to peer may come
        /// here when somebody joins: let the old connection go when the new one carries media.
        case first
        /// The gateway began anew and knows of no leg.
        case gatewayRestarted
        /// The leg failed; the reason is for logs, such as `connection_lost`.
        case ended(reason: String)
        /// The leg is well, but somebody came who cannot play what it sends: offer again with the same peer connection, and
        /// send what the answer names first.
        case otherCodec
    }

    /// Set while a leg is to be made or offered again; nil while there is nothing to do, or the call goes from peer to peer.
    public var need: Need?
    /// What the leg's slots show; empty without a leg.
    public var slots: [Slot]
}

/// Something that the mailbox tells of the leg.
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
        default: self = .ended(reason: try container.decodeIfPresent(String.self, forKey: .reason) ?? "")
        }
    }
}
