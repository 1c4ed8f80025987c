/// Transports a session's frames: a WebSocket, or a stream of server-sent events. Lives on the session's event loop.
protocol SessionTransport: AnyObject {
    /// The client's address, and the host that it addressed.
    var origin: SessionOrigin { get }
    /// Whether frames are sent at once instead of being buffered.
    var isWritable: Bool { get }
    /// Bytes that the transport still buffers.
    var unsentBytes: Int { get }
    func send(_ frame: OutboundFrame)
    func flush()
    /// Sends buffered frames, and then closes with the bye's code.
    func close(_ bye: Bye)
    /// Closes at once.
    func abort()
}
