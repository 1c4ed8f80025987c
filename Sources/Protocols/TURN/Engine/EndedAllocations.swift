import STUN
import Wire

/// The requests that recently ended an allocation, so that a retransmission gets the same response.
///
/// All other requests are simply handled once more: an allocation keeps its Allocate, and CreatePermission, ChannelBind
/// and a Refresh that ends nothing leave the same state and get the same response. A Refresh of 0 would find no
/// allocation and get 437. One entry for each flow, in a ring buffer of fixed size: only flows that had an allocation
/// have one.
struct EndedAllocations {
    static let capacity = 1024
    /// How long a client retransmits a request over UDP, rounded up (RFC 8489 section 6.2.1).
    static let seconds: UInt32 = 40

    struct Ending {
        let transaction: TransactionID
        let username: String
        /// The allocation's keys, which may be the only ones that still verify the request.
        let keys: CredentialKeys
        let expiry: Instant

        init(transaction: TransactionID, username: String, keys: CredentialKeys, at now: Instant) {
            self.transaction = transaction
            self.username = username
            self.keys = keys
            expiry = now.adding(seconds: EndedAllocations.seconds)
        }
    }

    private var endings: [Flow: (ending: Ending, index: Int)] = [:]
    private var ring: [Flow] = []
    private var next = 0

    mutating func remember(_ ending: Ending, on flow: Flow) {
        if ring.count < Self.capacity {
            endings[flow] = (ending, ring.count)
            ring.append(flow)
            return
        }
        let oldest = ring[next]
        // The flow may have ended another allocation since, with an entry at another index.
        if endings[oldest]?.index == next { endings[oldest] = nil }
        endings[flow] = (ending, next)
        ring[next] = flow
        next = (next + 1) % Self.capacity
    }

    /// The keys that verified the request with this id.
    func keys(for transaction: TransactionID, of username: String, on flow: Flow, at now: Instant) -> CredentialKeys? {
        guard let (ending, _) = endings[flow], ending.transaction == transaction, ending.username == username,
            ending.expiry > now
        else { return nil }
        return ending.keys
    }

    func holds(_ transaction: TransactionID, of username: String, on flow: Flow, at now: Instant) -> Bool {
        keys(for: transaction, of: username, on: flow, at: now) != nil
    }

    var count: Int { endings.count }
}
