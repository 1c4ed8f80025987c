public import Foundation

/// STUN and TURN servers with credentials that run out.
public struct ICEServers: Codable, Hashable, Sendable {
    /// A server as browsers take it (`RTCIceServer`).
    public struct Server: Codable, Hashable, Sendable {
        /// Its addresses, such as `turn:calls.example.org:3478?transport=udp`.
        public var urls: [String]
        /// The user name, for TURN.
        public var username: String?
        /// The password, for TURN.
        public var credential: String?
    }

    /// What servers are asked for beside calls: see ``Switchboard/iceServers(for:)``.
    public enum Purpose: String, Hashable, Sendable, CaseIterable {
        /// A voice message that the server records while it is spoken: they lead to its media gateway and nowhere else.
        case voiceMessage = "gateway"
        /// Trying whether the relay can be reached: eight allocations for a minute, at 64 kB/s.
        case test
    }

    /// What to give the peer connection.
    public var iceServers: [Server]
    /// For how long the credentials are good, in seconds from now.
    public var lifetime: Double
    /// When they run out, by the server's clock.
    public var expiresAt: Date
}
