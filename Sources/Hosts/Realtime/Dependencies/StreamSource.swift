package import Model

/// Reads streams for sessions that listen, resume or catch up.
package protocol StreamSource: Sendable {
    /// Checks that `principal` may listen to `stream`, and reads it in one snapshot of the store.
    ///
    /// With `after`, it returns the changes since then if the log still has all of them (possibly none), otherwise a
    /// reset. Without, it returns a snapshot. Streams of events return `.snapshot` at `Position.ephemeral`: an empty
    /// one for
    /// `captions:`, and `RealtimeHub.presence(of:)` for `presence:`; without access to the presence `.onlySnapshot`, so
    /// that no event follows. Throws `Problem` (`not_found`) when the stream does not exist or may not be read.
    func open(_ stream: StreamName, after: Position?, for principal: Principal) async throws -> StreamOpening
}

/// The content of a stream for one listener, and its position.
package enum StreamOpening: Sendable {
    /// JSON text of the whole state at the position.
    case snapshot([UInt8], Position)
    /// Every change after the requested position, up to this one.
    case changes([Change], Position)
    /// A snapshot without any later changes or events.
    case onlySnapshot([UInt8])
    /// The requested position cannot be continued: a reason for the client, then a snapshot.
    case reset(ResetReason, [UInt8], Position)
}

extension Position {
    /// The position of streams without a log.
    package static var ephemeral: Self { Self(epoch: "", sequence: 0) }
}
