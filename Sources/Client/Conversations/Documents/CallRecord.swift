public import Foundation

/// A call in a conversation, as the message that follows it tells.
public struct CallRecord: Codable, Hashable, Sendable, Identifiable {
    /// Where a call is. Newer servers may have more.
    public struct State: RawRepresentable, Hashable, Sendable, Codable {
        /// The state as it is written in JSON.
        public let rawValue: String
        /// Takes any state.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// It rings.
        public static let ringing = Self(rawValue: "ringing")
        /// Somebody has answered, or it waits for members to join.
        public static let active = Self(rawValue: "active")
        /// It is over.
        public static let ended = Self(rawValue: "ended")
    }

    /// A user whom the call rang, or who joined it.
    public struct Participant: Codable, Hashable, Sendable {
        /// The participant's user id.
        public var user: UserID
        /// What they did.
        public var state: SwitchboardClient.Participant.State
    }

    /// The call's id, for ``Switchboard/liveCall(_:)``.
    public var id: CallID
    /// Whether it has video.
    public var kind: Call.Kind
    /// Where it is.
    public var state: State
    /// When it began to ring.
    public var startedAt: Date
    /// When it was answered, if it was.
    public var answeredAt: Date?
    /// When it ended.
    public var endedAt: Date?
    /// Seconds from the answer to the end.
    public var duration: Int?
    /// Why it ended.
    public var reason: EndReason?
    /// The user who ended it.
    public var endedBy: UserID?
    /// The caller first, then the users whom it rang, or who joined it.
    public var participants: [Participant]
}
