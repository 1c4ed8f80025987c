/// Why a request to a provider, a program or a webhook failed.
package enum ProviderFailure: Error, Hashable, Sendable {
    case timedOut
    /// In bytes.
    case responseTooLarge(limit: Int)
    case unreachable(String)
    /// The name resolves to this address, which the rules do not allow.
    case addressNotAllowed(String)
    /// The program is not installed or not executable.
    case programMissing(String)
    /// The end of standard error may name files: for the log only.
    case programFailed(ProgramEnding, errorOutput: String)
    case cancelled
}

/// How a program ended that should have gone on or exited with 0.
package enum ProgramEnding: Hashable, Sendable {
    case exit(Int32)
    case signal(Int32)
}

extension ProviderFailure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .timedOut: "It did not respond in time."
        case .responseTooLarge(let limit): "It returned more than \(limit) bytes."
        case .unreachable(let why): "It cannot be reached: \(why)."
        case .addressNotAllowed(let address): "It has the address \(address), which is not allowed."
        case .programMissing(let name): "The program \(name) cannot be run."
        case .programFailed(.exit(let code), _): "The program ended with exit code \(code)."
        case .programFailed(.signal(let number), _): "The program was killed by signal \(number)."
        case .cancelled: "The request was cancelled."
        }
    }
}
