/// Sends an engine's messages.
///
/// In production a message is copied directly into the next batch of the socket, in tests into an array. The span is
/// valid only during the call.
package protocol Outbox: ~Copyable {
    mutating func send(_ message: RawSpan, on flow: Flow)
}
