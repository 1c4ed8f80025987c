import STUN
import Wire

/// The checks that were answered last, so that one which somebody else sends again moves nothing. ICE itself has no defence
/// against that: whoever overhears a nomination and repeats it from another address would draw the media there.
struct CheckHistory: Sendable {
    enum Seen {
        case never
        /// A retransmission, which is answered again.
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
