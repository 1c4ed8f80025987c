public import Foundation

/// A user's part in a call.
public struct Participant: Codable, Hashable, Sendable {
    /// The state of a participant. Newer servers may have more.
    public struct State: RawRepresentable, Hashable, Sendable, Codable {
        /// The state as it stands in JSON.
        public let rawValue: String
        /// Takes any state.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Invited; no endpoint has reported that it rings.
        public static let invited = Self(rawValue: "invited")
        /// At least one of their endpoints rings.
        public static let ringing = Self(rawValue: "ringing")
        /// In the call, by ``Participant/endpoint``.
        public static let joined = Self(rawValue: "joined")
        /// Was in the call and has left it.
        public static let left = Self(rawValue: "left")
        /// Declined the call.
        public static let declined = Self(rawValue: "declined")
        /// Was in another call.
        public static let busy = Self(rawValue: "busy")
        /// Did not accept before the deadline, or before the caller cancelled.
        public static let missed = Self(rawValue: "missed")
        /// Could not be rung.
        public static let unreachable = Self(rawValue: "unreachable")
    }

    /// What a participant sends.
    public struct Media: Codable, Hashable, Sendable {
        /// Whether the microphone is on.
        public var audio: Bool
        /// Whether the camera is on.
        public var video: Bool
        /// Whether the screen is shared.
        public var screen: Bool
        /// Whether the call is on hold.
        public var held: Bool
    }

    /// The quality of the media that a participant received, by their own reports.
    public struct Quality: Codable, Hashable, Sendable {
        /// The fraction of packets lost, 0 to 1.
        public var loss: Double?
        /// In milliseconds.
        public var jitter: Double?
        /// In milliseconds.
        public var roundTrip: Double?
        /// Whether media went through a relay.
        public var relayed: Bool?
        /// The estimated mean opinion score, 1 (bad) to 4.5.
        public var mos: Double?
        /// The total length of the reports in seconds.
        public var seconds: Double?
    }

    /// The user.
    public var user: UserID
    /// Their name.
    public var displayName: String
    /// Their photo at the time of the call: a path on the server, for ``Switchboard/photo(at:)``.
    public var photoURL: String?
    /// True if the account was deleted since; then the name is `Deleted user`.
    public var deleted: Bool?
    /// Which of their endpoints is in the call.
    public var endpoint: EndpointID?
    /// Their state.
    public var state: State
    /// When their ringing ends, by the server's clock.
    public var ringDeadline: Date?
    /// The remaining ring time in milliseconds when the server wrote this: prefer it to the deadline, since clocks
    /// differ.
    public var remainingMs: Int?
    /// When the ring was queued for devices of theirs that may sleep; nil if they have none.
    public var pushedAt: Date?
    /// When they joined.
    public var joinedAt: Date?
    /// When they left.
    public var leftAt: Date?
    /// Since when their endpoint has been disconnected from the server; media may still flow.
    public var detachedAt: Date?
    /// Why they are no longer in the call.
    public var reason: EndReason?
    /// Whether they reported that media flows.
    public var connected: Bool
    /// What they send.
    public var media: Media
    /// The quality of the media that they received, by their own reports.
    public var quality: Quality?
}
