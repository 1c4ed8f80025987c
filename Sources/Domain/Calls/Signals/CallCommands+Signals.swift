package import Model

extension CallCommands {
    /// Sends a signal from the principal's endpoint to another endpoint in the call.
    ///
    /// Throws `conflict` with the winner if an offer collides. While the call rings and the callee's endpoint is not
    /// known, signals are held for whoever accepts.
    package func send(
        _ request: SendSignal, in id: CallID, by principal: Principal, at now: Timestamp, store: some CallStore
    ) throws -> SignalOutcome {
        try check(request)
        let call = try open(id, as: principal.user, in: store)
        let endpoint = try joinedEndpoint(of: principal, in: call, at: now)
        let recipient = try recipient(of: request, in: call, from: principal.user)
        let peers = Negotiation.Peers(endpoint, recipient)
        let earlier = try store.negotiation(in: id, between: peers)
        var negotiation = earlier ?? Negotiation(call: id, peers: peers)

        let outcome: SignalOutcome
        switch request.kind {
        case .offer:
            switch negotiation.offer(from: endpoint, on: request.generation, rules: rules, at: now) {
            case .committed(let generation):
                outcome = SignalOutcome(status: recipient == nil ? .pending : .delivered, generation: generation)
            case .unknownGeneration: throw Problem.invalid("generation", "There is no such generation to build on.")
            case .collision:
                if let repeated = try repeated(request, in: id, by: principal.user, store: store) { return repeated }
                throw try collision(with: negotiation, in: id, store: store)
            }
        case .answer:
            switch negotiation.answer(from: endpoint, to: request.generation) {
            case .committed: outcome = SignalOutcome(status: .delivered, generation: request.generation)
            case .ignored: outcome = SignalOutcome(status: .ignored, generation: request.generation)
            case .unknownGeneration: throw Problem.invalid("generation", "There is no offer of this generation.")
            case .ownOffer: throw Problem.invalid("generation", "This offer is your own.")
            }
        case .candidates:
            let verdict = negotiation.candidates(
                from: endpoint, of: request.generation, weight: request.payload.weight, rules: rules)
            switch verdict {
            case .delivered: outcome = SignalOutcome(status: .delivered, generation: request.generation)
            case .held: outcome = SignalOutcome(status: .pending, generation: request.generation)
            case .ignored: outcome = SignalOutcome(status: .ignored, generation: request.generation)
            case .unknownGeneration: throw Problem.invalid("generation", "There is no such generation yet.")
            }
        }
        if outcome.status == .ignored {
            return try repeated(request, in: id, by: principal.user, store: store) ?? outcome
        }

        let sender = Signal.Sender(user: principal.user, endpoint: endpoint)
        let signal = Signal(
            call: id, clientID: request.clientID, bodyHash: request.bodyHash, from: sender, to: recipient,
            kind: request.kind, generation: outcome.generation, status: outcome.status,
            data: Signal.data(
                from: sender, kind: request.kind, generation: outcome.generation, payload: request.payload))
        guard try store.insert(signal) else {
            guard let repeated = try repeated(request, in: id, by: principal.user, store: store) else {
                throw Problem.clientIDReused
            }
            return repeated
        }
        try route(signal, &negotiation, store: store)
        if negotiation != earlier { try store.save(negotiation, replacing: earlier) }
        return outcome
    }
}

// Routing of signals.
extension CallCommands {
    /// The other endpoint; nil in a call between two that has not been accepted yet.
    private func recipient(of request: SendSignal, in call: Call, from user: UserID) throws -> EndpointID? {
        let others = call.participants.filter { $0.user != user }
        guard let to = request.to else {
            guard call.isPair else { throw Problem.invalid("to", "Name the endpoint that the signal is for.") }
            return others.first?.endpoint
        }
        guard others.contains(where: { $0.endpoint == to }) else { throw Problem.notFound("endpoint", field: "to") }
        return to
    }

    /// Appends a signal to its recipient's mailbox, an offer together with the candidates that were held for it.
    private func route(_ signal: Signal, _ negotiation: inout Negotiation, store: some CallStore) throws {
        let sender = signal.from.endpoint
        guard let recipient = signal.to else {
            // A newer offer to whoever accepts replaces everything that was held before it.
            guard signal.kind == .offer, signal.generation > 1 else { return }
            negotiation.release()
            return try store.releaseHeldSignals(
                in: signal.call, from: sender, to: nil, through: signal.generation - 1)
        }
        guard signal.status == .delivered else { return }
        var entries = [signal.entry(for: recipient)]
        try supersede(by: signal, to: recipient, store: store)
        guard signal.kind == .offer else {
            try store.append(entries)
            return
        }
        if negotiation.held(from: sender) > 0 {
            entries += try store.heldSignals(in: signal.call, from: sender, to: recipient).map {
                $0.entry(for: recipient)
            }
            try store.releaseHeldSignals(in: signal.call, from: sender, to: recipient, through: signal.generation)
        }
        if negotiation.held(from: recipient) > 0 {
            // They belong to an offer that lost the collision.
            try store.releaseHeldSignals(in: signal.call, from: recipient, to: sender, through: signal.generation)
        }
        negotiation.release()
        if let sequence = try store.append(entries).first { negotiation.delivered(at: sequence) }
    }

