/// What carries a session's frames: a WebSocket, or a stream of server-sent events. Lives on the session's event loop.
protocol SessionTransport: AnyObject {
    /// Where the client is, and whom it thinks it speaks to.
    var origin: SessionOrigin { get }
    /// Whether frames go out rather than pile up.
    var isWritable: Bool { get }
    /// Bytes that were given to the transport and are not out yet.
    var unsentBytes: Int { get }
    func send(_ frame: OutboundFrame)
    func flush()
    /// Sends what was given, and then closes as the bye says.
    func close(_ bye: Bye)
    /// Closes at once.
    func abort()
}
