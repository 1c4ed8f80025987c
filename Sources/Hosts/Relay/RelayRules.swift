import OpenSSLCrypto
import TURN
import Wire

/// What may change while the relay runs: a reload replaces it as a whole, on every worker through its mailbox.
///
/// Making one can fail and changes nothing; adopting one cannot fail. Allocations live on: each keeps the key that it was
/// made with, so a replaced secret ends no call. A peer that the new policy forbids is cut off at once.
package struct RelayRules: Sendable {
    let credentials: Credentials
    let policy: PeerPolicy
    let limits: RelayLimits
    let alternates: [TransportAddress]
    /// What new DTLS sessions begin with; those that exist go on.
    let datagramContext: DTLSContext?
    /// The same for TLS connections.
    let streamContext: TLSServerContext?
    /// nil when the ports stay as they are.
    let ports: PortChange?
}
