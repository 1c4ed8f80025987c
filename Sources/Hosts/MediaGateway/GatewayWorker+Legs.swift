import DatagramIO
package import Gateway
package import ICE
package import SDP
package import SecureMedia
import Wire

// Legs from their first offer to their end.

extension GatewayWorker {
    /// Makes a leg that waits for the client's checks and returns its empty slots. nil when there is no memory for its
    /// DTLS.
    package mutating func open(_ opening: LegOpening) -> [ShownSlot]? {
        guard ufrags.add(opening.credentials.ufrag, opening.number) else { return nil }
        let remote = opening.negotiated.remote
        let context = remote.awaitsHandshake ? shared.contexts.client : shared.contexts.server
        guard let handshake = MediaHandshake.make(context, exchange, peer: remote.certificates) else {
            ufrags.remove(opening.credentials.ufrag)
            return nil
        }
        // While there are none, a tick is a second away.
        if legs.isEmpty { nextTick = min(nextTick, now.adding(nanoseconds: GatewayEngine.tickNanoseconds)) }
        let agent = LiteAgent(opening.credentials, remoteUfrag: remote.credentials.ufrag, at: now)
        legs[opening.number] = LegTransport(opening, agent, handshake, at: now)
        return opening.negotiated.emptySlots
    }

    /// Applies a later offer of the leg. Returns what its slots show now; nil when the leg is gone.
    package mutating func renegotiate(
        _ number: UInt64, _ negotiated: NegotiatedLeg, _ sources: [String: TrackSource],
        _ credentials: LocalCredentials?
    ) -> [ShownSlot]? {
        guard let leg = legs[number] else { return nil }
        if let credentials {
            guard ufrags.add(credentials.ufrag, number) else { return nil }
            let ended = leg.agent.restart(credentials, remoteUfrag: negotiated.remote.credentials.ufrag)
            if let ended { ufrags.remove(ended) }
        }
        leg.negotiated = negotiated
        switch leg.stage {
        case .connecting(let connecting):
            connecting.renegotiate(sources, videoSlots: negotiated.videoSlots)
            return negotiated.emptySlots
        case .connected(let id, _):
            engine.renegotiate(id, negotiated, sources: sources, at: now, into: &sender)
            return engine.slots(of: id)
        }
    }

    /// Sets the participant's preferences for some of its video slots; changes nothing if one of the mids is unknown.
    /// Returns the resulting preferences of all its video slots, in the order of the sections; nil when the leg is
    /// gone.
    package mutating func setPreferences(_ number: UInt64, _ preferences: [String: PreferredQuality])
        -> [LegSlotPreference]?
    {
        guard let leg = legs[number] else { return nil }
        let slots = leg.negotiated.videoSlots
        let areKnown = preferences.keys.allSatisfy { slots.contains($0) }
        let kept: [String: PreferredQuality]
        switch leg.stage {
        case .connecting(let connecting):
            if areKnown { connecting.setPreferences(preferences) }
            kept = connecting.preferences
        case .connected(let id, _):
            if areKnown { engine.setPreferences(preferences, on: id) }
            kept = engine.preferences(of: id) ?? [:]
        }
        return slots.map { LegSlotPreference(mid: $0, quality: kept[$0] ?? .high) }
    }

    /// The DTLS handshake is complete: the leg joins its call.
    package mutating func connect(_ leg: LegTransport, _ material: SRTPKeyingMaterial) {
        guard case .connecting(let connecting) = leg.stage else { return }
        guard let session = SecureSession(material, isServer: leg.handshake.isServer) else {
            end(leg, .handshakeFailed)
            return
        }
        retransmissions[leg.number] = nil
        leg.handshake.releaseBuffers()
        stats.handshakes &+= 1
        let id = engine.join(
            leg.key.call, as: leg.key.participant, leg.negotiated, sources: connecting.sources, at: now, into: &sender)
        leg.connect(id, session)
        engine.setPreferences(connecting.preferences, on: id)
        numbers[id] = leg.number
        sender.set(id, session, leg.agent.selected)
        shared.notify(.connected(leg.key), of: leg.number)
    }

