/// Running totals of an engine. Plain integers: one worker writes them and publishes copies.
package struct TURNCounters: Hashable, Sendable {
    /// Neither STUN nor ChannelData, or broken.
    package var malformed: UInt64 = 0
    /// Responses, and unexpected indications and methods.
    package var unexpected: UInt64 = 0
    /// Requests that came from our own relays.
    package var loops: UInt64 = 0
    /// Packets of a client without allocation, channel or permission.
    package var unpermittedFromClient: UInt64 = 0
    /// Packets to a relay from a peer without permission.
    package var unpermittedFromPeer: UInt64 = 0
    /// Binding responses.
    package var bindings: UInt64 = 0
    /// 400, 401, 420 and 438 sent to sources that had not authenticated.
    package var challenges: UInt64 = 0
    /// Responses withheld by the limit per source prefix.
    package var limited: UInt64 = 0
    /// Packets, of clients and of peers, beyond their allocation's bytes or packets per second.
    package var limitedBytes: UInt64 = 0
    package var limitedPackets: UInt64 = 0
    /// Packets beyond what the allocations of their user, or all of the relay, may carry together.
    package var limitedUserBytes: UInt64 = 0
    package var limitedTotalBytes: UInt64 = 0
    /// Requests for peers beyond their allocation's new peers per second.
    package var limitedPeers: UInt64 = 0
    /// ICMP errors that were reported to clients, and those that were dropped for lack of a permission or by the limit.
    package var peerErrors: UInt64 = 0
    package var peerErrorsDropped: UInt64 = 0
    /// Error responses to authenticated requests, and those for quota and capacity among them.
    package var rejections: UInt64 = 0
    package var allocationsRejected: UInt64 = 0
    /// Allocations that moved to a new address of their client.
    package var moved: UInt64 = 0
    /// Clients redirected to an alternate server.
    package var redirected: UInt64 = 0
    package var allocationsMade: UInt64 = 0
    package var expired: UInt64 = 0
    package var revoked: UInt64 = 0
    /// Allocations that ended with their client's connection.
    package var closed: UInt64 = 0
    /// Responses that were not sent because the cryptography failed.
    package var failures: UInt64 = 0

    package init() {}
}
