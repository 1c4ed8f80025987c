import FuzzInput
import STUN
import TURN
import Wire

// What engines ask of their host.

extension TURNHarness {
    /// Does what the engine asks for, and stops at what it may not ask for. `sent` is the message that it comes of.
    func settle(_ recorder: inout Recorder, at worker: Worker, _ sent: Sent? = nil, on flow: Flow? = nil) {
        for response in recorder.responses {
            if let nonce = response.nonce { nonces[response.flow] = nonce }
        }
        for operation in recorder.operations {
            switch operation {
            case .open(let request): begin(request, at: worker, sent, on: flow)
            case .close(let relay): close(relay, at: worker)
            case .end(let id, let user): end(AllocationKey(worker: worker.number, id: id), user)
            case .connect(let id, let relay, let peer): connect(id, relay, peer, at: worker, sent, on: flow)
            case .bind(let id, let flow): bind(id, to: flow, sent)
            case .closePeer(let id):
                if connections.removeValue(forKey: id) == nil { fatalError("a connection closed twice") }
            case .keep(let flow, let claim):
                worker.ingresses.insert(flow)
                other(worker).commands.append(.keep(flow, claim))
            case .forget(let flow, let claim):
                worker.ingresses.remove(flow)
                other(worker).commands.append(.forget(flow, claim))
            case .evict(let flow, let claim):
                other(worker).commands.append(.evict(flow, claim))
            }
        }
        for response in recorder.responses {
            if let text = response.ticket, let key = worker.owners[response.flow], response.type.method == .allocate {
                note(text, of: key)
            }
        }
    }

    func note(_ ticket: [UInt8], of key: AllocationKey) {
        tickets.append((ticket, key))
        if tickets.count > 6 { tickets.removeFirst() }
    }

    // MARK: Allocations

    private func begin(_ request: RelayRequest, at worker: Worker, _ sent: Sent?, on flow: Flow?) {
        guard let sent, let flow, let username = sent.username, sent.isCurrent, sent.method == .allocate else {
            fatalError("an allocation without good credentials")
        }
        if void.contains(username), unixSeconds < 50_000 { fatalError("an allocation of a void name") }
        if request.user != (EphemeralName(username)?.user ?? username) { fatalError("another user is charged") }
        if request.transport == .tcp, !flow.transport.isStream { fatalError("a TCP allocation on a datagram flow") }
        let key = AllocationKey(worker: worker.number, id: request.allocation)
        if allocations[key] != nil { fatalError("one number for two allocations") }
        allocations[key] = ModelAllocation(request, username: username)
        worker.owners[flow] = key
        if isLate { opening.append(key) } else { open(key) }
    }

    func open(_ key: AllocationKey, isRefused: Bool = false) {
        guard let request = allocations[key]?.request else { fatalError("an allocation that went while it opened") }
        let worker = workers[Int(key.worker)]
        var recorder = Recorder()
        if !isRefused, charges[request.user, default: 0] < Self.quota, let opening = opening(for: request) {
            charges[request.user, default: 0] += 1
            allocations[key]?.isOpen = true
            for relay in [opening.relay, opening.additional] {
                guard let relay else { continue }
                allocations[key]?.relays[relay.local.address.family] = relay.local
                if !relays.insert(relay.local) { fatalError("a port twice") }
            }
            worker.engine.relayOpened(key.id, opening, at: now, into: &recorder)
        } else {
            let isOver = charges[request.user, default: 0] >= Self.quota
            drop(key)
            worker.engine.relayFailed(
                key.id, isOver ? .allocationQuotaReached : .insufficientCapacity, into: &recorder)
        }
        settle(&recorder, at: worker)
        checkCounts()
    }

    /// Ports by number; each sixteenth is another program's.
    private func opening(for request: RelayRequest) -> RelayOpening? {
        var port: UInt16
        var token: UInt64?
        switch request.port {
        case .reserved(let claimed):
            guard let held = reservations[claimed], held.claimant == request.claimant, held.expiry > now else {
                return nil
            }
            reservations[claimed] = nil
            port = held.port
        case .any, .even:
            nextPort &+= 2
            port = nextPort
            if port & 15 == 0 { return nil }
            if case .even(reserveNext: true) = request.port {
                lastToken &+= 1
                token = lastToken
                reservations[lastToken] = (port + 1, request.claimant, now.adding(seconds: 30))
            }
        }
        let isAlone = request.additional == nil || port & 6 == 6
        return RelayOpening(
            relay: Self.relay(request.family, port), additional: isAlone ? nil : Self.relay(.ipv6, port),
            additionalFailure: isAlone && request.additional != nil ? .insufficientCapacity : nil,
            reservationToken: token)
    }

    private static func relay(_ family: IPAddress.Family, _ port: UInt16) -> RelayOpening.Relay {
        RelayOpening.Relay(
            local: TransportAddress(family == .ipv4 ? server : server6, port: port),
            advertised: TransportAddress(family == .ipv4 ? external : server6, port: port))
    }

