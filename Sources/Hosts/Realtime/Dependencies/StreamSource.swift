package import Model

/// Reads streams for sessions: every listen, resume and catching up ends here.
package protocol StreamSource: Sendable {
    /// Checks that `principal` may listen to `stream`, and reads it in one snapshot of the store.
    ///
    /// With `after`, the changes since then when the log still has all of them (none is an answer too), else a reset.
    /// Without, a snapshot. Streams of events answer `.snapshot` at `Position.ephemeral`: `captions:` an empty one, `presence:` with what
    /// `RealtimeHub.presence(of:)` says; for whoever may not know, `.onlySnapshot`, so that no event follows. Throws `Problem` (`not_found`) where there is nothing or no access.
    func open(_ stream: StreamName, after: Position?, for principal: Principal) async throws -> StreamOpening
}

/// What a stream holds for one listener, and where it then stands.
package enum StreamOpening: Sendable {
    /// JSON text of the whole, true at the position.
    case snapshot([UInt8], Position)
    /// Every change after the position asked for, up to this one.
    case changes([Change], Position)
    /// What a listener gets who may know no more: a snapshot after which nothing comes.
    case onlySnapshot([UInt8])
    /// The position asked for cannot be continued: a reason for the client, then a snapshot.
    case reset(ResetReason, [UInt8], Position)
}

/// Why a listener's copy of a stream is void.
package enum ResetReason: String, Sendable {
    /// The log no longer reaches back to the position.
    case gap
    /// The log was rebuilt.
    case epoch
    /// The listener may no longer see the stream; no snapshot follows.
    case access
}

extension Position {
    /// The position of streams that keep no log.
    package static var ephemeral: Self { Self(epoch: "", sequence: 0) }
}
