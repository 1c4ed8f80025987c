/// What became of one attempt to push. Reasons are for operators: they name neither the device nor its keys.
package enum PushOutcome: Hashable, Sendable {
    /// The push service has taken it.
    case delivered
    /// The registration has ended, and another push would fare no better.
    case gone(String)
    /// This push is dropped, and the registration stays.
    case rejected(String)
    /// Try again; after that time, if the push service has named one.
    case retry(after: Duration?, String)
    /// There was no response: it may have been taken, or may be later.
    case unreachable(String)
    /// This server stopped the attempt.
    case cancelled
}
