import BasicContainers
import STUN
import Wire

// Refresh: RFC 8656 section 8.

extension TURNEngine {
    mutating func refresh(
        _ message: borrowing Message, _ request: Request, _ held: UInt32?,
        into outbox: inout some RelayOutbox & ~Copyable
    ) {
        if endings.holds(message.transaction, of: request.credential.username, on: request.flow, at: request.now) {
            // A retransmission: the response was lost, and the allocation has ended already.
            sendRefreshResponse(message.transaction, lifetime: 0, request, into: &outbox)
            return
        }
        guard !message.has(.mobilityTicket) || tickets != nil else {
            reject(message, .mobilityForbidden, request, into: &outbox)
            return
        }
        guard
            let slot = openSlot(
                message, request, of: held, knowing: Self.refreshAttributes, into: &outbox)
        else { return }
        // Only a ticket can select an allocation that is not the flow's own.
        let isMove = flows[request.flow] != UInt32(truncatingIfNeeded: slot)
        if !isMove, let (transaction, lifetime) = allocations[slot].mobility?.lastMove,
            transaction == message.transaction
        {
            // A retransmission: the response to the move was lost.
            sendMoveResponse(message.transaction, lifetime: lifetime, request, slot, into: &outbox)
            return
        }
        guard isMove || !message.has(.mobilityTicket) else {
            // RFC 8016 section 3.2.2: a client that did not move sends no ticket.
            reject(message, .badRequest, request, into: &outbox)
            return
        }
        let family: IPAddress.Family?
        switch AllocateParameters.family(message, .requestedAddressFamily) {
        case .success(let read): family = read
        case .failure(let error):
            reject(message, error.code, request, into: &outbox)
            return
        }
        // RFC 8656 section 8.2: a family that the allocation does not have is 443.
        if let family, allocations[slot].relay(family) == nil {
            reject(message, .peerAddressFamilyMismatch, request, into: &outbox)
            return
        }
        guard !message.has(.lifetime) || message.integer32(.lifetime) != nil else {
            reject(message, .badRequest, request, into: &outbox)
            return
        }
        let requested = message.integer32(.lifetime)
        if isMove {
            // RFC 6062 section 4.1: an allocation for TCP has a connection.
            guard allocations[slot].transport == .udp || request.flow.transport.isStream else {
                reject(message, .badRequest, request, into: &outbox)
                return
            }
            // A Refresh with lifetime 0 needs no flow.
            guard requested == 0 || canMove(to: request.flow) else {
                reject(message, .allocationMismatch, request, into: &outbox)
                return
            }
        } else {
            confirmMove(to: request.flow, slot)
        }
        let lifetime =
            requested == 0
            ? 0 : granted(requested, until: request.credential.tokenExpiry ?? allocations[slot].end, request.now)
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
                // A new token replaces the old one.
                allocations[slot].tokenExpiry = tokenExpiry
                allocations[slot].end = tokenExpiry
                owners.remove(UInt32(truncatingIfNeeded: slot), allocations[slot].username, nil)
                owners.insert(UInt32(truncatingIfNeeded: slot), request.credential.username, nil)
                allocations[slot].username = request.credential.username
                allocations[slot].keys = request.credential.keys
            }
            if isMove {
                move(slot: slot, message.transaction, lifetime: lifetime, request, into: &outbox)
                sendMoveResponse(message.transaction, lifetime: lifetime, request, slot, into: &outbox)
                return
            }
        }
        sendRefreshResponse(message.transaction, lifetime: lifetime, request, into: &outbox)
    }

    private mutating func sendRefreshResponse(
        _ transaction: TransactionID, lifetime: UInt32, _ request: Request,
        into outbox: inout some RelayOutbox & ~Copyable
    ) {
        writer.begin(MessageType(.success, .refresh), transaction)
        writer.append(.lifetime, integer: lifetime)
        finish(request.signing, on: request.flow, into: &outbox)
    }

    /// Closes one relay of a dual allocation, or ends the allocation when that is its last relay or no family is named.
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
