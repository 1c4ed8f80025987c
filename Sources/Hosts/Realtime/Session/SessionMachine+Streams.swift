import Bus
import Model
import NIOCore

// Listening at the client's request.
extension SessionMachine {
    mutating func listen(_ id: Int64, to stream: StreamName, after: Position?, into actions: inout [SessionAction]) {
        if var listening = listens[stream] {
            if case .reading(var reading) = listening.state {
                var next = reading.next ?? StreamSubscription.Reading.Next(after: after, listenIDs: [])
                guard next.listenIDs.count < limits.requestsInFlight else {
                    return reject(id, .tooManyRequests(limits), into: &actions)
                }
                next.after = after
                next.listenIDs.append(id)
                reading.next = next
                listening.state = .reading(reading)
                listens[stream] = listening
            } else if mayRead(for: id, into: &actions) {
                read(stream, after: after, listenIDs: [id], into: &actions)
            }
        } else if listens.count >= limits.listens {
            reject(
                id, .invalid("listen.stream", "A session can listen to at most \(limits.listens) streams."),
                into: &actions)
        } else if mayRead(for: id, into: &actions) {
            actions.append(.subscribe(stream))
            listens[stream] = StreamSubscription(state: .lagging(nil))
            read(stream, after: after, listenIDs: [id], into: &actions)
        }
    }

    /// Rejects a `listen` while too many reads are pending, also of streams that are no longer listened to.
    private mutating func mayRead(for id: Int64, into actions: inout [SessionAction]) -> Bool {
        guard readings >= limits.listens else { return true }
        reject(
            id, Problem(.rateLimited, "At most \(limits.listens) streams may be being read.", retryAfter: 1000),
            into: &actions)
        return false
    }

    mutating func unlisten(_ id: Int64, from stream: StreamName, into actions: inout [SessionAction]) {
        let unanswered = listens[stream]?.unansweredIDs ?? []
        forget(stream, into: &actions)
        for id in unanswered {
            reject(id, Problem(.conflict, "The client stopped listening to the stream."), into: &actions)
        }
        send(.done(id), into: &actions)
        releaseResults(into: &actions)
    }
}

// Listening at the server's request.
extension SessionMachine {
    /// Listens to a stream and sends its snapshot, unless the session listens already.
    mutating func attach(_ stream: StreamName, into actions: inout [SessionAction]) {
        switch phase {
        case .live:
            guard listens[stream] == nil else { return }
            actions.append(.subscribe(stream))
            listens[stream] = StreamSubscription(state: .lagging(nil))
            if isCongested { return clock.scheduleCheck() }
            read(stream, after: nil, into: &actions)
        case .resuming(var resuming):
            guard listens[stream] == nil, !resuming.attached.contains(stream) else { return }
            resuming.attached.append(stream)
            phase = .resuming(resuming)
        case .awaitingHello, .authenticating, .over:
            return
        }
    }

    /// Forgets a stream that has ended, once everything in it was sent.
    mutating func detach(_ stream: StreamName, into actions: inout [SessionAction]) {
        guard var listening = listens[stream] else { return }
        switch listening.state {
        case .live, .ephemeral:
            forget(stream, into: &actions)
            releaseResults(into: &actions)
        case .reading, .lagging:
            listening.isEnding = true
            listens[stream] = listening
        }
    }

    /// Forgets a stream at once that the client may no longer see, and sends a reset.
    mutating func drop(_ stream: StreamName, into actions: inout [SessionAction]) {
        guard listens[stream] != nil else { return }
        if case .resuming(var resuming) = phase, resuming.requested.contains(stream) {
            resuming.dropped.insert(stream)
            if resuming.openings[stream] != nil { resuming.openings[stream] = .failure(.notFound("stream")) }
            phase = .resuming(resuming)
            return
        }
        revokeAccess(stream, .notFound("stream"), into: &actions)
    }
}

// Published changes and events.
extension SessionMachine {
    mutating func receiveChanges(_ batch: StreamBatch, at now: NIODeadline, into actions: inout [SessionAction]) {
        guard listens[batch.stream] != nil else { return }
        deliver(batch, into: &actions)
        if !pendingResults.isEmpty { releaseResults(into: &actions) }
    }

    mutating func receiveEvent(_ event: StreamEvent, into actions: inout [SessionAction]) {
        let stream = event.event.stream
        guard var listening = listens[stream], !isOfItself(event.event) else { return }
        switch listening.state {
        case .ephemeral:
            pass(event, into: &actions)
        case .reading(var reading):
            let dropped = reading.hold(event, atMost: limits.orderedEvents)
            if dropped > 0 { actions.append(.dropped(dropped)) }
            listening.state = .reading(reading)
            listens[stream] = listening
        case .live, .lagging:
            return
        }
    }

