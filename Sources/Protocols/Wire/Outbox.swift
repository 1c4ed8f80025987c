/// Where an engine puts the messages that it wants sent.
///
/// In production a message is copied straight into the next batch of the socket, in tests into an array. The span is
/// valid only during the call.
package protocol Outbox: ~Copyable {
    mutating func send(_ message: RawSpan, on flow: Flow)
}
