/// Why a request to a provider or a webhook failed.
package enum ProviderFailure: Error, Hashable, Sendable {
    case timedOut
    /// In bytes.
    case responseTooLarge(limit: Int)
    case unreachable(String)
    /// The name resolves to this address, which the rules do not allow.
    case addressNotAllowed(String)
    case cancelled
}

extension ProviderFailure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .timedOut: "It did not respond in time."
        case .responseTooLarge(let limit): "It returned more than \(limit) bytes."
        case .unreachable(let why): "It cannot be reached: \(why)."
        case .addressNotAllowed(let address): "It has the address \(address), which is not allowed."
        case .cancelled: "The request was cancelled."
        }
    }
}
