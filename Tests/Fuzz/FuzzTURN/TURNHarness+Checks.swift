import FuzzInput
import STUN
import TURN
import Wire

// What must hold, and what may change it.

extension TURNHarness {
    /// The engine did what a client asked: the model grants it, where that client could ask for it.
    func handled(
        _ sent: Sent, _ response: Recorder.Response, on flow: Flow, at worker: Worker, hasMoved: Bool
    ) {
        guard let username = sent.username else {
            if sent.method == nil { return }
            fatalError("success without authentication")
        }
        switch sent.method {
        case .createPermission, .channelBind:
            guard let key = worker.owners[flow], allocations[key]?.username == username else {
                fatalError("a permission for another's allocation")
            }
            let peers = sent.method == .channelBind ? Array(sent.peers.prefix(1)) : sent.peers
            for peer in peers {
                if policy.forbids(peer, relays) { fatalError("a permission for a peer that is forbidden") }
                allocations[key]?.permissions[peer.address] = now.adding(seconds: 300)
                if sent.method == .channelBind { allocations[key]?.channelPeers.insert(peer) }
            }
        case .refresh:
            guard hasMoved else { return }
            guard let key = sent.ticket, allocations[key] != nil else { fatalError("a move without a ticket") }
            if key.worker != worker.number || allocations[key]?.username != username {
                fatalError("a move of another's")
            }
            worker.owners[flow] = key
            if let text = response.ticket { note(text, of: key) }
        default: break
        }
    }

    func checkPermission(_ peer: TransportAddress, _ key: AllocationKey, _ what: String) {
        guard let allocation = allocations[key], allocation.isOpen else { fatalError("\(what) without an allocation") }
        guard let expiry = allocation.permissions[peer.address], expiry > now else {
            fatalError("\(what) without permission")
        }
        if policy.forbids(peer, relays) { fatalError("\(what) although it is forbidden") }
    }

    func check(_ forward: ToPeer, of sent: Sent, on flow: Flow, at worker: Worker) {
        let key = AllocationKey(worker: worker.number, id: forward.relay.allocation)
        checkPermission(forward.destination, key, "sent to a peer")
        guard worker.owners[flow] == key, let allocation = allocations[key],
            allocation.relays[forward.relay.family] != nil, forward.destination.address.family == forward.relay.family
        else { fatalError("sent through another's relay, or a closed one") }
        if allocation.request.transport != .udp { fatalError("a datagram through a relay for connections") }
        if forward.payload.upperBound > sent.bytes.count { fatalError("more than the client sent") }
        if sent.bytes[0] & 0xC0 == 0x40, !allocation.channelPeers.contains(forward.destination) {
            fatalError("to a peer that no channel is bound to")
        }
    }

    /// A datagram or an ICMP error arrives at a relay, or at one that is gone.
    func fromPeer(_ input: inout FuzzInput) {
        let choice = input.byte()
        let peer = Self.local(of: peer(input.byte()))
        if choice & 1 != 0, let (worker, relay) = formerRelay {
            let number = workers[Int(worker)].engine.receiveFromPeer(on: relay, from: peer, byteCount: 100, at: now)
            let key = AllocationKey(worker: worker, id: relay.allocation)
            if number != nil, allocations[key] == nil { fatalError("through a relay that is gone") }
            return
        }
        let open = sortedRelays
        guard !open.isEmpty else { return }
        let (key, family, _) = open[Int(choice >> 2) % open.count]
        guard peer.address.family == family else { return }
        let worker = workers[Int(key.worker)]
        let relay = RelayID(key.id, family)
        if choice & 2 != 0 {
            var recorder = Recorder()
            let error = PeerError(type: input.byte(), code: input.byte(), mtu: 1280)
            worker.engine.receiveError(error, on: relay, from: peer, at: now, into: &recorder)
            if !recorder.responses.isEmpty { checkPermission(peer, key, "notified of an error") }
            settle(&recorder, at: worker)
        } else if let forward = worker.engine.receiveFromPeer(on: relay, from: peer, byteCount: 100, at: now) {
            checkPermission(peer, key, "received from a peer")
            // A mobile allocation whose connection is closed has no flow until its client is back.
            let isDetached = forward.flow.remote.port == 0
            if !isDetached, worker.owners[forward.flow] != key { fatalError("to another client") }
            if case .channel = forward.framing, allocations[key]?.channelPeers.contains(peer) != true {
                fatalError("from a peer that no channel is bound to")
            }
        }
    }

    /// Charges, allocations and ports are the same in number, whoever counts them.
    func checkCounts() {
        for worker in workers {
            let count = allocations.keys.count { $0.worker == worker.number }
            if worker.engine.allocationCount != count { fatalError("an allocation that only one side knows") }
            for flow in worker.engine.audit.flows where worker.owners[flow] == nil {
                fatalError("a flow with an allocation that it was not given")
            }
        }
        for (user, charge) in charges {
            let open = allocations.values.count { $0.isOpen && $0.request.user == user }
            if charge != open || charge > Self.quota { fatalError("a quota that is not exact") }
        }
    }

    // MARK: The operator

    func revoke(_ input: inout FuzzInput) {
        let choice = input.byte()
        let (name, matching): (RevokedName, [String]) =
            switch choice & 3 {
            case 0: (.user("u"), ["u"])
            case 1: (.user("w"), ["50000:w:c"])
            case 2: (.call("d"), ["50000:x:d"])
            default: (.user("50000:w:c"), ["50000:w:c"])
            }
        let isVoid = choice & 4 != 0
        for worker in workers {
            var recorder = Recorder()
            worker.engine.revoke(name, voidingUntil: isVoid ? 50_000 : 0, into: &recorder)
            settle(&recorder, at: worker)
        }
        // A whole name is no part of one: it ends allocations and voids nothing.
        if isVoid, choice & 3 == 1 || choice & 3 == 2 { void.formUnion(matching) }
        if allocations.values.contains(where: { $0.isOpen && matching.contains($0.username) }) {
            fatalError("an allocation that was revoked")
        }
        checkCounts()
    }

    func change(_ input: inout FuzzInput) {
        let choice = input.byte()
        switch choice & 7 {
        case 0, 1:
            let size = UInt64(choice >> 3)
            let limits = AllocationLimits(
                bytesPerSecond: size * 500, packetsPerSecond: size * 2, newPeersPerSecond: size & 3)
            for worker in workers { worker.engine.limits = limits }
        case 2: for worker in workers { worker.engine.setsDontFragment.toggle() }
        case 3:
            let key = [choice]
            for worker in workers { worker.engine.nonces.rotate(to: Digest(key.span.bytes)) }
        case 4:
            passwordGeneration &+= 1
            adopt()
        default:
            policy.variant = ModelPolicy.Variant(rawValue: (choice >> 3) % 3) ?? .plain
            adopt()
        }
    }

    private func adopt() {
        for worker in workers {
            var recorder = Recorder()
            worker.engine.adopt(credentials(), policy.policy(relays), into: &recorder)
            settle(&recorder, at: worker)
        }
        allocations = allocations.mapValues { allocation in
            var allocation = allocation
            allocation.permissions = allocation.permissions.filter { !policy.forbidsAll(of: $0.key, relays) }
            allocation.channelPeers = allocation.channelPeers.filter { !policy.forbids($0, relays) }
            return allocation
        }
    }
}
