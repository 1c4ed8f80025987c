import Bus
import Model
import NIOCore

/// What a listener sees of a presence, and was sent last; nil if that may have been lost.
struct ListenedPresence {
    var view: PresenceView
    var last: Presence?
}

/// A session's subscription to one stream.
///
/// The stream is first read from the store, while published changes are held. Then the held changes that the reading
/// includes are dropped, and the others are sent after it, so that nothing is lost or duplicated. From there on the
/// listener is live: each batch must continue where the last one ended. After a gap, or when the client was too slow,
/// the stream is read again from the position that was reached.
///
///     reading --opened--> live --hole--> reading
///                          live --congested--> lagging --drained--> reading
struct StreamSubscription {
    enum State {
        /// The stream is being read from the store; published changes are held.
        indirect case reading(Reading)
        /// Everything up to here was sent, or is queued to be sent.
        case live(Position)
        /// The client is too slow: nothing more is queued until the queue has drained. nil: it has nothing yet.
        case lagging(Position?)
        /// The snapshot of a stream without a log was sent; events follow.
        case ephemeral
    }

    /// A pending read from the store.
    struct Reading {
        /// Distinguishes this reading's result from those of abandoned readings.
        var ticket: UInt32
        /// What the listener has; nil for nothing.
        var after: Position?
        var held: [StreamBatch] = []
        var heldBytes = 0
        /// More was published than may be held, so the stream must be read again.
        var hasOverflowed = false
        /// Held events: more than one only for a stream with ordered events.
        var heldEvents: [StreamEvent] = []
        /// The `listen` frames whose results are sent after the reading.
        var listenIDs: [Int64] = []
        /// Rows of an inbox that have moved meanwhile.
        var moved: InboxNotice?
        /// The client listened again, after another position.
        var next: Next?

        struct Next {
            var after: Position?
            var listenIDs: [Int64]
        }
    }

    var state: State
    /// What of a conversation the listener may see.
    var view: ConversationView?
    /// Of a presence stream.
    var presence: ListenedPresence?
    /// When rows of the inbox were last read.
    var lastReading: NIODeadline?
    /// The stream has ended: it is forgotten once it is live, so that its last changes still arrive.
    var isEnding = false

    /// What to do with a batch that was published.
    enum Delivery {
        case nothing
        /// Send its changes after the sequence.
        case send(after: Int64)
        /// Changes are missing: read the stream from here. The batch was committed before it was published, so
        /// the reading contains it.
        case read(after: Position)
    }

    /// Handles a published batch. `isCongested`: the session's queue is over its soft limit.
    mutating func receive(_ batch: StreamBatch, isCongested: Bool, holdingAtMost limit: Int) -> Delivery {
        switch state {
        case .reading(var reading):
            reading.hold(batch, atMost: limit)
            state = .reading(reading)
            return .nothing
        case .live(let position):
            let isSameLog = batch.epoch == position.epoch
            if isSameLog, batch.last <= position.sequence { return .nothing }
            if isCongested {
                state = .lagging(position)
                return .nothing
            }
            guard isSameLog, batch.isMade, batch.first <= position.sequence &+ 1 else { return .read(after: position) }
            state = .live(batch.position)
            return .send(after: position.sequence)
        case .lagging, .ephemeral:
            return .nothing
        }
    }

    /// The `listen` frames without a result yet.
    var unansweredIDs: [Int64] {
        guard case .reading(let reading) = state else { return [] }
        return reading.listenIDs + (reading.next?.listenIDs ?? [])
    }

    /// Whether everything up to `position` was sent. A position of another epoch counts as reached.
    func hasReached(_ position: Position) -> Bool {
        switch state {
        case .reading, .lagging: false
        case .live(let reached): reached.epoch != position.epoch || reached.sequence >= position.sequence
        case .ephemeral: true
        }
    }
}

extension StreamSubscription.Reading {
    /// Holds an event until the snapshot is sent: the latest about each subject, or up to `limit` in order. Returns how many were dropped.
    mutating func hold(_ event: StreamEvent, atMost limit: Int) -> Int {
        guard event.event.stream.kind == .orderedEvents else {
            heldEvents.removeAll { $0.event.subject == event.event.subject }
            heldEvents.append(event)
            if heldEvents.count > limit { heldEvents.removeFirst() }
            return 0
        }
        heldEvents.append(event)
        guard heldEvents.count > limit else { return 0 }
        heldEvents.removeFirst()
        return 1
    }

    /// Holds changes that are published while the store is read, up to a limit: beyond it the stream is read again
    /// later.
    mutating func hold(_ batch: StreamBatch, atMost limit: Int) {
        guard !hasOverflowed else { return }
        heldBytes += batch.weight
        if heldBytes > limit {
            hasOverflowed = true
            held = []
        } else {
            held.append(batch)
        }
    }
}
