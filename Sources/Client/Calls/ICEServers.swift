public import Foundation

/// STUN and TURN servers with credentials that expire.
public struct ICEServers: Codable, Hashable, Sendable {
    /// A server like `RTCIceServer`.
    public struct Server: Codable, Hashable, Sendable {
        /// Its addresses, such as `turn:calls.example.org:3478?transport=udp`.
        public var urls: [String]
        /// The user name, for TURN.
        public var username: String?
        /// The password, for TURN.
        public var credential: String?
    }

    /// Purposes other than calls: see ``Switchboard/iceServers(for:)``. Newer servers may have more.
    public struct Purpose: RawRepresentable, Hashable, Sendable {
        /// The purpose as it stands in JSON.
        public let rawValue: String
        /// Takes any purpose.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A voice message that the server records: the credentials allow only its media gateway as peer.
        public static let voiceMessage = Self(rawValue: "gateway")
        /// Testing whether the relay is reachable: eight allocations for a minute, at 64 kB/s.
        public static let test = Self(rawValue: "test")
    }

    /// The servers for the peer connection.
    public var iceServers: [Server]
    /// The lifetime of the credentials, in seconds from now.
    public var lifetime: Double
    /// When they expire, by the server's clock.
    public var expiresAt: Date
}
