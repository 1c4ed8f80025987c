public import Foundation

/// A user's part in a call.
public struct Participant: Codable, Hashable, Sendable {
    /// Where a participant stands.
    public enum State: String, Codable, Sendable {
        /// Being called; none of their endpoints has said that it rings.
        case invited
        /// At least one of their endpoints rings.
        case ringing
        /// In the call, by ``Participant/endpoint``.
        case joined
        /// Was in the call and is no longer.
        case left
        /// Said no.
        case declined
        /// Was in another call.
        case busy
        /// Did not answer until the deadline, or until the caller gave up.
        case missed
        /// Could not be rung.
        case unreachable
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

    /// How well media flowed to a participant, by their own report.
    public struct Quality: Codable, Hashable, Sendable {
        /// The share of packets lost, 0 to 1.
        public var loss: Double?
        /// In milliseconds.
        public var jitter: Double?
        /// In milliseconds.
        public var roundTrip: Double?
        /// Whether media went through a relay.
        public var relayed: Bool?
        /// The estimated mean opinion score, 1 (bad) to 4.5.
        public var mos: Double?
        /// For how long media flowed, in seconds.
        public var seconds: Double?
    }

    /// Who.
    public var user: UserID
    /// Their name.
    public var displayName: String
    /// Where their picture was when they were called: a path on the server, for ``Switchboard/photo(at:)``.
    public var photoURL: String?
    /// Which of their endpoints is in the call.
    public var endpoint: EndpointID?
    /// Where they stand.
    public var state: State
    /// When their ringing ends, by the server's clock.
    public var ringDeadline: Date?
    /// Milliseconds of ringing that were left when the server wrote this: better than the deadline, since clocks differ.
    public var remainingMs: Int?
    /// When they joined.
    public var joinedAt: Date?
    /// When they left.
    public var leftAt: Date?
    /// Since when their endpoint has not been connected to the server; media may flow all the same.
    public var detachedAt: Date?
    /// Why they are no longer in the call.
    public var reason: EndReason?
    /// Whether they reported that media flows.
    public var connected: Bool
    /// What they send.
    public var media: Media
    /// How well media flowed, by their own report.
    public var quality: Quality?
}