    /// Releases everything that the leg has, and reports why it ended.
    package mutating func end(_ leg: LegTransport, _ reason: LegEnd) {
        guard legs.removeValue(forKey: leg.number) != nil else { return }
        retransmissions[leg.number] = nil
        if case .connected(let id, _) = leg.stage {
            engine.leave(id, at: now, into: &sender)
            // What the engine wrote to this leg in leaving is of no use.
            sender.remove(id)
            numbers[id] = nil
        }
        leg.handshake.close()
        sendHandshake(leg, to: leg.agent.selected)
        for flow in leg.agent.validFlows {
            flows[flow] = nil
            if let connection = sender.connections[flow] {
                // Sends the DTLS close_notify first.
                _ = connection.flush()
                close(connection)
            }
        }
        for ufrag in leg.agent.ufrags { ufrags.remove(ufrag) }
        stats.ended[reason, default: 0] &+= 1
        shared.notify(.ended(leg.key, reason), of: leg.number)
    }

    /// Checks the leg's timeouts, twice a second.
    mutating func sweep(_ leg: LegTransport) {
        if case .connecting(let connecting) = leg.stage, connecting.deadline <= now, connecting.waiting.isEmpty,
            !connecting.mustConnect, leg.agent.deadline.map({ $0 > now }) ?? true
        {
            endHandshake(leg, "not complete after \(ConnectingLeg.handshakeSeconds) s")
            return
        }
        var removed: [Flow] = []
        let loss = leg.agent.advance(to: now, removed: &removed)
        for flow in removed { release(flow) }
        if !removed.isEmpty { updatePath(leg) }
        switch loss {
        case .neverChecked: end(leg, .neverConnected)
        case .consentExpired: end(leg, .connectionLost)
        case nil: reportAlive(leg)
        }
    }

    /// Removes SRTP state of ended sources, whose number is limited.
    mutating func removeEndedSources() {
        for source in engine.takeEndedSources(at: now) {
            guard let number = numbers[source.leg], case .connected(_, let session)? = legs[number]?.stage else {
                continue
            }
            if source.isPublished { session.receiver.forget(source.ssrc) } else { session.sender.forget(source.ssrc) }
        }
    }

    private func reportAlive(_ leg: LegTransport) {
        guard let lastActivity = leg.lastActivity, leg.reportedAliveAt.map({ lastActivity > $0 }) ?? true,
            leg.reportedAliveAt.map({ now.nanoseconds(since: $0) >= LegTransport.aliveNanoseconds }) ?? true
        else { return }
        leg.reportedAliveAt = now
        shared.notify(.alive(leg.key), of: leg.number)
    }

    /// Sends media to the client's last nominated pair.
    mutating func updatePath(_ leg: LegTransport) {
        guard case .connected(let id, let session) = leg.stage else { return }
        sender.set(id, session, leg.agent.selected)
    }
}

extension NegotiatedLeg {
    /// The mids of the sections in which the gateway sends video.
    var videoSlots: [String] { sections.filter { $0.slot != nil && $0.kind == .video }.map(\.mid) }

    /// Without those that the client itself rejects.
    var rejectedSections: [RejectedSection] {
        sections.compactMap { section in
            guard let rejection = section.rejection, rejection != .stopped else { return nil }
            return RejectedSection(mid: section.mid, reason: rejection.description)
        }
    }

    var hasNoSlots: Bool { sections.allSatisfy { $0.slot == nil } }

    var emptySlots: [ShownSlot] {
        sections.compactMap { section in
            guard section.slot != nil, let kind = section.kind else { return nil }
            return ShownSlot(mid: section.mid, kind: kind, track: nil)
        }
    }
}
