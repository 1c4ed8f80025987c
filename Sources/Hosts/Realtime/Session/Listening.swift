import Bus
import Model

/// One stream as one session listens to it.
///
/// The stream is first read from the store; what is published meanwhile is held. Then the held changes that the reading
/// covers are dropped, and the others follow it, so that nothing is missed and nothing comes twice. From there on the
/// listener is live: each batch must continue where the last one ended. A hole, or a client that is too slow to be sent
/// everything, leads back to reading, now from the position that was reached.
///
///     reading --opened--> live --hole--> reading
///                          live --congested--> lagging --drained--> reading
struct Listening {
    enum State {
        /// The store is asked; what is published meanwhile is held.
        indirect case reading(Reading)
        /// Everything up to here was sent, or is queued to be sent.
        case live(Position)
        /// The client is too slow: nothing more is queued until the queue has drained. Nil: it has nothing yet.
        case lagging(Position?)
        /// The snapshot of a stream without a log was sent, events follow.
        case ephemeral
    }

    /// A question to the store that is not answered yet.
    struct Reading {
        /// Tells this reading's answer from those of readings that were given up.
        var ticket: UInt32
        /// What the listener has; nil for nothing.
        var after: Position?
        var held: [StreamBatch] = []
        var heldBytes = 0
        /// More was published than may be held, so the stream must be read again.
        var hasOverflowed = false
        /// Of a stream whose events keep their order, more than one.
        var heldEvents: [StreamEvent] = []
        /// The `listen` frames to answer when the reading is sent.
        var listenIDs: [Int64] = []
        /// The client asked again, for what comes after another position.
        var next: Next?

        struct Next {
            var after: Position?
            var listenIDs: [Int64]
        }
    }

    var state: State
    /// The stream is over: it is forgotten once it is live, so that its last changes still arrive.
    var isEnding = false

    /// What to do with a batch that was published.
    enum Delivery {
        case nothing
        /// Send its changes after the sequence.
        case send(after: Int64)
        /// Something before it is missing: read the stream from here. The batch was committed before it was published, so
        /// the reading contains it.
        case read(after: Position)
    }

    /// Takes a batch in. `isCongested` tells that the session has more queued than it should.
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
            guard isSameLog, batch.first <= position.sequence &+ 1 else { return .read(after: position) }
            state = .live(batch.position)
            return .send(after: position.sequence)
        case .lagging, .ephemeral:
            return .nothing
        }
    }

    /// The `listen` frames that are not answered yet.
    var unansweredIDs: [Int64] {
        guard case .reading(let reading) = state else { return [] }
        return reading.listenIDs + (reading.next?.listenIDs ?? [])
    }

    /// Whether everything up to `position` was sent. Another epoch than the stream's own is never waited for.
    func hasReached(_ position: Position) -> Bool {
        switch state {
        case .reading, .lagging: false
        case .live(let reached): reached.epoch != position.epoch || reached.sequence >= position.sequence
        case .ephemeral: true
        }
    }
}

extension Listening.Reading {
    /// Keeps an event until the snapshot was sent: the latest, or so many in order. Returns how many gave way.
    mutating func hold(_ event: StreamEvent, atMost limit: Int) -> Int {
        guard event.event.stream.kind == .orderedEvents else {
            heldEvents = [event]
            return 0
        }
        heldEvents.append(event)
        guard heldEvents.count > limit else { return 0 }
        heldEvents.removeFirst()
        return 1
    }

    /// Keeps what is published while the store is read, within a bound: what does not fit is read again later.
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
