import STUN
package import Wire

/// Two addresses and two ports, whose four combinations all respond to Binding requests, so that a client can find out
/// how its NAT maps and filters (RFC 5780). Only over UDP.
package struct NATDiscovery: Hashable, Sendable {
    private let addresses: [IPAddress]
    private let ports: [UInt16]

    /// nil when addresses or ports are equal, or the addresses are of different families.
    package init?(_ first: IPAddress, _ second: IPAddress, port: UInt16, otherPort: UInt16) {
        guard first != second, first.family == second.family, port != otherPort else { return nil }
        addresses = [first, second]
        ports = [port, otherPort]
    }

    func contains(_ local: TransportAddress) -> Bool {
        addresses.contains(local.address) && ports.contains(local.port)
    }

    /// The address of the four that differs from `local` as requested.
    func origin(from local: TransportAddress, _ change: Change) -> TransportAddress {
        TransportAddress(
            change.address ? addresses.first { $0 != local.address } ?? local.address : local.address,
            port: change.port ? ports.first { $0 != local.port } ?? local.port : local.port)
    }

    /// CHANGE-REQUEST: where the response is sent from (section 7.2).
    struct Change {
        var address = false
        var port = false

        static let both = Change(address: true, port: true)
    }

    /// The parameters of a Binding request for NAT discovery.
    struct BindingParameters {
        var change = Change()
        /// RESPONSE-PORT (section 7.5). The client can choose only the port: the response goes to the request's source
        /// address.
        var responsePort: UInt16?
        /// PADDING of the response (section 7.6): as long as the request's and at most a datagram of 1500 bytes, so
        /// that no response is larger than its request.
        var padding = 0

        static let maximumPadding = 1500
        static let attributes: Set<AttributeType> = [.changeRequest, .padding, .responsePort]

        /// nil when the request is invalid: a wrong size, or PADDING and RESPONSE-PORT together (section 6.1).
        init?(_ message: borrowing Message) {
            if let value = message.attribute(.changeRequest) {
                guard value.byteCount == 4, let flags = value.byte(at: 3) else { return nil }
                change = Change(address: flags & 4 != 0, port: flags & 2 != 0)
            }
            if let value = message.attribute(.responsePort) {
                // A port and two bytes that some clients count as value and some as padding.
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
    /// Sends a Binding response with RESPONSE-ORIGIN and OTHER-ADDRESS, from and to the requested addresses.
    mutating func handleDiscovery(
        _ message: borrowing Message, _ discovery: NATDiscovery, on flow: Flow,
        into outbox: inout some RelayOutbox & ~Copyable
    ) {
        guard let parameters = NATDiscovery.BindingParameters(message) else {
            counters.challenges &+= 1
            writer.begin(MessageType(.failure, .binding), message.transaction)
            writer.append(bareError: .badRequest)
            finish(ResponseSigning(hasFingerprint: message.hasFingerprint), on: flow, into: &outbox)
            return
        }
        counters.bindings &+= 1
        let origin = discovery.origin(from: flow.local, parameters.change)
        let destination = TransportAddress(flow.remote.address, port: parameters.responsePort ?? flow.remote.port)
        writer.begin(MessageType(.success, .binding), message.transaction)
        writer.append(.xorMappedAddress, xor: flow.remote)
        writer.append(.responseOrigin, address: policy.advertised(origin))
        writer.append(.otherAddress, address: policy.advertised(discovery.origin(from: flow.local, .both)))
        if parameters.padding > 0 {
            writer.append(.padding, bytes: [UInt8](repeating: 0, count: parameters.padding))
        }
        finish(
            ResponseSigning(hasFingerprint: message.hasFingerprint), on: Flow(.udp, local: origin, remote: destination),
            into: &outbox)
    }

    /// The discovery that includes this flow's local address.
    func discovery(on flow: Flow) -> NATDiscovery? {
        flow.transport == .udp ? discoveries.first { $0.contains(flow.local) } : nil
    }
}
