import DequeModule
import Model

/// What a session has to send while its client reads too slowly.
///
/// While the transport takes frames, nothing is here. Else answers, snapshots and changes wait in order and are counted
/// in bytes, and of each ephemeral stream only the latest event waits.
struct SendQueue {
    private var frames: Deque<OutboundFrame> = []
    private var events: [StreamName: OutboundFrame] = [:]
    private(set) var bytes = 0

    var isEmpty: Bool { frames.isEmpty && events.isEmpty }

    mutating func append(_ frame: OutboundFrame) {
        frames.append(frame)
        bytes += frame.count
    }

    /// Puts an event in the place of the one of its stream that waits.
    mutating func replace(_ frame: OutboundFrame, of stream: StreamName) {
        if let previous = events.updateValue(frame, forKey: stream) { bytes -= previous.count }
        bytes += frame.count
    }

    mutating func forget(_ stream: StreamName) {
        if let frame = events.removeValue(forKey: stream) { bytes -= frame.count }
    }

    /// The next frame to send: those in order first, then events in no order.
    mutating func next() -> OutboundFrame? {
        let frame = frames.popFirst() ?? events.popFirst()?.value
        if let frame { bytes -= frame.count }
        return frame
    }

    mutating func removeAll() {
        self = SendQueue()
    }
}
