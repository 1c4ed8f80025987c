/// Why a listener's copy of a stream is invalid; the raw values are the protocol's.
package enum ResetReason: String, Hashable, Sendable, CaseIterable {
    /// Changes that it has not received were removed from the log, or its position is beyond the log's end.
    case gap
    /// The log was rebuilt since.
    case epoch
    /// The listener may no longer see the stream; no snapshot follows.
    case access
}
