import OpenSSLCrypto
import TURN
import Wire

/// The settings that may change while the relay runs: a reload replaces all of them, on every worker through its
/// mailbox.
///
/// Making them may fail and changes nothing; adopting them cannot fail. Allocations continue: each keeps the key that
/// it was made with, so a replaced secret ends no call. A peer that the new policy denies is disconnected at once.
package struct RelayRules: Sendable {
    /// What they are made from.
    let configuration: RelayConfiguration
    /// Every port that is served: relayed packets may not reach them.
    let listeningPorts: Set<UInt16>
    let credentials: Credentials
    /// For the addresses of the machine at the time of adoption.
    var policy: PeerPolicy
    let limits: RelayLimits
    let alternates: [TransportAddress]
    /// For new DTLS sessions; existing ones go on.
    let datagramContext: DTLSContext?
    /// For new TLS connections; existing ones go on.
    let streamContext: TLSServerContext?
    /// nil when the ports stay as they are.
    let ports: PortChange?
    /// nil when the listeners stay as they are.
    var listeners: ListenerChange?
}
