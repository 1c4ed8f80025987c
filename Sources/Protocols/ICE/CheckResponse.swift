import STUN
import Wire

/// The response to an authentic check, signed with the password that the check was signed with.
struct CheckResponse {
    let transaction: TransactionID
    let flow: Flow
    let algorithm: IntegrityAlgorithm
    let password: [UInt8]
    private var unknown: [AttributeType] = []

    init(_ message: borrowing Message, flow: Flow, algorithm: IntegrityAlgorithm, password: [UInt8]) {
        transaction = message.transaction
        self.flow = flow
        self.algorithm = algorithm
        self.password = password
    }

    private static let known: Set<AttributeType> = [
        .username, .priority, .useCandidate, .messageIntegrity, .messageIntegritySHA256,
    ]

    mutating func rejection(of message: borrowing Message) -> CheckOutcome.Rejection? {
        unknown = message.unknownRequired(knowing: Self.known)
        if !unknown.isEmpty { return .unknownAttribute }
        guard message.integer32(.priority) != nil else { return .badRequest }
        // RFC 8445 section 7.3.1.1: a lite agent is controlled whatever the tie-breakers are, since it cannot be
        // controlling (section 6.1.1).
        return message.has(.iceControlled) ? .roleConflict : nil
    }

    func succeed(
        _ authentication: some MessageAuthentication, _ writer: inout MessageWriter,
        into outbox: inout some Outbox & ~Copyable
    ) -> Bool {
        writer.begin(MessageType(.success, .binding), transaction)
        writer.append(.xorMappedAddress, xor: flow.remote)
        return send(authentication, &writer, into: &outbox)
    }

    func reject(
        _ rejection: CheckOutcome.Rejection, _ authentication: some MessageAuthentication,
        _ writer: inout MessageWriter,
        into outbox: inout some Outbox & ~Copyable
    ) -> Bool {
        writer.begin(MessageType(.failure, .binding), transaction)
        switch rejection {
        case .badRequest: writer.append(error: .badRequest)
        case .roleConflict: writer.append(error: .roleConflict)
        case .unknownAttribute:
            writer.append(error: .unknownAttribute)
            writer.append(unknown: unknown)
        }
        return send(authentication, &writer, into: &outbox)
    }

    private func send(
        _ authentication: some MessageAuthentication, _ writer: inout MessageWriter,
        into outbox: inout some Outbox & ~Copyable
    ) -> Bool {
        guard writer.appendIntegrity(algorithm, key: password.span.bytes, authentication) else { return false }
        writer.appendFingerprint()
        outbox.send(writer.bytes.span.bytes, on: flow)
        return true
    }
}
