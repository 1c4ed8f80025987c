package import Model

/// Who pays for what is transcribed: whoever speaks, since a transcript is made once for all who read it, and nobody can say
/// more at somebody else's cost.
package struct TranscriptionPayer: Hashable, Sendable {
    package enum Purpose: String, Hashable, Sendable, CaseIterable {
        case captions, dictation
        case recording
        case voiceMessage = "voice_message"
    }

    package var user: UserID
    package var purpose: Purpose

    package init(_ user: UserID, for purpose: Purpose) {
        self.user = user
        self.purpose = purpose
    }
}

/// Keeps what providers are given within what may be spent.
package protocol TranscriptionAccounting: Sendable {
    /// Called for each attempt, before the provider gets anything.
    ///
    /// - Parameters:
    ///   - milliseconds: of the audio.
    ///   - provider: its `name`.
    /// - Returns: to be called once, with how the attempt ended: nil for a transcript.
    /// - Throws: `budgetExhausted` if it may not be made.
    func begin(
        _ milliseconds: Int64, with provider: String, for payer: TranscriptionPayer
    ) async throws(TranscriptionFailure) -> @Sendable (TranscriptionFailure?) async -> Void
}
