import BasicContainers
import STUN
import Wire

// ChannelBind: RFC 8656 section 12.

extension TURNEngine {
    mutating func bindChannel(
        _ message: borrowing Message, _ request: Request, into outbox: inout some RelayOutbox & ~Copyable
    ) {
        guard
            let slot = openSlot(
                message, request, of: flows[request.flow], knowing: Self.channelAttributes, into: &outbox)
        else { return }
        // Channels carry datagrams.
        guard allocations[slot].transport == .udp, let value = message.attribute(.channelNumber), value.byteCount == 4,
            let number = value.integer(at: 0, as: UInt16.self), Channel.numbers.contains(number),
            let address = message.xorAddress(.xorPeerAddress)
        else {
            reject(message, .badRequest, request, into: &outbox)
            return
        }
        let peer: AuthorizedPeer
        switch authorize(address, slot: slot) {
        case .success(let authorized): peer = authorized
        case .failure(let error):
            reject(message, error.code, request, into: &outbox)
            return
        }
        if let error = bind(number, to: peer, slot: slot, at: request.now) {
            reject(message, error, request, into: &outbox)
            return
        }
        confirmMove(to: request.flow, slot)
        writer.begin(MessageType(.success, .channelBind), message.transaction)
        finish(request.signing, on: request.flow, into: &outbox)
    }

    /// Binds or refreshes; an error when the number or the peer is bound differently.
    private mutating func bind(
        _ number: UInt16, to peer: AuthorizedPeer, slot: Int, at now: Instant
    ) -> ErrorCode? {
        allocations[slot].channels.removeAll { $0.expiry <= now }
        for channel in allocations[slot].channels
        where (channel.number == number) != (channel.peer == peer.destination) {
            return .badRequest
        }
        let isNew = !allocations[slot].channels.contains { $0.number == number }
        guard !isNew || allocations[slot].channels.count < Self.maximumChannels, admit([peer], slot: slot, at: now)
        else { return .insufficientCapacity }
        let expiry = now.adding(seconds: Channel.lifetime)
        if let index = allocations[slot].channels.firstIndex(where: { $0.number == number }) {
            allocations[slot].channels[index].expiry = expiry
        } else {
            allocations[slot].channels.append(
                Channel(
                    peer: peer.destination, number: number, isOwn: peer.isOwn, expiry: expiry, permissionExpiry: now))
        }
        permit(peer, slot: slot, at: now)
        return nil
    }
}
