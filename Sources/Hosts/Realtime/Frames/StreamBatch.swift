import Bus
import Model
import NIOCore
import Synchronization

/// The changes of one commit to one stream: of one epoch, without gaps and in order.
///
/// All listeners of all loops share the frame, which the first of them encodes.
final class StreamBatch: Sendable {
    let stream: StreamName
    let changes: [Change]
    let epoch: String
    let first: Int64
    let last: Int64
    private let encoded = Mutex<OutboundFrame?>(nil)

    private init?(_ changes: [Change]) {
        guard let first = changes.first, let last = changes.last else { return nil }
        stream = first.stream
        self.changes = changes
        epoch = first.position.epoch
        self.first = first.position.sequence
        self.last = last.position.sequence
    }

    var position: Position { Position(epoch: epoch, sequence: last) }

    /// Roughly the batch's size in memory.
    var weight: Int { changes.reduce(64) { $0 + $1.data.utf8.count } }

    /// The frame that carries all of the changes.
    var frame: OutboundFrame {
        encoded.withLock { encoded in
            if let encoded { return encoded }
            let frame = OutboundFrame.changes(changes[...], of: stream)
            encoded = frame
            return frame
        }
    }

    /// The frame for a listener that has everything up to `sequence` already.
    func frame(after sequence: Int64) -> OutboundFrame {
        guard sequence >= first else { return frame }
        return .changes(changes.drop { $0.position.sequence <= sequence }, of: stream)
    }

    /// Groups the changes of a commit by stream, in the order in which the streams first appear. A gap or another epoch
    /// starts a new batch.
    static func batches(of changes: [Change]) -> [StreamBatch] {
        if changes.count == 1 { return [StreamBatch(changes)].compactMap { $0 } }
        var runs: [[Change]] = []
        var latest: [StreamName: Int] = [:]
        for change in changes {
            if let run = latest[change.stream], let previous = runs[run].last?.position,
                previous.epoch == change.position.epoch, previous.sequence &+ 1 == change.position.sequence
            {
                runs[run].append(change)
            } else {
                latest[change.stream] = runs.count
                runs.append([change])
            }
        }
        return runs.compactMap { StreamBatch($0) }
    }
}

/// An ephemeral event with the frame that all its listeners share.
final class StreamEvent: Sendable {
    let event: EphemeralEvent
    private let encoded = Mutex<OutboundFrame?>(nil)

    init(_ event: EphemeralEvent) {
        self.event = event
    }

    func isFor(_ endpoint: EndpointID?) -> Bool {
        guard let audience = event.audience else { return true }
        return endpoint.map(audience.contains) ?? false
    }

    var frame: OutboundFrame {
        encoded.withLock { encoded in
            if let encoded { return encoded }
            let frame = OutboundFrame.event(event)
            encoded = frame
            return frame
        }
    }
}
