import BasicContainers
import STUN
import Wire

// Answers: those that keep nothing, and the frame that all others share.

extension TURNEngine {
    /// Comprehension-required attributes of each request.
    private static let authenticationAttributes: Set<AttributeType> = [
        .username, .userHash, .messageIntegrity, .messageIntegritySHA256, .realm, .nonce, .passwordAlgorithm,
        .accessToken,
    ]
    private static let discoveryAttributes = authenticationAttributes.union(NATDiscovery.Wishes.attributes)
    static let allocateAttributes = authenticationAttributes.union([
        .requestedTransport, .requestedAddressFamily, .lifetime, .evenPort, .reservationToken, .dontFragment,
    ])
    static let refreshAttributes = authenticationAttributes.union([.lifetime, .requestedAddressFamily])
    static let permissionAttributes = authenticationAttributes.union([.xorPeerAddress])
    static let channelAttributes = authenticationAttributes.union([.xorPeerAddress, .channelNumber])
    static let connectionAttributes = authenticationAttributes.union([.connectionID])
    static let sendAttributes: Set<AttributeType> = [.xorPeerAddress, .data, .dontFragment]

    /// The same without what this host cannot do.
    func known(_ attributes: Set<AttributeType>) -> Set<AttributeType> {
        setsDontFragment ? attributes : attributes.subtracting([.dontFragment])
    }

    /// The client's own address, for whoever asks (RFC 8489 section 6.3.1). As short as it can be: SOFTWARE and the like
    /// would only make it a better reflector.
    mutating func answerBinding(
        _ message: borrowing Message, on flow: Flow, at now: Instant, into outbox: inout some RelayOutbox & ~Copyable
    ) {
        guard isAnswered(flow, at: now) else {
            tally.limited &+= 1
            return
        }
        let discovery = discovery(on: flow)
        let unknown = message.unknownRequired(
            knowing: discovery == nil ? Self.authenticationAttributes : Self.discoveryAttributes)
        guard unknown.isEmpty else {
            tally.challenges &+= 1
            writer.begin(MessageType(.failure, .binding), message.transaction)
            writer.append(bareError: .unknownAttribute)
            writer.append(unknown: unknown)
            finish(AnswerShape(hasFingerprint: message.hasFingerprint), on: flow, into: &outbox)
            return
        }
        if let discovery {
            answerDiscovery(message, discovery, on: flow, into: &outbox)
            return
        }
        tally.bindings &+= 1
        writer.begin(MessageType(.success, .binding), message.transaction)
        writer.append(.xorMappedAddress, xor: flow.remote)
        finish(AnswerShape(hasFingerprint: message.hasFingerprint), on: flow, into: &outbox)
    }

    /// Whether an unauthenticated source is answered. The limit keeps spoofed datagrams from making a reflector; a source
    /// that completed TCP's handshake is not spoofed, and its requests are never repeated when they go unanswered.
    private mutating func isAnswered(_ flow: Flow, at now: Instant) -> Bool {
        flow.transport.isStream || limiter.allows(flow.remote.address, at: now)
    }

    /// 400, 401 or 438 to someone who has not authenticated, within the limit of their prefix. Without a reason: it would
    /// be a fifth of the answer.
    mutating func challenge(
        _ message: borrowing Message, _ refusal: Refusal, on flow: Flow, at now: Instant,
        into outbox: inout some RelayOutbox & ~Copyable
    ) {
        guard isAnswered(flow, at: now) else {
            tally.limited &+= 1
            return
        }
        writer.begin(MessageType(.failure, message.type.method), message.transaction)
        writer.append(bareError: refusal.error)
        if refusal.isChallenge {
            guard
                let nonce = nonces.nonce(
                    for: flow.noncedSource, at: now, features: credentials.features, authentication)
            else {
                tally.failures &+= 1
                return
            }
            writer.append(.realm, text: credentials.realm)
            writer.append(.nonce, bytes: nonce)
            writer.append(.passwordAlgorithms, bytes: Self.passwordAlgorithms)
            if credentials.takesTokens {
                writer.append(.thirdPartyAuthorization, text: credentials.realm)
            }
        }
        tally.challenges &+= 1
        finish(AnswerShape(hasFingerprint: message.hasFingerprint), on: flow, into: &outbox)
    }

    /// An error response to an authenticated request.
    mutating func refuse(
        _ method: Method, _ transaction: TransactionID, _ error: ErrorCode, unknown: [AttributeType] = [],
        alternate: TransportAddress? = nil, _ shape: AnswerShape, on flow: Flow,
        into outbox: inout some RelayOutbox & ~Copyable
    ) {
        tally.refusals &+= 1
        writer.begin(MessageType(.failure, method), transaction)
        writer.append(error: error)
        if !unknown.isEmpty { writer.append(unknown: unknown) }
        if let alternate { writer.append(.alternateServer, address: alternate) }
        finish(shape, on: flow, into: &outbox)
    }

    mutating func refuse(
        _ message: borrowing Message, _ error: ErrorCode, unknown: [AttributeType] = [], _ request: Request,
        into outbox: inout some RelayOutbox & ~Copyable
    ) {
        refuse(
            message.type.method, message.transaction, error, unknown: unknown, request.shape, on: request.flow,
            into: &outbox)
    }

    /// Signs what was written and sends it.
    mutating func finish(
        _ shape: AnswerShape, on flow: Flow, into outbox: inout some RelayOutbox & ~Copyable
    ) {
        if sign(shape) { send(on: flow, into: &outbox) }
    }

    /// False when the cryptography failed.
    mutating func sign(_ shape: AnswerShape) -> Bool {
        if let (algorithm, key) = shape.integrity {
            let bytes = key.copyToArray()
            guard writer.appendIntegrity(algorithm, key: bytes.span.bytes, authentication) else {
                tally.failures &+= 1
                return false
            }
        }
        if shape.hasFingerprint { writer.appendFingerprint() }
        return true
    }

    /// Sends what was written: see `host(of:)` for where.
    mutating func send(on flow: Flow, into outbox: inout some RelayOutbox & ~Copyable) {
        if let worker = host(of: flow) {
            outbox.send(writer.bytes.span.bytes, on: flow, through: worker)
        } else {
            outbox.send(writer.bytes.span.bytes, on: flow)
        }
    }
}

extension Flow {
    /// Whom a nonce is good for. A client of RFC 6062 has a connection for each peer, from a port of its own: its nonce is
    /// good for all of them, since whoever completed TCP's handshake has the address.
    var noncedSource: TransportAddress {
        transport.isStream ? TransportAddress(remote.address, port: 0) : remote
    }
}
