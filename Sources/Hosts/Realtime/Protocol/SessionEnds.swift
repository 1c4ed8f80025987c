package import Model

extension ResetReason {
    package var meaning: String {
        switch self {
        case .gap: "Changes that the client does not have were removed from the log, or are too many to be sent again."
        case .epoch: "The log was rebuilt, as after restoring a backup."
        case .access: "The client may no longer see the stream."
        }
    }

    /// What a client does.
    package var action: String {
        switch self {
        case .gap, .epoch: "Replace the client's copy of the stream with the snapshot that follows."
        case .access: "Forget the stream: neither a snapshot nor changes follow."
        }
    }
}

extension Bye {
    package var meaning: String {
        switch self {
        case .shuttingDown: "The server stops or restarts."
        case .unauthenticated: "The access token is invalid or has expired, or the endpoint's secret is wrong."
        case .helloTimeout: "The hello did not come in time."
        case .replaced: "The endpoint has opened another session."
        case .revoked: "The sign-in has ended, or the account was disabled or deleted."
        case .slow: "The client did not read the frames that the server sent."
        case .idle: "Nothing came from the client for too long, not even a heartbeat."
        case .protocolError: "Too many frames were invalid."
        case .rateLimited: "Too many frames within a second, or too many sessions of the user or the address."
        case .internalError: "An error of the server."
        }
    }

    /// What a client does.
    package var action: String {
        switch self {
        case .shuttingDown, .slow, .idle, .internalError:
            "Reconnect after `retryAfter`, and resume the streams."
        case .unauthenticated:
            "Refresh the access token and reconnect. If the secret was rejected, use a new endpoint."
        case .helloTimeout: "Reconnect after `retryAfter`, and send hello at once."
        case .replaced: "Do not reconnect: the newer session goes on."
        case .revoked: "Do not reconnect: the user has to sign in again."
        case .protocolError: "Report it: the client is wrong. Reconnect after `retryAfter`."
        case .rateLimited: "Reconnect after `retryAfter`, and send less."
        }
    }
}

extension WebSocketCode {
    /// The close codes of RFC 6455 section 7.4.1 that the server sends without a `bye`, besides the client's own code,
    /// with which it responds to the client's close frame.
    package static let described: [(code: Self, meaning: String)] = [
        (.normal, "The response to a close frame without a code."),
        (.protocolError, "A WebSocket frame violates RFC 6455."),
        (.unsupportedData, "A binary message: frames of this protocol are text."),
        (.invalidPayload, "A message is not UTF-8."),
        (.messageTooBig, "A message is longer than `inboundBytes`."),
    ]

    /// What a client does after any of them but `normal`.
    package static let action = "Report it: the client is wrong. Reconnect after some seconds."
}
