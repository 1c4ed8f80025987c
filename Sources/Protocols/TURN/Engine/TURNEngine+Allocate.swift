import BasicContainers
package import STUN
package import Wire

// Allocate: RFC 8656 section 7.

extension TURNEngine {
    mutating func allocate(
        _ message: borrowing Message, _ request: Request, into outbox: inout some RelayOutbox & ~Copyable
    ) {
        if let slot = flows[request.flow] {
            handleRepeatedAllocate(Int(slot), message, request, into: &outbox)
            return
        }
        guard request.credential.name.map({ !revocations.isVoid($0) }) ?? true else {
            counters.allocationsRejected &+= 1
            reject(message, .forbidden, request, into: &outbox)
            return
        }
        let unknown = message.unknownRequired(knowing: known(Self.allocateAttributes))
        guard unknown.isEmpty else {
            reject(message, .unknownAttribute, unknown: unknown, request, into: &outbox)
            return
        }
        let parameters: AllocateParameters
        switch AllocateParameters.read(message, on: request.flow, allowsTCP: worker != nil) {
        case .success(var read):
            read.lifetime = granted(read.lifetime, until: request.credential.end, request.now)
            parameters = read
        case .failure(let error):
            reject(message, error.code, request, into: &outbox)
            return
        }
        guard !parameters.requestsTicket || tickets != nil else {
            reject(message, .mobilityForbidden, request, into: &outbox)
            return
        }
        // The gateway's ports accept TCP too, but no client needs a relay's TCP to reach them.
        guard request.credential.name?.scope != .gateway || parameters.transport == .udp else {
            reject(message, .forbidden, request, into: &outbox)
            return
        }
        guard let slot = takeSlot(message, parameters, request) else {
            counters.allocationsRejected &+= 1
            reject(message, .insufficientCapacity, request, into: &outbox)
            return
        }
        outbox.openRelay(
            RelayRequest(
                allocation: AllocationID(slot: slot, generation: allocations[Int(slot)].generation),
                transport: parameters.transport, user: request.credential.user, scope: request.credential.name?.scope,
                claimant: request.credential.claimant,
                local: request.flow.local, family: parameters.family, additional: parameters.additional,
                port: parameters.port))
    }

    /// An Allocate on a flow that has an allocation: repeats the first response to a retransmission, else 437.
    private mutating func handleRepeatedAllocate(
        _ slot: Int, _ message: borrowing Message, _ request: Request, into outbox: inout some RelayOutbox & ~Copyable
    ) {
        switch allocations[slot].stage {
        case .opening where allocations[slot].transaction == message.transaction:
            // The response to the first is pending.
            return
        case .open
        where allocations[slot].transaction == message.transaction
            && allocations[slot].username == request.credential.username:
            sendAllocateResponse(slot, request.signing, into: &outbox)
        default:
            reject(message, .allocationMismatch, request, into: &outbox)
        }
    }

    private mutating func takeSlot(
        _ message: borrowing Message, _ parameters: AllocateParameters, _ request: Request
    ) -> UInt32? {
        var allocation = Allocation(request, message.transaction, parameters, limits)
        if let free = freeSlots.popLast() {
            allocation.generation = allocations[Int(free)].generation
            allocations[Int(free)] = allocation
            occupied += 1
            flows[request.flow] = free
            owners.insert(free, allocation.username, allocation.name)
            return free
        }
        guard let slot = UInt32(exactly: allocations.count) else { return nil }
        allocations.append(allocation)
        occupied += 1
        flows[request.flow] = slot
        owners.insert(slot, allocation.username, allocation.name)
        return slot
    }

    /// The host opened the relay that `openRelay` asked for.
    ///
    /// - Parameter supply: the bandwidth that the allocations of its user share; nil when it is unlimited.
    package mutating func relayOpened(
        _ id: AllocationID, _ opening: RelayOpening, supply: (any ByteSupply)? = nil, at now: Instant,
        into outbox: inout some RelayOutbox & ~Copyable
    ) {
        guard let slot = openingSlot(id), case .opening(let parameters, let signing) = allocations[slot].stage else {
            return
        }
        allocations[slot].stage = .open
        allocations[slot].userBudget.supply = supply
        allocations[slot].grantedLifetime = parameters.lifetime
        allocations[slot].expiry = now.adding(seconds: parameters.lifetime)
        allocations[slot].reservationToken = opening.reservationToken
        allocations[slot].additionalFailure = opening.additionalFailure
        for relay in [opening.relay, opening.additional] {
            guard let relay else { continue }
            switch relay.local.address.family {
            case .ipv4: allocations[slot].ipv4 = relay
            case .ipv6: allocations[slot].ipv6 = relay
            }
        }
        counters.allocationsMade &+= 1
        guard !allocations[slot].isAbandoned else {
            counters.closed &+= 1
            end(slot: slot, into: &outbox)
            return
        }
        sendAllocateResponse(slot, signing, into: &outbox)
    }

