package import Model

/// Reads streams for sessions that listen, resume or catch up.
package protocol StreamSource: Sendable {
    /// Checks that `principal` may listen to `stream`, and reads it in one snapshot of the store.
    ///
    /// With `after`, it returns the changes since then if the log still has all of them (possibly none), otherwise a
    /// reset. Without, it returns a snapshot. Streams of events return `.snapshot` at `Position.ephemeral`: an empty
    /// one for
    /// `captions:`; and `presence:` returns `.presence`. Throws `Problem` (`not_found`) when the stream does not exist or may not be read.
    func open(_ stream: StreamName, after: Position?, for principal: Principal) async throws -> StreamOpening

    /// Reads the rows of these conversations in the user's inbox, which are those that the hub was notified of after
    /// `sequence` up to `position`.
    func moved(
        _ conversations: Set<ConversationID>, in inbox: UserID, after sequence: Int64, upTo position: Position
    ) async throws -> StateOpening
}

/// The content of a stream for one listener, and its position.
package enum StreamOpening: Sendable {
    /// JSON text of the whole state at the position.
    case snapshot([UInt8], Position)
    /// Every change after the requested position, up to this one.
    case changes([Change], Position)
    /// Of a presence stream, with what the listener sees of it and of later events.
    case presence(Presence, PresenceView)
    /// The requested position cannot be continued: a reason for the client, then a snapshot.
    case reset(ResetReason, [UInt8], Position)
    /// Keyed state.
    case state(StateOpening)
}

/// What a listener gets of keyed state.
package struct StateOpening: Sendable {
    package enum Content: Sendable {
        /// JSON text of the state, which replaces what the client has.
        case snapshot([UInt8])
        /// The rows that have changed after a sequence, as JSON texts. `gap` are numbers of messages between those that the
        /// client has and these, which it has to read if it wants them.
        case rows([String], after: Int64, gap: ClosedRange<Int64>? = nil)
    }

    package var content: Content
    package var position: Position
    /// Why the client's position cannot be continued; nil if it is, or had none.
    package var reset: ResetReason?
    /// What of later changes the listener may see; nil if there is nothing to decide.
    package var view: ConversationView?
    /// Whether nothing was left out after `position`: otherwise the listener reads on from there.
    package var isComplete: Bool

    package init(
        _ content: Content, _ position: Position, reset: ResetReason? = nil, view: ConversationView? = nil,
        isComplete: Bool = true
    ) {
        self.content = content
        self.position = position
        self.reset = reset
        self.view = view
        self.isComplete = isComplete
    }
}

extension Position {
    /// The position of streams without a log.
    package static var ephemeral: Self { Self(epoch: "", sequence: 0) }
}