    private func close(_ relay: RelayID, at worker: Worker) {
        let key = AllocationKey(worker: worker.number, id: relay.allocation)
        guard let address = allocations[key]?.relays.removeValue(forKey: relay.family) else {
            fatalError("a relay closed twice")
        }
        if connections.values.contains(where: { $0.allocation == key && $0.peer.address.family == relay.family }) {
            fatalError("a connection without its relay")
        }
        relays.remove(address)
        formerRelay = (worker.number, relay)
    }

    private func end(_ key: AllocationKey, _ user: String) {
        guard let allocation = allocations[key], allocation.isOpen, allocation.request.user == user else {
            fatalError("the end of nothing, or of another's")
        }
        if !allocation.relays.isEmpty { fatalError("ports that stay") }
        if connections.values.contains(where: { $0.allocation == key }) { fatalError("connections that stay") }
        charges[user, default: 0] -= 1
        drop(key)
    }

    private func drop(_ key: AllocationKey) {
        allocations[key] = nil
        let worker = workers[Int(key.worker)]
        worker.owners = worker.owners.filter { $0.value != key }
    }

    /// Opens a pending relay, or makes later ones pending.
    func respondLater(_ input: inout FuzzInput) {
        let choice = input.byte()
        if choice & 1 == 0 { isLate.toggle() }
        guard !opening.isEmpty else { return }
        open(opening.remove(at: Int(choice >> 2) % opening.count), isRefused: choice & 2 != 0)
    }

    // MARK: Connections to peers

    private func connect(
        _ id: PeerConnectionID, _ relay: RelayID, _ peer: TransportAddress, at worker: Worker, _ sent: Sent?,
        on flow: Flow?
    ) {
        let key = AllocationKey(worker: worker.number, id: relay.allocation)
        guard let sent, let flow, sent.method == .connect, worker.owners[flow] == key,
            let allocation = allocations[key],
            allocation.isOpen, allocation.username == sent.username, allocation.request.transport == .tcp,
            let address = allocation.relays[relay.family], peer.address.family == relay.family
        else { fatalError("a connection that nobody may ask for") }
        if peer == address || policy.forbids(peer, relays) { fatalError("a connection to a peer that is forbidden") }
        add(id, key, peer, .connecting, at: worker)
    }

    private func add(
        _ id: PeerConnectionID, _ key: AllocationKey, _ peer: TransportAddress, _ stage: ModelConnection.Stage,
        at worker: Worker
    ) {
        if connections[id] != nil || id.worker != worker.number { fatalError("a number that is another's") }
        connections[id] = ModelConnection(
            allocation: key, peer: peer, stage: stage, until: now.adding(seconds: 30))
    }

    private func bind(_ id: PeerConnectionID, to flow: Flow, _ sent: Sent?) {
        guard let sent, sent.method == .connectionBind, let connection = connections[id],
            connection.stage == .unclaimed, connection.until > now, flow.transport.isStream,
            allocations[connection.allocation]?.username == sent.username
        else { fatalError("a connection for who may not have it") }
        connections[id]?.stage = .bound(flow)
    }

    func peerConnects(_ input: inout FuzzInput) {
        let choice = input.byte()
        let from = Self.local(of: peer(input.byte()))
        let known = connections.keys.sorted { $0.rawValue < $1.rawValue }
        if choice & 1 == 0 {
            let open = sortedRelays
            guard !open.isEmpty else { return }
            let (key, family, _) = open[Int(choice >> 1) % open.count]
            accept(from, key, family)
        } else if !known.isEmpty {
            let id = known[Int(choice >> 2) % known.count]
            if choice & 2 == 0 { peerConnected(id) } else { peerClosed(id) }
        }
        checkCounts()
    }

    private func accept(_ peer: TransportAddress, _ key: AllocationKey, _ family: IPAddress.Family) {
        let worker = workers[Int(key.worker)]
        guard let allocation = allocations[key], allocation.request.transport == .tcp, peer.address.family == family
        else { return }
        var recorder = Recorder()
        if let id = worker.engine.peerAccepted(on: RelayID(key.id, family), from: peer, at: now, into: &recorder) {
            checkPermission(peer, key, "accepted")
            add(id, key, peer, .unclaimed, at: worker)
        }
        settle(&recorder, at: worker)
    }

    private func peerConnected(_ id: PeerConnectionID) {
        guard let connection = connections[id] else { return }
        let worker = workers[Int(connection.allocation.worker)]
        var recorder = Recorder()
        worker.engine.peerConnected(id, at: now, into: &recorder)
        if connection.stage == .connecting {
            connections[id]?.stage = .unclaimed
            connections[id]?.until = now.adding(seconds: 30)
        } else if !recorder.responses.isEmpty {
            fatalError("a connection that is notified twice")
        }
        settle(&recorder, at: worker)
    }

    func peerClosed(_ id: PeerConnectionID) {
        guard let connection = connections.removeValue(forKey: id) else { return }
        let worker = workers[Int(connection.allocation.worker)]
        var recorder = Recorder()
        worker.engine.peerClosed(id, into: &recorder)
        if recorder.responses.isEmpty != (connection.stage != .connecting) { fatalError("447 without a Connect") }
        settle(&recorder, at: worker)
    }
}
