/// A stream that an endpoint listens to, and its position.
struct ListenedStream: Sendable {
    enum Phase: Equatable, Sendable {
        /// The endpoint does not listen on the current connection, if there is one.
        case inactive
        /// A `listen` was sent.
        case opening
        /// The server should send a snapshot by itself; after this time the endpoint sends a `listen`.
        case expected(by: Int64)
        case open
    }

    let name: String
    var phase = Phase.inactive
    var position: StreamPosition?
    /// Set when the call has ended: the stream closes at this time.
    var closesAt: Int64?

    var deadline: Int64? {
        if case .expected(let by) = phase { min(by, closesAt ?? by) } else { closesAt }
    }
}

extension EndpointMachine {
    /// Listens to a stream until ``unlisten(_:into:)``: delivers its snapshot, then its changes.
    ///
    /// - Parameter position: Of keyed state: what is held already.
    mutating func listen(_ stream: String, holding position: StreamPosition? = nil, into actions: inout [Action]) {
        if case .stopped(let error) = connectionState {
            return actions.append(.deliver(stream: stream, .closed(error)))
        }
        if streams[stream] == nil { streams[stream] = ListenedStream(name: stream) }
        if StreamName.isKeyed(stream) { streams[stream]?.position = position }
        if isLive { sendListen(for: stream, into: &actions) }
    }

    /// Takes the position that a stream of keyed state is resumed from.
    mutating func hold(_ position: StreamPosition?, of stream: String) {
        streams[stream]?.position = position
    }

    /// Listens again to a stream of keyed state of which something was missed, after a pause: it may happen again.
    mutating func listenAgain(_ stream: String, at now: Int64) {
        guard let listening = streams[stream], listening.phase == .open else { return }
        streams[stream]?.phase = .expected(by: now + limits.snapshotTimeout)
    }

    /// Listens anew to a stream without positions of which something was missed, at once: its snapshot follows. Does nothing
    /// while a snapshot is on its way.
    mutating func listenAnew(_ stream: String, into actions: inout [Action]) {
        guard isLive, streams[stream]?.phase == .open else { return }
        streams[stream]?.phase = .inactive
        sendListen(for: stream, into: &actions)
    }

    /// Expects the server to attach the endpoint to a stream, and sends a `listen` if it does not.
    mutating func expect(_ stream: String, at now: Int64) {
        guard streams[stream] == nil else { return }
        var listening = ListenedStream(name: stream)
        if isLive { listening.phase = .expected(by: now + limits.snapshotTimeout) }
        streams[stream] = listening
    }

    /// Stops listening to a stream.
    mutating func unlisten(_ stream: String, into actions: inout [Action]) {
        guard let listening = streams.removeValue(forKey: stream) else { return }
        guard isLive, listening.phase != .inactive else { return }
        // The server refuses a `listen` that it has not carried out yet: that says nothing of a later one.
        for case (let id, .listen(stream)) in purposes { purposes[id] = nil }
        let id = makeID()
        purposes[id] = .unlisten
        actions.append(.send(.unlisten(id: id, stream: stream)))
    }

    /// Resumes the streams on a new connection; sends a `listen` for those that the server did not resume.
    mutating func resumed(_ greeting: Greeting, at now: Int64, into actions: inout [Action]) {
        let own = StreamName.user(greeting.user)
        if streams[own] == nil { streams[own] = ListenedStream(name: own) }
        for name in streams.keys.sorted() {
            switch greeting.resumed?[name] {
            case "ok": streams[name]?.phase = .open
            case "reset": streams[name]?.phase = .expected(by: now + limits.snapshotTimeout)
            default:
                // The stream of an ended call that the server no longer has is complete.
                if streams[name]?.closesAt != nil {
                    close(name, .streamClosed, into: &actions)
                } else {
                    sendListen(for: name, into: &actions)
                }
            }
        }
    }

    /// Handles a snapshot. One without news is dropped: the server sends some of them twice.
    mutating func receive(
        _ document: StreamDocument, _ position: StreamPosition, of stream: String, at now: Int64,
        into actions: inout [Action]
    ) {
        guard var listening = streams[stream] ?? attachedByServer(stream) else { return }
        if case .expected = listening.phase, !StreamName.isKeyed(stream) { listening.phase = .open }
        let known = listening.position
        guard
            known == nil || known?.epoch != position.epoch || position.sequence > known?.sequence ?? 0
                || !StreamName.isDurable(stream) || StreamName.isKeyed(stream)
        else {
            streams[stream] = listening
            return
        }
        listening.position = position
        streams[stream] = listening
        actions.append(.deliver(stream: stream, .snapshot(document, position)))
        if case .call(let call) = document, call.status == .ended { end(call.id, at: now) }
    }

