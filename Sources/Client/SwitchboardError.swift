/// Everything that a call of this library throws, other than `CancellationError`.
public enum SwitchboardError: Error, Hashable, Sendable {
    /// The server understood the request and refused it. ``Problem/kind`` says why.
    case refused(Problem)
    /// There are no credentials: sign in first. Also thrown once the server has refused the refresh token.
    case signedOut
    /// The server could not be reached, or the connection broke before a request that must not be repeated was
    /// answered. The text is for a log.
    case unreachable(String)
    /// The request was not answered within ``SwitchboardOptions/requestTimeout``, however often it was sent.
    case timedOut
    /// The server ended the realtime connection for good: another process uses the same endpoint (4003), the sign-in
    /// was revoked (4004) or the client broke the protocol (4010). `code` is the WebSocket close code.
    case disconnected(code: Int, reason: String)
    /// The stream is no longer there for this user: the call is over, or they were removed from it.
    case streamClosed
    /// Too much was waiting: more requests than ``SwitchboardOptions/pendingRequests``, or more signals than
    /// ``LiveCall/signals`` keeps for a reader that does not read.
    case overflow
    /// The server's answer was not what this version of the library expects. The text is for a log.
    case invalidAnswer(String)
    /// An argument cannot be used, such as a server address that is not a URL. The text says which and why.
    case invalidArgument(String)
    /// ``Switchboard/close()`` was called.
    case closed
}

extension SwitchboardError {
    /// The problem that the server reported, where there is one.
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
        case .timedOut: "the server did not answer in time"
        case .disconnected(let code, let reason): "the server ended the connection: \(reason) (\(code))"
        case .streamClosed: "the stream is closed"
        case .overflow: "too much was waiting"
        case .invalidAnswer(let what): "the server's answer was not understood: \(what)"
        case .invalidArgument(let what): "invalid argument: \(what)"
        case .closed: "the client was closed"
        }
    }
}
