import Logging

// What comes out of the streams, and where it goes.
extension RealtimeEndpoint {
    func deliver(_ delivery: EndpointMachine.Delivery, of stream: String) {
        if case .changes(let changes) = delivery {
            for case .unknown(let type) in changes.map(\.content) {
                options.logger?.debug("unknown change", metadata: ["type": "\(type)"])
            }
        }
        if stream.hasPrefix("presence:") { return deliver(delivery, toPresence: UserID(String(stream.dropFirst(9)))) }
        guard let user else { return }
        for event in book.take(delivery, of: stream, for: user) { tell(event) }
        expectStreams()
    }

    func deliver(_ delivery: EndpointMachine.Delivery, toPresence user: UserID) {
        switch delivery {
        case .snapshot(.presence(let presence), _), .presence(let presence):
            lastPresence[user] = presence
            presences[user]?.send(presence)
        case .closed: presences.removeValue(forKey: user)?.finish()
        case .snapshot, .changes, .caption: break
        }
    }

    /// The server attaches this endpoint to the streams of its calls; where an answer was lost it may have to be asked.
    func expectStreams() {
        guard let user else { return }
        for stream in book.streams(of: user, at: identity.id) { machine.expect(stream, at: now) }
    }

    func tell(_ event: CallBook.Event) {
        switch event {
        case .incoming(let call): incoming.send(hold(call))
        case .updated(let call): hold(call).update(call)
        case .over(let call):
            liveCalls.removeValue(forKey: call.id)?.end(call)
        case .gone(let id): liveCalls.removeValue(forKey: id)?.abandon(.streamClosed)
        case .signals(let id, let signals, let isWhole): liveCalls[id]?.receive(signals, isWhole: isWhole)
        case .leg(let id, let entries): liveCalls[id]?.receive(entries)
        case .captions(let id, let captions): liveCalls[id]?.receive(captions)
        case .profile(let me): profiles.send(me)
        }
    }

    /// The handle of a call, made where there is none yet.
    func hold(_ call: Call) -> LiveCall {
        if let held = liveCalls[call.id] { return held }
        let handle = LiveCall(call, endpoint: self)
        if call.status == .ended {
            handle.end(call)
        } else {
            liveCalls[call.id] = handle
            if let user {
                for event in book.take(call, for: user) { tell(event) }
                expectStreams()
                setTimer()
            }
        }
        return handle
    }

    func stopped(_ error: SwitchboardError) {
        options.logger?.debug("stopped", metadata: ["error": "\(error)"])
        connections.send(false)
        for call in liveCalls.values { call.abandon(error) }
        liveCalls = [:]
        incoming.finish()
        profiles.finish()
        connections.finish()
        for presence in presences.values { presence.finish() }
        presences = [:]
    }
}
