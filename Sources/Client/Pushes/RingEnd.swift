/// Why a call rings no more on this device, and this device is not in it. Newer servers may have more reasons: treat
/// them as ``cancelled``.
public struct RingEnd: RawRepresentable, Hashable, Sendable, Codable {
    /// The reason as it stands in JSON.
    public let rawValue: String
    /// Takes any reason.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The user has answered on another device.
    public static let answered = Self(rawValue: "answered")
    /// The user has declined, here or on another device.
    public static let declined = Self(rawValue: "declined")
    /// The caller has hung up, the call is over, also after it was answered here, or the user may no longer see it.
    public static let cancelled = Self(rawValue: "cancelled")
    /// Nobody answered in time.
    public static let missed = Self(rawValue: "missed")
}

/// Whether a call rings for a user, by its document.
enum RingState: Hashable, Sendable {
    case rings
    /// This endpoint is in the call.
    case joined
    /// This endpoint was in the call.
    case left
    case over(RingEnd)

    /// - Parameter wasAnsweredHere: what ``AnsweredCalls`` remembers. The document of a call that was left does not say where
    ///   it was answered.
    init(_ call: Call, for user: UserID, at endpoint: EndpointID, wasAnsweredHere: Bool) {
        guard let participant = call.participant(user) else {
            self = .over(.cancelled)
            return
        }
        let isOver = call.status == .ended
        switch participant.state {
        case .invited, .ringing: self = isOver ? .over(.cancelled) : .rings
        case .joined where participant.endpoint == endpoint: self = isOver ? .left : .joined
        case .joined: self = .over(.answered)
        case .left: self = wasAnsweredHere ? .left : .over(.answered)
        case .declined: self = .over(.declined)
        case .missed: self = .over(call.endReason == .cancelled ? .cancelled : .missed)
        default: self = .over(.cancelled)
        }
    }
}
