import STUN
import Wire

/// The latest checks that got a response, so that a replayed one has no effect. ICE itself has no protection against
/// replay: an eavesdropper who repeats a nomination from another address would redirect the media there.
struct CheckHistory: Sendable {
    enum Seen {
        case never
        /// A retransmission, which gets a response again.
        case here
        case elsewhere
    }

    static let capacity = 128

    private var transactions: [TransactionID] = []
    private var flows: [Flow] = []
    private var next = 0

    func seen(_ transaction: TransactionID, on flow: Flow) -> Seen {
        guard let index = transactions.firstIndex(of: transaction) else { return .never }
        return flows[index] == flow ? .here : .elsewhere
    }

    mutating func add(_ transaction: TransactionID, on flow: Flow) {
        if transactions.count < Self.capacity {
            transactions.append(transaction)
            flows.append(flow)
        } else {
            transactions[next] = transaction
            flows[next] = flow
            next = (next + 1) % Self.capacity
        }
    }
}
