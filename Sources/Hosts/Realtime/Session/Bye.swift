/// Why the server ends a session: the `bye` frame, and the close code of the WebSocket.
package enum Bye: Hashable, Sendable, CaseIterable {
    case shuttingDown
    case unauthenticated
    case helloTimeout
    case replaced
    case revoked
    case slow
    case idle
    case protocolError
    case rateLimited
    case internalError

    /// Codes from 4000 on are the protocol's own (RFC 6455 section 7.4.2); 1011 is RFC 6455's code for a server error.
    package var code: Int {
        switch self {
        case .shuttingDown: 4000
        case .unauthenticated: 4001
        case .helloTimeout: 4002
        case .replaced: 4003
        case .revoked: 4004
        case .slow: 4008
        case .idle: 4009
        case .protocolError: 4010
        case .rateLimited: 4029
        case .internalError: 1011
        }
    }

    package var reason: String {
        switch self {
        case .shuttingDown: "shutting_down"
        case .unauthenticated: "unauthenticated"
        case .helloTimeout: "hello_timeout"
        case .replaced: "replaced"
        case .revoked: "revoked"
        case .slow: "slow"
        case .idle: "idle"
        case .protocolError: "protocol_error"
        case .rateLimited: "rate_limited"
        case .internalError: "internal"
        }
    }

    /// The range, in milliseconds, from which a client's random reconnection delay is taken; nil when it must not
    /// reconnect with the same credentials or the same endpoint.
    package var retryWithin: ClosedRange<Int64>? {
        switch self {
        case .shuttingDown: 500...5000
        case .slow, .idle, .internalError: 500...3000
        case .helloTimeout, .protocolError: 1000...3000
        case .rateLimited: 5000...10_000
        case .unauthenticated, .replaced, .revoked: nil
        }
    }
}
