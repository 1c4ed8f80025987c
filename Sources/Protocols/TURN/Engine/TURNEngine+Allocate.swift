import BasicContainers
package import STUN
package import Wire

// Allocate and Refresh: RFC 8656 sections 7 and 8.

extension TURNEngine {
    mutating func allocate(
        _ message: borrowing Message, _ request: Request, into outbox: inout some RelayOutbox & ~Copyable
    ) {
        if let slot = flows[request.flow] {
            answerAgain(Int(slot), message, request, into: &outbox)
            return
        }
        guard request.credential.name.map({ !revocations.isVoid($0) }) ?? true else {
            tally.allocationsRefused &+= 1
            refuse(message, .forbidden, request, into: &outbox)
            return
        }
        let unknown = message.unknownRequired(knowing: known(Self.allocateAttributes))
        guard unknown.isEmpty else {
            refuse(message, .unknownAttribute, unknown: unknown, request, into: &outbox)
            return
        }
        let wishes: AllocationWishes
        switch AllocationWishes.read(message, on: request.flow, allowsTCP: worker != nil) {
        case .success(var read):
            read.lifetime = granted(read.lifetime, until: request.credential.end, request.now)
            wishes = read
        case .failure(let refusal):
            refuse(message, refusal.error, request, into: &outbox)
            return
        }
        guard !wishes.wantsTicket || tickets != nil else {
            refuse(message, .mobilityForbidden, request, into: &outbox)
            return
        }
        // The gateway's ports take connections too, but nobody needs a relay's to get there.
        guard request.credential.name?.scope != .gateway || wishes.transport == .udp else {
            refuse(message, .forbidden, request, into: &outbox)
            return
        }
        guard let slot = takeSlot(message, wishes, request) else {
            tally.allocationsRefused &+= 1
            refuse(message, .insufficientCapacity, request, into: &outbox)
            return
        }
        outbox.openRelay(
            RelayRequest(
                allocation: AllocationID(slot: slot, generation: allocations[Int(slot)].generation),
                transport: wishes.transport, user: request.credential.user, scope: request.credential.name?.scope,
                claimant: request.credential.claimant,
                local: request.flow.local, family: wishes.family, additional: wishes.additional, port: wishes.port))
    }

    /// An Allocate on a flow that has an allocation: the first answer again for a retransmission, else 437.
    private mutating func answerAgain(
        _ slot: Int, _ message: borrowing Message, _ request: Request, into outbox: inout some RelayOutbox & ~Copyable
    ) {
        switch allocations[slot].stage {
        case .opening where allocations[slot].transaction == message.transaction:
            // The answer to the first is on its way.
            return
        case .open
        where allocations[slot].transaction == message.transaction
            && allocations[slot].username == request.credential.username:
            writeAllocated(slot, request.shape, into: &outbox)
        default:
            refuse(message, .allocationMismatch, request, into: &outbox)
        }
    }

