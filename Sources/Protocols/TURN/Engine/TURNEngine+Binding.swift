import BasicContainers
import STUN
import Wire

// Responses: those that keep no state, and what all others have in common.

extension TURNEngine {
    /// Comprehension-required attributes of each request.
    private static let authenticationAttributes: Set<AttributeType> = [
        .username, .userHash, .messageIntegrity, .messageIntegritySHA256, .realm, .nonce, .passwordAlgorithm,
        .accessToken,
    ]
    private static let discoveryAttributes = authenticationAttributes.union(NATDiscovery.BindingParameters.attributes)
    static let allocateAttributes = authenticationAttributes.union([
        .requestedTransport, .requestedAddressFamily, .lifetime, .evenPort, .reservationToken, .dontFragment,
    ])
    static let refreshAttributes = authenticationAttributes.union([.lifetime, .requestedAddressFamily])
    static let permissionAttributes = authenticationAttributes.union([.xorPeerAddress])
    static let channelAttributes = authenticationAttributes.union([.xorPeerAddress, .channelNumber])
    static let connectionAttributes = authenticationAttributes.union([.connectionID])
    static let sendAttributes: Set<AttributeType> = [.xorPeerAddress, .data, .dontFragment]

    /// The same without those that this host does not support.
    func known(_ attributes: Set<AttributeType>) -> Set<AttributeType> {
        setsDontFragment ? attributes : attributes.subtracting([.dontFragment])
    }

    /// Responds with the client's own address, without authentication (RFC 8489 section 6.3.1). As short as possible:
    /// SOFTWARE and the like would only increase amplification.
    mutating func handleBinding(
        _ message: borrowing Message, on flow: Flow, at now: Instant, into outbox: inout some RelayOutbox & ~Copyable
    ) {
        guard mayRespond(to: flow, at: now) else {
            counters.limited &+= 1
            return
        }
        let discovery = discovery(on: flow)
        let unknown = message.unknownRequired(
            knowing: discovery == nil ? Self.authenticationAttributes : Self.discoveryAttributes)
        guard unknown.isEmpty else {
            counters.challenges &+= 1
            writer.begin(MessageType(.failure, .binding), message.transaction)
            writer.append(bareError: .unknownAttribute)
            writer.append(unknown: unknown)
            finish(ResponseSigning(hasFingerprint: message.hasFingerprint), on: flow, into: &outbox)
            return
        }
        if let discovery {
            handleDiscovery(message, discovery, on: flow, into: &outbox)
            return
        }
        counters.bindings &+= 1
        writer.begin(MessageType(.success, .binding), message.transaction)
        writer.append(.xorMappedAddress, xor: flow.remote)
        finish(ResponseSigning(hasFingerprint: message.hasFingerprint), on: flow, into: &outbox)
    }

    /// Whether an unauthenticated source gets a response. The limit prevents reflection attacks with spoofed datagrams;
    /// a source that completed TCP's handshake is not spoofed, and never retransmits a request.
    private mutating func mayRespond(to flow: Flow, at now: Instant) -> Bool {
        flow.transport.isStream || limiter.allows(flow.remote.address, at: now)
    }

    /// Sends 400, 401 or 438 to a source that has not authenticated, within the limit of its prefix. Without a reason
    /// phrase, which would be a fifth of the response.
    mutating func challenge(
        _ message: borrowing Message, _ error: RequestError, on flow: Flow, at now: Instant,
        into outbox: inout some RelayOutbox & ~Copyable
    ) {
        guard mayRespond(to: flow, at: now) else {
            counters.limited &+= 1
            return
        }
        writer.begin(MessageType(.failure, message.type.method), message.transaction)
        writer.append(bareError: error.code)
        if error.isChallenge {
            guard
                let nonce = nonces.nonce(
                    for: flow.noncedSource, at: now, features: credentials.features, authentication)
            else {
                counters.failures &+= 1
                return
            }
            writer.append(.realm, text: credentials.realm)
            writer.append(.nonce, bytes: nonce)
            writer.append(.passwordAlgorithms, bytes: Self.passwordAlgorithms)
            if credentials.acceptsTokens {
                writer.append(.thirdPartyAuthorization, text: credentials.realm)
            }
        }
        counters.challenges &+= 1
        finish(ResponseSigning(hasFingerprint: message.hasFingerprint), on: flow, into: &outbox)
    }

    /// Sends an error response to an authenticated request.
    mutating func reject(
        _ method: Method, _ transaction: TransactionID, _ error: ErrorCode, unknown: [AttributeType] = [],
        alternate: TransportAddress? = nil, _ signing: ResponseSigning, on flow: Flow,
        into outbox: inout some RelayOutbox & ~Copyable
    ) {
        counters.rejections &+= 1
        writer.begin(MessageType(.failure, method), transaction)
        writer.append(error: error)
        if !unknown.isEmpty { writer.append(unknown: unknown) }
        if let alternate { writer.append(.alternateServer, address: alternate) }
        finish(signing, on: flow, into: &outbox)
    }

    mutating func reject(
        _ message: borrowing Message, _ error: ErrorCode, unknown: [AttributeType] = [], _ request: Request,
        into outbox: inout some RelayOutbox & ~Copyable
    ) {
        reject(
            message.type.method, message.transaction, error, unknown: unknown, request.signing, on: request.flow,
            into: &outbox)
    }

    /// Signs the message in the writer and sends it.
    mutating func finish(
        _ signing: ResponseSigning, on flow: Flow, into outbox: inout some RelayOutbox & ~Copyable
    ) {
        if sign(signing) { send(on: flow, into: &outbox) }
    }

    /// False when the cryptography failed.
    mutating func sign(_ signing: ResponseSigning) -> Bool {
        if let (algorithm, key) = signing.integrity {
            let bytes = key.copyToArray()
            guard writer.appendIntegrity(algorithm, key: bytes.span.bytes, authentication) else {
                counters.failures &+= 1
                return false
            }
        }
        if signing.hasFingerprint { writer.appendFingerprint() }
        return true
    }

    /// Sends the message in the writer, through another worker where the flow needs that: see `host(of:)`.
    mutating func send(on flow: Flow, into outbox: inout some RelayOutbox & ~Copyable) {
        if let worker = host(of: flow) {
            outbox.send(writer.bytes.span.bytes, on: flow, through: worker)
        } else {
            outbox.send(writer.bytes.span.bytes, on: flow)
        }
    }
}

extension Flow {
    /// The address that a nonce is valid for. A client of RFC 6062 has a connection for each peer, from different
    /// ports: its nonce is valid for all of them, since a source that completed TCP's handshake has the address.
    var noncedSource: TransportAddress {
        transport.isStream ? TransportAddress(remote.address, port: 0) : remote
    }
}
