import STUN
package import Wire

/// Two addresses and two ports, all four of which answer Binding requests, so that a client can find out how the NAT
/// before it maps and filters (RFC 5780). Only over UDP.
package struct NATDiscovery: Hashable, Sendable {
    private let addresses: [IPAddress]
    private let ports: [UInt16]

    /// nil when addresses or ports are the same, or the addresses of two families.
    package init?(_ first: IPAddress, _ second: IPAddress, port: UInt16, otherPort: UInt16) {
        guard first != second, first.family == second.family, port != otherPort else { return nil }
        addresses = [first, second]
        ports = [port, otherPort]
    }

    func contains(_ local: TransportAddress) -> Bool {
        addresses.contains(local.address) && ports.contains(local.port)
    }

    /// The one of the four that differs from `local` in what is asked for.
    func origin(from local: TransportAddress, _ change: Change) -> TransportAddress {
        TransportAddress(
            change.address ? addresses.first { $0 != local.address } ?? local.address : local.address,
            port: change.port ? ports.first { $0 != local.port } ?? local.port : local.port)
    }

    /// CHANGE-REQUEST: from where the answer is wanted (section 7.2).
    struct Change {
        var address = false
        var port = false

        static let both = Change(address: true, port: true)
    }

    /// What a Binding request asks for beyond its answer.
    struct Wishes {
        var change = Change()
        /// RESPONSE-PORT (section 7.5). Only the port is the client's to choose: the answer goes to where the request came
        /// from.
        var responsePort: UInt16?
        /// PADDING of the answer (section 7.6): as long as the request's and at most a datagram of 1500 bytes, so that no
        /// answer is larger than its request.
        var padding = 0

        static let maximumPadding = 1500
        static let attributes: Set<AttributeType> = [.changeRequest, .padding, .responsePort]

        /// nil when the request makes no sense: a wrong size, or PADDING and RESPONSE-PORT together (section 6.1).
        init?(_ message: borrowing Message) {
            if let value = message.attribute(.changeRequest) {
                guard value.byteCount == 4, let flags = value.byte(at: 3) else { return nil }
                change = Change(address: flags & 4 != 0, port: flags & 2 != 0)
            }
            if let value = message.attribute(.responsePort) {
                // A port and two bytes that some count as value and some as padding.
                guard value.byteCount == 4 || value.byteCount == 2, let port = value.integer(at: 0, as: UInt16.self),
                    port > 0, !message.has(.padding)
                else { return nil }
                responsePort = port
            }
            if let value = message.attribute(.padding) {
                padding = min(value.byteCount, Self.maximumPadding)
            }
        }
    }
}

extension TURNEngine {
    /// The Binding request's answer with RESPONSE-ORIGIN and OTHER-ADDRESS, from and to where it is wanted.
    mutating func answerDiscovery(
        _ message: borrowing Message, _ discovery: NATDiscovery, on flow: Flow,
        into outbox: inout some RelayOutbox & ~Copyable
    ) {
        guard let wishes = NATDiscovery.Wishes(message) else {
            tally.challenges &+= 1
            writer.begin(MessageType(.failure, .binding), message.transaction)
            writer.append(bareError: .badRequest)
            finish(AnswerShape(hasFingerprint: message.hasFingerprint), on: flow, into: &outbox)
            return
        }
        tally.bindings &+= 1
        let origin = discovery.origin(from: flow.local, wishes.change)
        let destination = TransportAddress(flow.remote.address, port: wishes.responsePort ?? flow.remote.port)
        writer.begin(MessageType(.success, .binding), message.transaction)
        writer.append(.xorMappedAddress, xor: flow.remote)
        writer.append(.responseOrigin, address: policy.told(origin))
        writer.append(.otherAddress, address: policy.told(discovery.origin(from: flow.local, .both)))
        if wishes.padding > 0 {
            writer.append(.padding, bytes: [UInt8](repeating: 0, count: wishes.padding))
        }
        finish(
            AnswerShape(hasFingerprint: message.hasFingerprint), on: Flow(.udp, local: origin, remote: destination),
            into: &outbox)
    }

    /// The discovery that this flow's local address belongs to.
    func discovery(on flow: Flow) -> NATDiscovery? {
        flow.transport == .udp ? discoveries.first { $0.contains(flow.local) } : nil
    }
}