    private mutating func takeSlot(
        _ message: borrowing Message, _ wishes: AllocationWishes, _ request: Request
    ) -> UInt32? {
        var allocation = Allocation(request, message.transaction, wishes, limits)
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

    /// The host's answer to `openRelay`.
    ///
    /// - Parameter supply: what the allocations of its user may carry together; nil where nothing bounds that.
    package mutating func relayOpened(
        _ id: AllocationID, _ opening: RelayOpening, supply: (any ByteSupply)? = nil, at now: Instant,
        into outbox: inout some RelayOutbox & ~Copyable
    ) {
        guard let slot = openingSlot(id), case .opening(let wishes, let answer) = allocations[slot].stage else {
            return
        }
        allocations[slot].stage = .open
        allocations[slot].ofUser.supply = supply
        allocations[slot].grantedLifetime = wishes.lifetime
        allocations[slot].expiry = now.adding(seconds: wishes.lifetime)
        allocations[slot].reservationToken = opening.reservationToken
        allocations[slot].additionalFailure = opening.additionalFailure
        for relay in [opening.relay, opening.additional] {
            guard let relay else { continue }
            switch relay.local.address.family {
            case .ipv4: allocations[slot].ipv4 = relay
            case .ipv6: allocations[slot].ipv6 = relay
            }
        }
        tally.allocationsMade &+= 1
        guard !allocations[slot].isAbandoned else {
            tally.closed &+= 1
            end(slot: slot, into: &outbox)
            return
        }
        writeAllocated(slot, answer, into: &outbox)
    }

    /// The host could not open the relay: 486 for the user's quota, 508 for ports, 440 for the family.
    package mutating func relayRefused(
        _ id: AllocationID, _ error: ErrorCode, into outbox: inout some RelayOutbox & ~Copyable
    ) {
        guard let slot = openingSlot(id), case .opening(let wishes, let answer) = allocations[slot].stage else {
            return
        }
        tally.allocationsRefused &+= 1
        let transaction = allocations[slot].transaction
        let flow = allocations[slot].flow
        let isAbandoned = allocations[slot].isAbandoned
        freeSlot(slot)
        if isAbandoned { return }
        guard error == .insufficientCapacity, !wishes.port.isReserved, let alternate = alternate(for: flow) else {
            refuse(.allocate, transaction, error, answer, on: flow, into: &outbox)
            return
        }
        tally.redirected &+= 1
        refuse(.allocate, transaction, .tryAlternate, alternate: alternate, answer, on: flow, into: &outbox)
    }

    /// The alternate server of the client's own family (RFC 8489 section 14.15).
    private func alternate(for flow: Flow) -> TransportAddress? {
        alternates.first { $0.address.family == flow.remote.address.family }
    }

    private mutating func writeAllocated(
        _ slot: Int, _ shape: AnswerShape, into outbox: inout some RelayOutbox & ~Copyable
    ) {
        writer.begin(MessageType(.success, .allocate), allocations[slot].transaction)
        // The family that was asked for first comes first; with two, IPv4 does (RFC 8656 section 7.2).
        if let relay = allocations[slot].ipv4 { writer.append(.xorRelayedAddress, xor: relay.told) }
        if let relay = allocations[slot].ipv6 { writer.append(.xorRelayedAddress, xor: relay.told) }
        if let error = allocations[slot].additionalFailure {
            writer.append(error: error, of: .ipv6)
        }
        writer.append(.lifetime, integer: allocations[slot].grantedLifetime)
        if let ticket = ticket(of: slot) { writer.append(.mobilityTicket, bytes: ticket) }
        if let token = allocations[slot].reservationToken { writer.append(.reservationToken, integer: token) }
        writer.append(.xorMappedAddress, xor: allocations[slot].flow.remote)
        finish(shape, on: allocations[slot].flow, into: &outbox)
    }

    mutating func refresh(
        _ message: borrowing Message, _ request: Request, _ held: UInt32?,
        into outbox: inout some RelayOutbox & ~Copyable
    ) {
        if endings.holds(message.transaction, of: request.credential.username, on: request.flow, at: request.now) {
            // The answer to the first was lost; nothing is left to refresh.
            writeRefreshed(message.transaction, lifetime: 0, request, into: &outbox)
            return
        }
        guard !message.has(.mobilityTicket) || tickets != nil else {
            refuse(message, .mobilityForbidden, request, into: &outbox)
            return
        }
        guard
            let slot = openSlot(
                message, request, of: held, knowing: Self.refreshAttributes, into: &outbox)
        else { return }
        // Only a ticket leads to an allocation that is not the flow's own.
        let isMove = flows[request.flow] != UInt32(truncatingIfNeeded: slot)
        if !isMove, let (transaction, lifetime) = allocations[slot].mobility?.lastMove,
            transaction == message.transaction
        {
            // The answer to the move was lost.
            answerMove(message.transaction, lifetime: lifetime, request, slot, into: &outbox)
            return
        }
        guard isMove || !message.has(.mobilityTicket) else {
            // RFC 8016 section 3.2.2: a client that did not move sends no ticket.
            refuse(message, .badRequest, request, into: &outbox)
            return
        }
        let family: IPAddress.Family?
        switch AllocationWishes.family(message, .requestedAddressFamily) {
        case .success(let read): family = read
        case .failure(let refusal):
            refuse(message, refusal.error, request, into: &outbox)
            return
        }
        // RFC 8656 section 8.2: a family that the allocation does not have is 443.
        if let family, allocations[slot].relay(family) == nil {
            refuse(message, .peerAddressFamilyMismatch, request, into: &outbox)
            return
        }
        guard !message.has(.lifetime) || message.integer32(.lifetime) != nil else {
            refuse(message, .badRequest, request, into: &outbox)
            return
        }
        let wished = message.integer32(.lifetime)
        if isMove {
            // RFC 6062 section 4.1: an allocation for TCP has a connection.
            guard allocations[slot].transport == .udp || request.flow.transport.isStream else {
                refuse(message, .badRequest, request, into: &outbox)
                return
            }
            // A Refresh of 0 takes no flow.
            guard wished == 0 || mayTake(request.flow) else {
                refuse(message, .allocationMismatch, request, into: &outbox)
                return
            }
        } else {
            hear(request.flow, slot)
        }
        let lifetime =
            wished == 0
            ? 0 : granted(wished, until: request.credential.tokenExpiry ?? allocations[slot].end, request.now)
        if lifetime == 0 {
            endings.remember(
                EndedAllocations.Ending(
                    transaction: message.transaction, username: request.credential.username,
                    keys: request.credential.keys, at: request.now),
                on: request.flow)
            close(slot: slot, family: family, into: &outbox)
        } else {
            allocations[slot].expiry = request.now.adding(seconds: lifetime)
            if let tokenExpiry = request.credential.tokenExpiry {
                // A new token takes the place of the old one.
                allocations[slot].tokenExpiry = tokenExpiry
                allocations[slot].end = tokenExpiry
                owners.remove(UInt32(truncatingIfNeeded: slot), allocations[slot].username, nil)
                owners.insert(UInt32(truncatingIfNeeded: slot), request.credential.username, nil)
                allocations[slot].username = request.credential.username
                allocations[slot].keys = request.credential.keys
            }
            if isMove {
                move(slot: slot, message.transaction, lifetime: lifetime, request, into: &outbox)
                answerMove(message.transaction, lifetime: lifetime, request, slot, into: &outbox)
                return
            }
        }
        writeRefreshed(message.transaction, lifetime: lifetime, request, into: &outbox)
    }

    /// A lifetime between the default, which is also the shortest, and the longest, but not beyond the end of the token that
    /// pays for it (RFC 7635 section 9) or of the credential's scope.
    private func granted(_ wished: UInt32?, until end: Int64?, _ now: Instant) -> UInt32 {
        let lifetime = AllocationWishes.granted(wished)
        guard let end else { return lifetime }
        return min(lifetime, UInt32(clamping: max(1, end - unixSeconds(at: now))))
    }

    private mutating func writeRefreshed(
        _ transaction: TransactionID, lifetime: UInt32, _ request: Request,
        into outbox: inout some RelayOutbox & ~Copyable
    ) {
        writer.begin(MessageType(.success, .refresh), transaction)
        writer.append(.lifetime, integer: lifetime)
        finish(request.shape, on: request.flow, into: &outbox)
    }

    /// Closes one relay of a dual allocation, or all of it when that is the last or none is named.
    private mutating func close(
        slot: Int, family: IPAddress.Family?, into outbox: inout some RelayOutbox & ~Copyable
    ) {
        guard let family, allocations[slot].ipv4 != nil, allocations[slot].ipv6 != nil else {
            end(slot: slot, into: &outbox)
            return
        }
        switch family {
        case .ipv4: allocations[slot].ipv4 = nil
        case .ipv6: allocations[slot].ipv6 = nil
        }
        allocations[slot].permissions.removeAll { $0.peer.family == family }
        allocations[slot].channels.removeAll { $0.peer.address.family == family }
        closeConnections(of: slot, family, into: &outbox)
        let id = AllocationID(slot: UInt32(truncatingIfNeeded: slot), generation: allocations[slot].generation)
        outbox.closeRelay(RelayID(id, family))
    }
}

extension TURNEngine {
    /// The slot of the request's allocation, after the checks that every request but Allocate begins with. nil when it was
    /// refused.
    mutating func openSlot(
        _ message: borrowing Message, _ request: Request, of held: UInt32?, knowing known: Set<AttributeType>,
        into outbox: inout some RelayOutbox & ~Copyable
    ) -> Int? {
        guard let slot = held.map({ Int($0) }), allocations[slot].isOpen,
            allocations[slot].expiry > request.now
        else {
            refuse(message, .allocationMismatch, request, into: &outbox)
            return nil
        }
        guard isOwner(request.credential, of: slot) else {
            refuse(message, .wrongCredentials, request, into: &outbox)
            return nil
        }
        let unknown = message.unknownRequired(knowing: known)
        guard unknown.isEmpty else {
            refuse(message, .unknownAttribute, unknown: unknown, request, into: &outbox)
            return nil
        }
        return slot
    }

    /// The user who made it; of tokens any that is good, since they name no user.
    func isOwner(_ credential: Credential, of slot: Int) -> Bool {
        allocations[slot].username == credential.username
            || allocations[slot].tokenExpiry != nil && credential.tokenExpiry != nil
    }

    /// Gives an open allocation back: its relays, its charge and its slot.
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
        allocations[slot].ofUser.supply = nil
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
