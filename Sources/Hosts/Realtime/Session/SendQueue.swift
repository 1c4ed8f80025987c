import DequeModule
import Model

/// Frames of a session that wait because its client reads too slowly.
///
/// It is empty while the transport is writable. Otherwise results, snapshots and changes wait in order, limited in
/// bytes. Of each stream of events only the latest one about each subject waits, or some in their order.
struct SendQueue {
    private var frames: Deque<OutboundFrame> = []
    private var events: [StreamName: [UserID?: OutboundFrame]] = [:]
    private var ordered: [StreamName: Deque<OutboundFrame>] = [:]
    private(set) var bytes = 0
    /// Of these, those of pages.
    private(set) var pageBytes = 0

    var isEmpty: Bool { frames.isEmpty && events.isEmpty && ordered.isEmpty }

    mutating func append(_ frame: OutboundFrame) {
        frames.append(frame)
        bytes += frame.count
        if frame.isPage { pageBytes += frame.count }
    }

    /// Replaces the waiting event of a stream about the same subject.
    mutating func replace(_ frame: OutboundFrame, of stream: StreamName, about subject: UserID? = nil) {
        if let previous = events[stream, default: [:]].updateValue(frame, forKey: subject) { bytes -= previous.count }
        bytes += frame.count
    }

    /// Appends an event to the waiting ones of its stream, and drops the oldest over `count` events or `limit` bytes.
    /// Returns how many were dropped.
    mutating func append(_ frame: OutboundFrame, of stream: StreamName, atMost count: Int, bytes limit: Int) -> Int {
        var waiting = ordered.removeValue(forKey: stream) ?? []
        waiting.append(frame)
        bytes += frame.count
        var size = waiting.reduce(0) { $0 + $1.count }
        var dropped = 0
        while waiting.count > max(1, count) || (size > limit && waiting.count > 1), let oldest = waiting.popFirst() {
            size -= oldest.count
            bytes -= oldest.count
            dropped += 1
        }
        ordered[stream] = waiting
        return dropped
    }

    mutating func forget(_ stream: StreamName) {
        for frame in (events.removeValue(forKey: stream) ?? [:]).values { bytes -= frame.count }
        for frame in ordered.removeValue(forKey: stream) ?? [] { bytes -= frame.count }
    }

    /// The next frame to send: ordered frames first, then events, in any order of streams.
    mutating func next() -> OutboundFrame? {
        let frame = frames.popFirst() ?? nextEvent() ?? nextOrdered()
        if let frame { bytes -= frame.count }
        if let frame, frame.isPage { pageBytes -= frame.count }
        return frame
    }

    private mutating func nextEvent() -> OutboundFrame? {
        guard let stream = events.keys.first else { return nil }
        let frame = events[stream]?.popFirst()?.value
        if events[stream]?.isEmpty ?? true { events[stream] = nil }
        return frame
    }

    private mutating func nextOrdered() -> OutboundFrame? {
        guard let stream = ordered.keys.first else { return nil }
        let frame = ordered[stream]?.popFirst()
        if ordered[stream]?.isEmpty ?? true { ordered[stream] = nil }
        return frame
    }

    mutating func removeAll() {
        self = SendQueue()
    }
}