    /// The host could not open the relay: 486 for the user's quota, 508 for ports, 440 for the family.
    package mutating func relayFailed(
        _ id: AllocationID, _ error: ErrorCode, into outbox: inout some RelayOutbox & ~Copyable
    ) {
        guard let slot = openingSlot(id), case .opening(let parameters, let signing) = allocations[slot].stage else {
            return
        }
        counters.allocationsRejected &+= 1
        let transaction = allocations[slot].transaction
        let flow = allocations[slot].flow
        let isAbandoned = allocations[slot].isAbandoned
        freeSlot(slot)
        if isAbandoned { return }
        guard error == .insufficientCapacity, !parameters.port.isReserved, let alternate = alternate(for: flow) else {
            reject(.allocate, transaction, error, signing, on: flow, into: &outbox)
            return
        }
        counters.redirected &+= 1
        reject(.allocate, transaction, .tryAlternate, alternate: alternate, signing, on: flow, into: &outbox)
    }

    /// The alternate server of the client's own family (RFC 8489 section 14.15).
    private func alternate(for flow: Flow) -> TransportAddress? {
        alternates.first { $0.address.family == flow.remote.address.family }
    }

    private mutating func sendAllocateResponse(
        _ slot: Int, _ signing: ResponseSigning, into outbox: inout some RelayOutbox & ~Copyable
    ) {
        writer.begin(MessageType(.success, .allocate), allocations[slot].transaction)
        // With two families, IPv4 comes first (RFC 8656 section 7.2).
        if let relay = allocations[slot].ipv4 { writer.append(.xorRelayedAddress, xor: relay.advertised) }
        if let relay = allocations[slot].ipv6 { writer.append(.xorRelayedAddress, xor: relay.advertised) }
        if let error = allocations[slot].additionalFailure {
            writer.append(error: error, of: .ipv6)
        }
        writer.append(.lifetime, integer: allocations[slot].grantedLifetime)
        if let ticket = ticket(of: slot) { writer.append(.mobilityTicket, bytes: ticket) }
        if let token = allocations[slot].reservationToken { writer.append(.reservationToken, integer: token) }
        writer.append(.xorMappedAddress, xor: allocations[slot].flow.remote)
        finish(signing, on: allocations[slot].flow, into: &outbox)
    }

    /// A lifetime between the default, which is also the minimum, and the maximum, but not beyond the expiry of the
    /// access token (RFC 7635 section 9) or of the credential's scope.
    func granted(_ requested: UInt32?, until end: Int64?, _ now: Instant) -> UInt32 {
        let lifetime = AllocateParameters.granted(requested)
        guard let end else { return lifetime }
        return min(lifetime, UInt32(clamping: max(1, end - unixSeconds(at: now))))
    }
}

extension TURNEngine {
    /// The slot of the request's allocation, after the checks that every request but Allocate begins with. nil when an
    /// error response was sent.
    mutating func openSlot(
        _ message: borrowing Message, _ request: Request, of held: UInt32?, knowing known: Set<AttributeType>,
        into outbox: inout some RelayOutbox & ~Copyable
    ) -> Int? {
        guard let slot = held.map({ Int($0) }), allocations[slot].isOpen,
            allocations[slot].expiry > request.now
        else {
            reject(message, .allocationMismatch, request, into: &outbox)
            return nil
        }
        guard isOwner(request.credential, of: slot) else {
            reject(message, .wrongCredentials, request, into: &outbox)
            return nil
        }
        let unknown = message.unknownRequired(knowing: known)
        guard unknown.isEmpty else {
            reject(message, .unknownAttribute, unknown: unknown, request, into: &outbox)
            return nil
        }
        return slot
    }

    /// The user who made it; for access tokens any valid one, since they name no user.
    func isOwner(_ credential: Credential, of slot: Int) -> Bool {
        allocations[slot].username == credential.username
            || allocations[slot].tokenExpiry != nil && credential.tokenExpiry != nil
    }

    /// Ends an open allocation: releases its relays, its quota and its slot.
    mutating func end(slot: Int, into outbox: inout some RelayOutbox & ~Copyable) {
        closeConnections(of: slot, into: &outbox)
        let id = AllocationID(slot: UInt32(truncatingIfNeeded: slot), generation: allocations[slot].generation)
        if allocations[slot].ipv4 != nil { outbox.closeRelay(RelayID(id, .ipv4)) }
        if allocations[slot].ipv6 != nil { outbox.closeRelay(RelayID(id, .ipv6)) }
        outbox.endAllocation(id, user: allocations[slot].user)
        freeSlot(slot)
    }

    private mutating func freeSlot(_ slot: Int) {
        unmap(allocations[slot].flow, of: slot)
        owners.remove(UInt32(truncatingIfNeeded: slot), allocations[slot].username, allocations[slot].name)
        allocations[slot].name = nil
        allocations[slot].userBudget.supply = nil
        if let pending = allocations[slot].mobility?.pending { unmap(pending, of: slot) }
        allocations[slot].isMoving = false
        allocations[slot].mobility = nil
        allocations[slot].stage = .free
        occupied -= 1
        allocations[slot].isAbandoned = false
        allocations[slot].generation &+= 1
        allocations[slot].ipv4 = nil
        allocations[slot].ipv6 = nil
        allocations[slot].reservationToken = nil
        allocations[slot].username = ""
        allocations[slot].user = ""
        allocations[slot].permissions = []
        allocations[slot].channels = []
        freeSlots.append(UInt32(truncatingIfNeeded: slot))
    }

    private func openingSlot(_ id: AllocationID) -> Int? {
        let slot = Int(id.slot)
        guard slot < allocations.count, allocations[slot].generation == id.generation,
            case .opening = allocations[slot].stage
        else { return nil }
        return slot
    }
}
