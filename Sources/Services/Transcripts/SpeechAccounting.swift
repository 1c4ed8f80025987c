package import Messaging
import Storage
package import Transcription

/// Reserves speech that a hosted provider is given on the budget of who speaks, and settles it after.
package struct SpeechAccounting: TranscriptionAccounting {
    private let accounting: ProviderAccounting
    private let isHosted: Bool

    /// - Parameter isHosted: whether what is said leaves what the operator runs.
    package init(_ accounting: ProviderAccounting, isHosted: Bool) {
        self.accounting = accounting
        self.isHosted = isHosted
    }

    package func begin(
        _ milliseconds: Int64, with provider: String, for payer: TranscriptionPayer
    ) async throws(TranscriptionFailure) -> @Sendable (TranscriptionFailure?) async -> Void {
        let call = ProviderCall(
            at: .systemClock(), payer: payer.user, purpose: payer.purpose.rawValue, engine: provider,
            milliseconds: milliseconds)
        let open: ProviderAccounting.OpenCall?
        do {
            open = try await accounting.begin(call, isHosted: isHosted)
        } catch {
            throw Task.isCancelled ? .cancelled : .unreachable("what it may be given cannot be read")
        }
        guard let open else { throw .budgetExhausted }
        return { [accounting] failure in try? await accounting.end(open, failure.outcome) }
    }
}

extension TranscriptionFailure? {
    fileprivate var outcome: ProviderCall.Outcome {
        switch self {
        case nil: .done
        case .refused, .unreachable, .addressNotAllowed, .programMissing, .notConfigured: .refused
        // It may have listened to it all the same.
        default: .unusable
        }
    }
}
