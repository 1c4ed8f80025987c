import Model
import Synchronization

@testable import Transcription

extension TranscriptionPayer {
    static let speaker = Self(.make(at: Timestamp(milliseconds: 1_800_000_000_000)), for: .dictation)
}

/// Allows so many milliseconds, of which it gives back what was refused.
final class Allowance: TranscriptionAccounting {
    struct Call: Hashable {
        var milliseconds: Int64
        var provider: String
        var payer: TranscriptionPayer
    }

    private struct State {
        var left: Int64
        var begun: [Call] = []
        var ends: [TranscriptionFailure?] = []
    }

    private let state: Mutex<State>

    init(_ milliseconds: Int64) { state = Mutex(State(left: milliseconds)) }

    var begun: [Call] { state.withLock { $0.begun } }
    /// How the calls ended, in the order in which they did.
    var ends: [TranscriptionFailure?] { state.withLock { $0.ends } }

    func begin(
        _ milliseconds: Int64, with provider: String, for payer: TranscriptionPayer
    ) async throws(TranscriptionFailure) -> @Sendable (TranscriptionFailure?) async -> Void {
        let isAllowed = state.withLock { state in
            guard state.left >= milliseconds else { return false }
            state.left -= milliseconds
            state.begun.append(Call(milliseconds: milliseconds, provider: provider, payer: payer))
            return true
        }
        guard isAllowed else { throw .budgetExhausted }
        return { failure in
            self.state.withLock { state in
                state.ends.append(failure)
                if case .refused = failure { state.left += milliseconds }
            }
        }
    }
}
