internal import Synchronization

/// A request to a `SupervisedChild` that somebody waits for, until it is finished or their task is cancelled.
final class PendingResponse: Sendable {
    typealias Outcome = Result<[UInt8], ProviderFailure>

    private enum Phase {
        case new
        case waiting(CheckedContinuation<Outcome, Never>)
        case finished
    }

    let request: SupervisedChild.Request
    private let phase = Mutex(Phase.new)

    init(_ request: SupervisedChild.Request) { self.request = request }

    var isFinished: Bool {
        phase.withLock { if case .finished = $0 { true } else { false } }
    }

    /// - Parameter send: is called once this can be finished.
    func response(_ send: () -> Void) async throws(ProviderFailure) -> [UInt8] {
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Outcome, Never>) in
                let isNew = phase.withLock { phase in
                    guard case .new = phase else { return false }
                    phase = .waiting(continuation)
                    return true
                }
                if isNew { send() } else { continuation.resume(returning: .failure(.cancelled)) }
            }
        } onCancel: {
            finish(.failure(.cancelled))
        }
        return try outcome.get()
    }

    /// Only the first outcome counts.
    func finish(_ outcome: Outcome) {
        let continuation = phase.withLock { phase -> CheckedContinuation<Outcome, Never>? in
            defer { phase = .finished }
            if case .waiting(let continuation) = phase { return continuation }
            return nil
        }
        continuation?.resume(returning: outcome)
    }
}
