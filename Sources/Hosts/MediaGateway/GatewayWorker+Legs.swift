import DatagramIO
package import Gateway
package import ICE
package import SDP
package import SecureMedia
import Wire

// Legs from their first offer to their end.

extension GatewayWorker {
    /// Makes a leg that waits for the client's checks, whose slots show nothing yet. nil when there is no memory for its
    /// DTLS.
    package mutating func open(_ opening: LegOpening) -> [ShownSlot]? {
        guard directory.add(opening.credentials.ufrag, opening.number) else { return nil }
        guard
            let handshake = MediaHandshake.begin(
                shared.context, exchange, peer: opening.negotiated.remote.certificates)
        else {
            directory.remove(opening.credentials.ufrag)
            return nil
        }
        let agent = LiteAgent(
            opening.credentials, remoteUfrag: opening.negotiated.remote.credentials.ufrag, at: now)
        legs[opening.number] = LegTransport(opening, agent, handshake, at: now)
        return opening.negotiated.emptySlots
    }

    /// A later offer of the leg was answered. What its slots show now, nil when it has gone.
    package mutating func renegotiate(
        _ number: UInt64, _ negotiated: NegotiatedLeg, _ sources: [String: TrackSource],
        _ credentials: LocalCredentials?
    ) -> [ShownSlot]? {
        guard let leg = legs[number] else { return nil }
        if let credentials {
            guard directory.add(credentials.ufrag, number) else { return nil }
            let ended = leg.agent.restart(credentials, remoteUfrag: negotiated.remote.credentials.ufrag)
            if let ended { directory.remove(ended) }
        }
        leg.negotiated = negotiated
        leg.sources = sources
        guard let id = leg.id else {
            leg.wishes = leg.wishes.filter { negotiated.videoSlots.contains($0.key) }
            return negotiated.emptySlots
        }
        engine.renegotiate(id, negotiated, sources: sources, at: now, into: &wires)
        return engine.slots(of: id)
    }

    /// What the leg's participant wants in some of its video slots. Nothing changes where one of them is none of these.
    /// What it wants then in all of them, in the order of the sections; nil when the leg has gone.
    package mutating func want(_ number: UInt64, _ wishes: [String: WantedQuality]) -> [SlotWish]? {
        guard let leg = legs[number] else { return nil }
        let slots = leg.negotiated.videoSlots
        if wishes.keys.allSatisfy({ slots.contains($0) }) {
            if let id = leg.id { engine.want(wishes, on: id) } else { leg.wishes.merge(wishes) { $1 } }
        }
        let kept = leg.id.flatMap { engine.wishes(of: $0) } ?? leg.wishes
        return slots.map { SlotWish(mid: $0, quality: kept[$0] ?? .high) }
    }

    /// DTLS is done: the leg joins its call.
    package mutating func connect(_ leg: LegTransport, _ material: SRTPKeyingMaterial) {
        guard let session = SecureSession(material) else {
            end(leg, .handshakeFailed)
            return
        }
        leg.session = session
        leg.retransmission = .distantFuture
        shaking[leg.number] = nil
        leg.handshake.releaseBuffers()
        figures.handshakes &+= 1
        let id = engine.join(
            leg.key.call, as: leg.key.participant, leg.negotiated, sources: leg.sources, at: now, into: &wires)
        leg.id = id
        engine.want(leg.wishes, on: id)
        numbers[id] = leg.number
        wires.set(id, session, leg.agent.selected)
        shared.tell(.connected(leg.key), of: leg.number)
    }

    /// Frees everything that the leg has, and says why it ended.
    package mutating func end(_ leg: LegTransport, _ reason: LegEnd) {
        guard legs.removeValue(forKey: leg.number) != nil else { return }
        shaking[leg.number] = nil
        if let id = leg.id {
            engine.leave(id, at: now, into: &wires)
            // What it wrote in leaving is of no use to anybody who has gone.
            wires.remove(id)
            numbers[id] = nil
        }
        leg.handshake.close()
        sendHandshake(leg, to: leg.agent.selected)
        for flow in leg.agent.validFlows {
            flows[flow] = nil
            if let connection = wires.connections[flow] {
                // The goodbye goes first.
                _ = connection.flush()
                close(connection)
            }
        }
        for ufrag in leg.agent.ufrags { directory.remove(ufrag) }
        figures.ended[reason, default: 0] &+= 1
        shared.tell(.ended(leg.key, reason), of: leg.number)
    }

    /// What is due because time passes, twice a second.
    mutating func sweep(_ leg: LegTransport) {
        if leg.session == nil, leg.handshakeDeadline <= now, leg.waiting.isEmpty,
            leg.agent.deadline.map({ $0 > now }) ?? true
        {
            end(leg, .handshakeFailed)
            return
        }
        var removed: [Flow] = []
        let loss = leg.agent.advance(to: now, removed: &removed)
        for flow in removed { release(flow) }
        if !removed.isEmpty { point(leg) }
        switch loss {
        case .neverChecked: end(leg, .neverConnected)
        case .consentExpired: end(leg, .connectionLost)
        case nil: tellAlive(leg)
        }
    }

    /// SRTP keeps something for each source, and has room for so many.
    mutating func forgetSources() {
        for source in engine.takeEndedSources(at: now) {
            guard let session = numbers[source.leg].flatMap({ legs[$0]?.session }) else { continue }
            if source.isPublished { session.receiver.forget(source.ssrc) } else { session.sender.forget(source.ssrc) }
        }
    }

    private func tellAlive(_ leg: LegTransport) {
        guard let heard = leg.heardAt, leg.toldAliveAt.map({ heard > $0 }) ?? true,
            leg.toldAliveAt.map({ now.nanoseconds(since: $0) >= LegTransport.aliveNanoseconds }) ?? true
        else { return }
        leg.toldAliveAt = now
        shared.tell(.alive(leg.key), of: leg.number)
    }

    /// Media goes to where the client has its last nominated pair.
    mutating func point(_ leg: LegTransport) {
        guard let id = leg.id, let session = leg.session else { return }
        wires.set(id, session, leg.agent.selected)
    }
}

extension NegotiatedLeg {
    /// The mids of the sections in which the gateway sends pictures.
    var videoSlots: [String] { sections.filter { $0.slot != nil && $0.kind == .video }.map(\.mid) }

    var emptySlots: [ShownSlot] {
        sections.compactMap { section in
            guard section.slot != nil, let kind = section.kind else { return nil }
            return ShownSlot(mid: section.mid, kind: kind, track: nil)
        }
    }
}