    /// Whether an event tells the user what they do themselves, such as that they are writing.
    private func isOfItself(_ event: EphemeralEvent) -> Bool {
        event.subject != nil && event.subject == principal?.user
    }

    /// Passes a batch to its listening; returns whether the stream is being read now.
    @discardableResult
    private mutating func deliver(_ batch: StreamBatch, into actions: inout [SessionAction]) -> Bool {
        let stream = batch.stream
        let (isCongested, mayHold) = (isCongested, limits.softQueueBytes)
        let delivery = listens[stream]?.receive(batch, isCongested: isCongested, holdingAtMost: mayHold)
        switch delivery {
        case .nothing, nil:
            return false
        case .send(let sequence):
            send(batch.frame(after: sequence, for: listens[stream]?.view), into: &actions)
            return false
        case .read(let position):
            read(stream, after: position, into: &actions)
            return true
        }
    }
}

// Reading the store.
extension SessionMachine {
    /// Starts to read a stream that the session listens to.
    mutating func read(
        _ stream: StreamName, after: Position?, listenIDs: [Int64] = [], into actions: inout [SessionAction]
    ) {
        guard var listening = listens[stream] else { return }
        tickets &+= 1
        readings += 1
        let reading = StreamSubscription.Reading(ticket: tickets, after: after, listenIDs: listenIDs)
        listening.state = .reading(reading)
        listens[stream] = listening
        queue.forget(stream)
        actions.append(.open(stream, after: after, ticket: reading.ticket))
    }

    /// Completes `open`.
    mutating func opened(
        _ stream: StreamName, ticket: UInt32, _ result: Result<StreamOpening, Problem>, at now: NIODeadline,
        wallClock: Timestamp, into actions: inout [SessionAction]
    ) {
        readings -= 1
        guard case .reading(let reading) = listens[stream]?.state, reading.ticket == ticket else { return }
        if collect(stream, result, at: now, wallClock: wallClock, into: &actions) { return }
        finishReading(stream, result, at: now, into: &actions)
        catchUp(into: &actions)
    }

    /// Sends what was read and then what was held, and continues from there.
    mutating func finishReading(
        _ stream: StreamName, _ result: Result<StreamOpening, Problem>, at now: NIODeadline,
        into actions: inout [SessionAction]
    ) {
        guard var listening = listens[stream], case .reading(let reading) = listening.state else { return }
        let opening: StreamOpening
        switch result {
        case .success(let read): opening = read
        case .failure(let problem): return failReading(stream, reading, problem, into: &actions)
        }
        let position = send(opening, of: stream, rereading: reading.listenIDs.isEmpty, into: &actions)
        if case .presence(let presence, let view) = opening {
            listening.presence = ListenedPresence(view: view, last: presence.seen(view))
        }
        var isComplete = true
        if case .state(let state) = opening {
            isComplete = state.isComplete
            if let view = state.view { listening.view = view }
        }
        if !stream.hasPositions {
            listening.state = .ephemeral
        } else {
            listening.state =
                position == opening.position && isComplete ? .live(position) : .lagging(position)
        }
        if case .over = phase { return }
        listens[stream] = listening
        for event in reading.heldEvents { pass(event, into: &actions) }
        // A new reading begins after these were published, so it contains the rest of them.
        for batch in reading.held where deliver(batch, into: &actions) { break }
        for id in reading.listenIDs { send(.listening(id, to: stream, at: position), into: &actions) }
        continueListening(stream, after: reading, into: &actions)
        if let moved = reading.moved { receiveNotice(moved, at: now, into: &actions) }
        releaseResults(into: &actions)
    }

    /// Sends what was read, or as many changes as there is space for; returns the position that was reached.
    private mutating func send(
        _ opening: StreamOpening, of stream: StreamName, rereading isRereading: Bool,
        into actions: inout [SessionAction]
    ) -> Position {
        switch opening {
        case .snapshot(let json, let position):
            send(.snapshot(json, of: stream, at: position), into: &actions)
            return position
        case .presence(let presence, let view):
            send(presence.seen(view), of: stream, rereading: isRereading, into: &actions)
            return .ephemeral
        case .state(let state):
            if let reason = state.reset { send(.reset(stream, reason), into: &actions) }
            switch state.content {
            case .snapshot(let json): send(.snapshot(json, of: stream, at: state.position), into: &actions)
            case .rows(let rows, let after, let gap):
                if !rows.isEmpty || after < state.position.sequence {
                    send(.rows(rows, of: stream, after: after, upTo: state.position, gap: gap), into: &actions)
                }
            }
            return state.position
        case .reset(let reason, let json, let position):
            send(.reset(stream, reason), into: &actions)
            send(.snapshot(json, of: stream, at: position), into: &actions)
            return position
        case .changes(let changes, let position):
            let hasSpace = isTransportWritable && queue.isEmpty
            var space = hasSpace ? limits.hardQueueBytes / 4 : limits.softQueueBytes - queue.bytes
            var rest = changes[...]
            while !rest.isEmpty {
                let frame = rest.prefixToSend(atMost: min(space, limits.softQueueBytes))
                guard let last = frame.last else {
                    return Position(epoch: position.epoch, sequence: (rest.first?.position.sequence ?? 1) - 1)
                }
                rest = rest.dropFirst(frame.count)
                let encoded = OutboundFrame.changes(frame, of: stream)
                space -= encoded.count
                send(encoded, into: &actions)
                if rest.isEmpty { break }
                if space <= 0 { return last.position }
            }
            return position
        }
    }