    /// Handles changes: drops duplicates, and listens again from the last position if there is a gap.
    mutating func receive(_ changes: [StreamChange], of stream: String, at now: Int64, into actions: inout [Action]) {
        guard let listening = streams[stream], var position = listening.position else { return }
        var fresh: [StreamChange] = []
        var isGap = false
        for change in changes where change.sequence > position.sequence {
            guard change.sequence - position.sequence == 1 else {
                isGap = true
                break
            }
            position.sequence = change.sequence
            fresh.append(change)
        }
        streams[stream]?.position = position
        if !fresh.isEmpty { actions.append(.deliver(stream: stream, .changes(fresh))) }
        for case .call(let call) in fresh.map(\.content) where call.status == .ended && stream.hasPrefix("call:") {
            end(call.id, at: now)
        }
        if isGap, listening.phase != .opening {
            streams[stream]?.phase = .inactive
            sendListen(for: stream, into: &actions)
        }
    }

    /// Handles a reset: the server could not resume the stream. A snapshot follows, unless access was lost.
    mutating func receiveReset(_ stream: String, reason: String, at now: Int64, into actions: inout [Action]) {
        guard streams[stream] != nil else { return }
        if reason == "access" { return close(stream, .streamClosed, into: &actions) }
        if !StreamName.isKeyed(stream) { streams[stream]?.position = nil }
        if streams[stream]?.phase != .opening { streams[stream]?.phase = .expected(by: now + limits.snapshotTimeout) }
    }

    /// Handles the result of a `listen`.
    mutating func receiveListenResult(
        _ stream: String, _ result: Result<ResultFrame, Problem>, at now: Int64, into actions: inout [Action]
    ) {
        guard streams[stream]?.phase == .opening else { return }
        switch result {
        case .success:
            streams[stream]?.phase = .open
            if StreamName.isKeyed(stream) { actions.append(.deliver(stream: stream, .listening)) }
        case .failure(let problem)
        where (problem.status == 429 || problem.status >= 500) && problem.kind != .providerNotConfigured:
            // A temporary failure: listen again later.
            let pause = problem.retryAfter.map { $0.components.seconds * 1_000 } ?? 0
            streams[stream]?.phase = .expected(by: now + max(limits.snapshotTimeout, pause))
        case .failure(let problem): close(stream, .refused(problem), into: &actions)
        }
    }

    mutating func advanceStreams(to now: Int64, into actions: inout [Action]) {
        for (name, listening) in streams.sorted(by: { $0.key < $1.key }) {
            if let closesAt = listening.closesAt, now >= closesAt {
                close(name, .streamClosed, into: &actions)
            } else if case .expected(let by) = listening.phase, now >= by {
                streams[name]?.phase = .inactive
                if isLive { sendListen(for: name, into: &actions) }
            }
        }
    }

    mutating func close(_ stream: String, _ error: SwitchboardError, into actions: inout [Action]) {
        guard streams.removeValue(forKey: stream) != nil else { return }
        actions.append(.deliver(stream: stream, .closed(error)))
    }

    private mutating func sendListen(for stream: String, into actions: inout [Action]) {
        guard let listening = streams[stream], listening.phase == .inactive else { return }
        let id = makeID()
        purposes[id] = .listen(stream: stream)
        streams[stream]?.phase = .opening
        let after = StreamName.isDurable(stream) ? listening.position : nil
        actions.append(.send(.listen(id: id, stream: stream, after: after)))
    }

    /// The server attaches endpoints to the streams of their calls by itself.
    private func attachedByServer(_ stream: String) -> ListenedStream? {
        StreamName.call(of: stream) == nil ? nil : ListenedStream(name: stream, phase: .open)
    }

    /// The call has ended; its streams close after a delay for their last changes.
    private mutating func end(_ call: CallID, at now: Int64) {
        for name in streams.keys where StreamName.call(of: name) == call && streams[name]?.closesAt == nil {
            streams[name]?.closesAt = now + limits.closeDelay
        }
    }
}