    /// Supersedes the entries of both mailboxes that a new description makes obsolete.
    ///
    /// A new offer replaces all earlier ones and contains the candidates that its sender has gathered (RFC 8829 section
    /// 5.2.2). An earlier answer of the same sender is kept, since it may be unread and the offer builds on it; an
    /// endpoint that answers has read everything before the offer.
    private func supersede(by signal: Signal, to recipient: EndpointID, store: some CallStore) throws {
        guard signal.generation > 1, signal.kind != .candidates else { return }
        let sender = signal.from.endpoint
        let (theirs, own) = (StreamName.signals(signal.call, recipient), StreamName.signals(signal.call, sender))
        let isAnswer = signal.kind == .answer
        try store.supersede(
            isAnswer ? [.offer, .answer, .candidates] : [.offer, .candidates], from: sender, in: theirs,
            before: signal.generation)
        try store.supersede(
            isAnswer ? [.offer, .answer, .candidates] : [.offer], from: recipient, in: own, before: signal.generation)
    }

    /// Holds the offer of a new call for the endpoint that will accept it.
    func hold(
        _ offer: SessionDescriptionInit, clientID: ClientID, from sender: Signal.Sender, in id: CallID,
        at now: Timestamp,
        store: some CallStore
    ) throws {
        var negotiation = Negotiation(call: id, peers: Negotiation.Peers(sender.endpoint, nil))
        guard
            case .committed(let generation) = negotiation.offer(
                from: sender.endpoint, on: 0, rules: rules, at: now)
        else { return }
        let payload = Signal.Payload.description(offer)
        let request = SendSignal(clientID: clientID, kind: .offer, generation: 0, payload: payload)
        let signal = Signal(
            call: id, clientID: clientID, bodyHash: request.bodyHash, from: sender, to: nil, kind: .offer,
            generation: generation, status: .pending,
            data: Signal.data(from: sender, kind: .offer, generation: generation, payload: payload))
        _ = try store.insert(signal)
        try store.save(negotiation, replacing: nil)
    }

    /// Delivers the signals that the caller sent before the accept to the endpoint that accepted.
    func deliverHeld(
        from caller: Participant, to endpoint: EndpointID, in id: CallID, at now: Timestamp, store: some CallStore
    ) throws {
        guard let opener = caller.endpoint,
            var negotiation = try store.negotiation(in: id, between: Negotiation.Peers(opener, nil))
        else { return }
        let held = try store.heldSignals(in: id, from: opener, to: nil)
        let current = held.filter { $0.generation == negotiation.generation }
        let early = held.filter { $0.generation > negotiation.generation }
        let sequences = try store.append(current.map { $0.entry(for: endpoint) })
        negotiation.bind(to: endpoint, held: early.count, at: now)
        if let index = current.firstIndex(where: { $0.kind == .offer }), sequences.indices.contains(index) {
            negotiation.delivered(at: sequences[index])
        }
        try store.bind(negotiation, openedBy: opener)
        if !early.isEmpty {
            try store.bindHeldSignals(in: id, from: opener, to: endpoint, after: negotiation.generation)
        }
    }

    /// The result of an earlier identical request, if any.
    private func repeated(
        _ request: SendSignal, in id: CallID, by user: UserID, store: some CallStore
    ) throws -> SignalOutcome? {
        guard let sent = try store.sentSignal(request.clientID, of: user, in: id) else { return nil }
        guard sent.bodyHash == request.bodyHash else { throw Problem.clientIDReused }
        return SignalOutcome(status: sent.status, generation: sent.generation, isDuplicate: true)
    }

    /// The problem for the sender of a colliding offer; it contains the winning offer, which the sender must answer.
    private func collision(
        with negotiation: Negotiation, in id: CallID, store: some CallStore
    ) throws -> Problem {
        var problem = Problem(.conflict, "Another offer came first: roll back, answer it, then offer again.")
        guard let offer = negotiation.offer else { return problem }
        let winner: String?
        if let sequence = offer.sequence, let recipient = negotiation.peers.other(than: offer.from) {
            winner = try store.mail(in: .signals(id, recipient), at: sequence)
        } else {
            winner = try store.heldSignals(in: id, from: offer.from, to: nil).last { $0.kind == .offer }?.data
        }
        problem.members["winner"] = winner
        return problem
    }
}

// Limits.
extension CallCommands {
    func check(_ description: SessionDescriptionInit, field: String) throws {
        guard description.sdp.utf8.count <= rules.descriptionLimit else {
            throw Problem(
                .payloadTooLarge, "A session description has at most \(rules.descriptionLimit) bytes.", field: field)
        }
        guard !description.sdp.isEmpty else { throw Problem.invalid(field, "The session description is empty.") }
    }

    private func check(_ request: SendSignal) throws {
        switch (request.kind, request.payload) {
        case (.offer, .description(let description)), (.answer, .description(let description)):
            try check(description, field: "payload.sdp")
        case (.candidates, .candidates(let candidates, _)):
            guard candidates.count <= rules.batchLimit else {
                throw Problem.invalid("payload.candidates", "A batch has at most \(rules.batchLimit) candidates.")
            }
            for (index, candidate) in candidates.enumerated() where candidate.size > rules.candidateLimit {
                throw Problem.invalid(
                    "payload.candidates[\(index)]", "A candidate has at most \(rules.candidateLimit) bytes.")
            }
        default: throw Problem.invalid("payload", "The payload does not match the kind of the signal.")
        }
    }
}
