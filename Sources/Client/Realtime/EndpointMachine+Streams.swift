/// A stream that an endpoint listens to, and how far it has come.
struct Listening: Sendable {
    enum Phase: Equatable, Sendable {
        /// The connection there is, if any, does not carry it yet.
        case unheard
        /// A listen was sent.
        case opening
        /// The server is about to send a snapshot unasked; past this moment it is asked for.
        case expected(by: Int64)
        case open
    }

    let name: String
    var phase = Phase.unheard
    var position: StreamPosition?
    /// Set when the call has ended: past this moment nothing more can come.
    var over: Int64?

    var deadline: Int64? {
        if case .expected(let by) = phase { min(by, over ?? by) } else { over }
    }
}

extension EndpointMachine {
    /// Listens to a stream until ``unlisten(_:into:)``: its snapshot is delivered, then what changes.
    mutating func listen(_ stream: String, into actions: inout [Action]) {
        if case .stopped(let error) = link { return actions.append(.deliver(stream: stream, .closed(error))) }
        if streams[stream] == nil { streams[stream] = Listening(name: stream) }
        if isLive { ask(for: stream, into: &actions) }
    }

    /// Expects that the server attaches the endpoint to a stream by itself, and asks for the stream when it does not.
    mutating func expect(_ stream: String, at now: Int64) {
        guard streams[stream] == nil else { return }
        var listening = Listening(name: stream)
        if isLive { listening.phase = .expected(by: now + limits.patience) }
        streams[stream] = listening
    }

    /// Stops listening to a stream.
    mutating func unlisten(_ stream: String, into actions: inout [Action]) {
        guard let listening = streams.removeValue(forKey: stream) else { return }
        guard isLive, listening.phase != .unheard else { return }
        let id = makeID()
        purposes[id] = .unlisten
        actions.append(.send(.unlisten(id: id, stream: stream)))
    }

    /// Takes up the streams on a new connection: those that the server resumed come by themselves.
    mutating func resumed(_ greeting: Greeting, at now: Int64, into actions: inout [Action]) {
        let own = StreamName.user(greeting.user)
        if streams[own] == nil { streams[own] = Listening(name: own) }
        for name in streams.keys.sorted() {
            switch greeting.resumed?[name] {
            case "ok": streams[name]?.phase = .open
            case "reset": streams[name]?.phase = .expected(by: now + limits.patience)
            default:
                // An ended call that the server does not know any more has said everything.
                if streams[name]?.over != nil {
                    close(name, .streamClosed, into: &actions)
                } else {
                    ask(for: name, into: &actions)
                }
            }
        }
    }

    /// A snapshot came. One that tells nothing new is dropped: the server sends some of them twice.
    mutating func took(
        _ document: StreamDocument, _ position: StreamPosition, of stream: String, at now: Int64,
        into actions: inout [Action]
    ) {
        guard var listening = streams[stream] ?? unasked(stream) else { return }
        if case .expected = listening.phase { listening.phase = .open }
        let known = listening.position
        guard
            known == nil || known?.epoch != position.epoch || position.sequence > known?.sequence ?? 0
                || !StreamName.isDurable(stream)
        else {
            streams[stream] = listening
            return
        }
        listening.position = position
        streams[stream] = listening
        actions.append(.deliver(stream: stream, .snapshot(document, position)))
        if case .call(let call) = document, call.status == .ended { end(call.id, at: now) }
    }

    /// Changes came: what was seen is dropped, and where some are missing they are asked for.
    mutating func took(_ changes: [StreamChange], of stream: String, at now: Int64, into actions: inout [Action]) {
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
            streams[stream]?.phase = .unheard
            ask(for: stream, into: &actions)
        }
    }

    /// The server could not go on from where the stream was: a snapshot follows, unless access is gone.
    mutating func wasReset(_ stream: String, reason: String, at now: Int64, into actions: inout [Action]) {
        guard streams[stream] != nil else { return }
        if reason == "access" { return close(stream, .streamClosed, into: &actions) }
        streams[stream]?.position = nil
        if streams[stream]?.phase != .opening { streams[stream]?.phase = .expected(by: now + limits.patience) }
    }

    /// The answer to a listen came, and with it what it brought.
    mutating func listened(
        _ stream: String, _ result: Result<Answer, Problem>, at now: Int64, into actions: inout [Action]
    ) {
        guard streams[stream]?.phase == .opening else { return }
        switch result {
        case .success: streams[stream]?.phase = .open
        case .failure(let problem) where problem.status == 429 || problem.status >= 500:
            // Not a matter of access: ask again in a while.
            let pause = problem.retryAfter.map { $0.components.seconds * 1_000 } ?? 0
            streams[stream]?.phase = .expected(by: now + max(limits.patience, pause))
        case .failure(let problem): close(stream, .refused(problem), into: &actions)
        }
    }

    mutating func advanceStreams(to now: Int64, into actions: inout [Action]) {
        for (name, listening) in streams.sorted(by: { $0.key < $1.key }) {
            if let over = listening.over, now >= over {
                close(name, .streamClosed, into: &actions)
            } else if case .expected(let by) = listening.phase, now >= by {
                streams[name]?.phase = .unheard
                if isLive { ask(for: name, into: &actions) }
            }
        }
    }

    mutating func close(_ stream: String, _ error: SwitchboardError, into actions: inout [Action]) {
        guard streams.removeValue(forKey: stream) != nil else { return }
        actions.append(.deliver(stream: stream, .closed(error)))
    }

    private mutating func ask(for stream: String, into actions: inout [Action]) {
        guard let listening = streams[stream], listening.phase == .unheard else { return }
        let id = makeID()
        purposes[id] = .listen(stream: stream)
        streams[stream]?.phase = .opening
        let after = StreamName.isDurable(stream) ? listening.position : nil
        actions.append(.send(.listen(id: id, stream: stream, after: after)))
    }

    /// The server attaches endpoints to the streams of their calls without being asked.
    private func unasked(_ stream: String) -> Listening? {
        StreamName.call(of: stream) == nil ? nil : Listening(name: stream, phase: .open)
    }

    /// The call is over; its streams close once their last changes had time to come.
    private mutating func end(_ call: CallID, at now: Int64) {
        for name in streams.keys where StreamName.call(of: name) == call && streams[name]?.over == nil {
            streams[name]?.over = now + limits.afterlife
        }
    }
}
