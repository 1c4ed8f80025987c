public import Foundation

/// The errors of this library, other than `CancellationError`. Later versions may have more: a `switch` needs a
/// `default`.
public enum SwitchboardError: Error, Hashable, Sendable {
    /// The server rejected the request. ``Problem/kind`` says why.
    case refused(Problem)
    /// There are no credentials: sign in first. Also thrown once the server has rejected the refresh token.
    case signedOut
    /// The server could not be reached, or the connection broke before the response to a request that must not be
    /// repeated. The text is for a log.
    case unreachable(String)
    /// There was no response within ``SwitchboardOptions/requestTimeout``, however often the request was sent.
    case timedOut
    /// The server closed the realtime connection permanently: another process uses the same endpoint (4003), the
    /// sign-in was revoked (4004) or the client violated the protocol (4010). `code` is the WebSocket close code.
    case disconnected(code: Int, reason: String)
    /// The stream has closed for this user: the call is over, or the user was removed from it.
    case streamClosed
    /// A buffer overflowed: more requests than ``SwitchboardOptions/pendingRequests``, or more signals than
    /// ``LiveCall/signals`` buffers for a slow reader.
    case overflow
    /// The server's response is not what this version of the library expects. The text is for a log.
    case invalidResponse(String)
    /// What was to be kept on this device could not be stored, such as on a full disk: it is not queued. The text is for
    /// a log.
    case storeFailed(String)
    /// An argument is invalid, such as a server address that is not a URL. The text says which and why.
    case invalidArgument(String)
    /// ``Switchboard/close()`` was called.
    case closed
}

extension SwitchboardError {
    /// The problem that the server reported, if any.
    public var problem: Problem? {
        if case .refused(let problem) = self { problem } else { nil }
    }
}

extension SwitchboardError: CustomStringConvertible {
    /// One sentence for a log.
    public var description: String {
        switch self {
        case .refused(let problem): "refused: \(problem)"
        case .signedOut: "not signed in"
        case .unreachable(let why): "the server cannot be reached: \(why)"
        case .timedOut: "the server did not respond in time"
        case .disconnected(let code, let reason): "the server ended the connection: \(reason) (\(code))"
        case .streamClosed: "the stream is closed"
        case .overflow: "a buffer overflowed"
        case .invalidResponse(let what): "the server's response is invalid: \(what)"
        case .storeFailed(let why): "the store failed: \(why)"
        case .invalidArgument(let what): "invalid argument: \(what)"
        case .closed: "the client was closed"
        }
    }
}

extension SwitchboardError: LocalizedError {
    /// One English sentence for people: what went wrong, and what they can do.
    public var errorDescription: String? {
        switch self {
        case .refused(let problem): problem.errorDescription
        case .signedOut: "You are not signed in. Sign in and try again."
        case .unreachable: "The server cannot be reached. Check the connection and try again."
        case .timedOut: "The server did not respond in time. Try again."
        case .disconnected: "The server ended the connection. Try again."
        case .streamClosed: "The call is over, or you are no longer in it."
        case .overflow: "Too much is waiting to be sent or read. Try again later."
        case .invalidResponse: "The server's response was not understood. Update the app and try again."
        case .storeFailed: "This device could not store it. Make room on it and try again."
        case .invalidArgument: "This is not valid. Correct it and try again."
        case .closed: "The app has closed its connection to the server."
        }
    }
}
