import Logging

// Dispatch of stream deliveries.
extension RealtimeEndpoint {
    func deliver(_ delivery: EndpointMachine.Delivery, of stream: String) {
        if case .changes(let changes) = delivery {
            for case .unknown(let type) in changes.map(\.content) {
                options.logger?.debug("unknown change", metadata: ["type": "\(type)"])
            }
        }
        if stream.hasPrefix("presence:") { return deliver(delivery, toPresence: UserID(String(stream.dropFirst(9)))) }
        if stream.hasPrefix("typing:") {
            return deliver(delivery, ofTypingIn: ConversationID(String(stream.dropFirst("typing:".count))))
        }
        if stream.hasPrefix("run:") { return deliver(delivery, ofAnswer: stream) }
        if StreamName.isOfCaptionTranslations(stream) { return deliver(delivery, ofCaptionTranslations: stream) }
        if StreamName.isKeyed(stream) { return deliver(delivery, ofKeyed: stream) }
        if stream.hasPrefix("user:"), friendBook.apply(delivery) { friendUpdates.send(friendBook.all) }
        guard let user else { return }
        for event in book.apply(delivery, of: stream, for: user) { handle(event) }
        expectStreams()
    }

    func deliver(_ delivery: EndpointMachine.Delivery, toPresence user: UserID) {
        switch delivery {
        case .snapshot(.presence(let presence), _), .presence(let presence):
            lastPresence[user] = presence
            presences[user]?.send(presence)
        case .closed: presences.removeValue(forKey: user)?.finish()
        case .snapshot, .changes, .rows, .listening, .caption, .captionTranslation, .typing, .run: break
        }
    }

    func deliver(_ delivery: EndpointMachine.Delivery, ofCaptionTranslations stream: String) {
        switch delivery {
        case .captionTranslation(let translation): captionTranslations[stream]?.send(translation)
        case .closed: captionTranslations.removeValue(forKey: stream)?.finish()
        case .snapshot, .changes, .rows, .listening, .presence, .caption, .typing, .run: break
        }
    }

    /// The server attaches this endpoint to the streams of its calls; if a response was lost, a `listen` may be needed.
    func expectStreams() {
        guard let user else { return }
        for stream in book.streams(of: user, at: identity.id) { machine.expect(stream, at: now) }
    }

    func handle(_ event: CallBook.Event) {
        switch event {
        case .incoming(let call): incoming.send(liveCall(for: call))
        case .updated(let call):
            note(call)
            liveCall(for: call).update(call)
        case .ended(let call):
            note(call)
            liveCalls.removeValue(forKey: call.id)?.end(call)
        case .gone(let id): liveCalls.removeValue(forKey: id)?.abandon(.streamClosed)
        case .signals(let id, let signals, let isWhole): liveCalls[id]?.receive(signals, isWhole: isWhole)
        case .leg(let id, let entries): liveCalls[id]?.receive(entries)
        case .captions(let id, let captions): liveCalls[id]?.receive(captions)
        case .profile(let me): profiles.send(me)
        }
    }

    /// The live call of a document, created where there is none yet.
    func liveCall(for call: Call) -> LiveCall {
        if let held = liveCalls[call.id] { return held }
        let live = LiveCall(call, endpoint: self)
        if call.status == .ended {
            live.end(call)
        } else {
            liveCalls[call.id] = live
            if let user {
                for event in book.apply(call, for: user) { handle(event) }
                expectStreams()
                setTimer()
            }
        }
        return live
    }

    func stopped(_ error: SwitchboardError) {
        options.logger?.debug("stopped", metadata: ["error": "\(error)"])
        setConnected(false)
        stoppedAnswerings(error)
        for call in liveCalls.values { call.abandon(error) }
        liveCalls = [:]
        // After another start, what still rings is announced again, with live calls of its own.
        book = CallBook()
        for presence in presences.values { presence.finish() }
        presences = [:]
        for translations in captionTranslations.values { translations.finish() }
        captionTranslations = [:]
        if case .disconnected(code: 4004, _) = error { eraseStore() }
        guard error == .closed else { return }
        closeStore()
        messaging.inboxUpdates.finish()
        incoming.finish()
        profiles.finish()
        friendUpdates.finish()
        connections.finish()
    }
}