    /// Decides whether a stream that was just read must be read again, or has ended.
    private mutating func continueListening(
        _ stream: StreamName, after reading: StreamSubscription.Reading, into actions: inout [SessionAction]
    ) {
        guard let listening = listens[stream] else { return }
        if let next = reading.next {
            if case .reading(var current) = listening.state {
                current.next = next
                listens[stream]?.state = .reading(current)
            } else {
                read(stream, after: next.after, listenIDs: next.listenIDs, into: &actions)
            }
            return
        }
        switch listening.state {
        case .live(let position) where reading.hasOverflowed: read(stream, after: position, into: &actions)
        case .live, .ephemeral: if listening.isEnding { forget(stream, into: &actions) }
        case .reading, .lagging: return
        }
    }

    /// A client's own `listen` is rejected with the problem. Otherwise, a stream that may no longer be seen is reset,
    /// and one that cannot be read now ends the session, which may reconnect: a stream is never dropped silently.
    private mutating func failReading(
        _ stream: StreamName, _ reading: StreamSubscription.Reading, _ problem: Problem,
        into actions: inout [SessionAction]
    ) {
        let isDenied = problem.kind == .notFound || problem.kind == .forbidden
        if !reading.listenIDs.isEmpty || reading.next != nil {
            revokeAccess(stream, problem, into: &actions)
        } else if isDenied {
            let isUnseen = reading.after == nil || listens[stream]?.isEnding == true
            if isUnseen { forget(stream, into: &actions) } else { revokeAccess(stream, problem, into: &actions) }
        } else {
            return end(.internalError, into: &actions)
        }
        releaseResults(into: &actions)
    }

    /// Forgets a stream: sends `reset` if the client has some of it, and the problem for pending `listen` frames.
    private mutating func revokeAccess(_ stream: StreamName, _ problem: Problem, into actions: inout [SessionAction]) {
        guard let listening = listens[stream] else { return }
        let ids = listening.unansweredIDs
        var isKnown = true
        if case .reading(let reading) = listening.state {
            isKnown = reading.listenIDs.isEmpty && reading.after != nil
        }
        forget(stream, into: &actions)
        if isKnown { send(.reset(stream, .access), into: &actions) }
        for id in ids { reject(id, problem, into: &actions) }
        releaseResults(into: &actions)
    }

    mutating func forget(_ stream: StreamName, into actions: inout [SessionAction]) {
        guard let listening = listens.removeValue(forKey: stream) else { return }
        if case .reading(let reading) = listening.state { actions.append(.cancelRead(ticket: reading.ticket)) }
        queue.forget(stream)
        actions.append(.unsubscribe(stream))
    }

    /// Reads lagging streams, a few at a time, when the queue has space again.
    mutating func catchUp(into actions: inout [SessionAction]) {
        guard case .live = phase, isTransportWritable, queue.bytes < limits.softQueueBytes / 2 else { return }
        for (stream, listening) in listens where readings < limits.concurrentReads {
            if case .lagging(let position) = listening.state { read(stream, after: position, into: &actions) }
        }
    }
}

extension StreamOpening {
    fileprivate var position: Position {
        switch self {
        case .snapshot(_, let position), .changes(_, let position), .reset(_, _, let position): position
        case .state(let state): state.position
        case .presence: .ephemeral
        }
    }
}

extension ArraySlice<Change> {
    /// The changes for one frame: as many as fit, or a single larger one as long as there is any space.
    fileprivate func prefixToSend(atMost space: Int) -> Self {
        guard space > 0 else { return [] }
        var bytes = 0
        var count = 0
        for change in self {
            bytes += change.data.utf8.count
            if count > 0, bytes > space { break }
            count += 1
        }
        return prefix(count)
    }
}
