import Bus
import Model
import NIOCore
import Synchronization

/// What one commit did to one stream: its changes, of one epoch, without gaps and in order; or rows of keyed state.
///
/// All listeners of all loops who may see all of it share the frame, which the first of them encodes.
final class StreamBatch: Sendable {
    enum Content: Sendable {
        case changes([Change])
        case rows([ConversationRow])
        /// Rows that were not made: a listener that lacks them has to read them.
        case unmade
    }

    let stream: StreamName
    let content: Content
    let epoch: String
    let first: Int64
    let last: Int64
    private let encoded = Mutex<OutboundFrame?>(nil)

    private init?(_ changes: [Change]) {
        guard let first = changes.first, let last = changes.last else { return nil }
        stream = first.stream
        content = .changes(changes)
        epoch = first.position.epoch
        self.first = first.position.sequence
        self.last = last.position.sequence
    }

    init(_ stream: StreamName, _ content: Content, epoch: String, first: Int64, last: Int64) {
        self.stream = stream
        self.content = content
        self.epoch = epoch
        self.first = first
        self.last = last
    }

    convenience init(_ update: ConversationUpdate) {
        self.init(
            .conversation(update.conversation), update.hasRows ? .rows(update.rows) : .unmade, epoch: update.epoch,
            first: update.after &+ 1, last: update.upTo)
    }

    /// Of marks, whose sequence is the store's counter: a listener has all of them up to its position.
    convenience init(marksOf update: ConversationUpdate) {
        self.init(
            .marks(update.conversation), update.hasMarks ? .rows(update.marks) : .unmade, epoch: update.epoch, first: 1,
            last: update.marksCounter)
    }

    /// Of translations, likewise; nil if none has changed.
    convenience init?(translationsOf update: ConversationUpdate) {
        guard let translations = update.translations else { return nil }
        self.init(
            .translations(update.conversation), translations.rows.map { .rows($0) } ?? .unmade, epoch: update.epoch,
            first: 1, last: translations.counter)
    }

    var position: Position { Position(epoch: epoch, sequence: last) }

    /// Roughly the batch's size in memory.
    var weight: Int {
        switch content {
        case .changes(let changes): changes.reduce(64) { $0 + $1.data.utf8.count }
        case .rows(let rows): rows.reduce(64) { $0 + $1.json.utf8.count }
        case .unmade: 64
        }
    }

    /// Whether it can be sent as it is.
    var isMade: Bool {
        if case .unmade = content { false } else { true }
    }

    /// The frame that carries all of it.
    var frame: OutboundFrame {
        encoded.withLock { encoded in
            if let encoded { return encoded }
            let frame =
                switch content {
                case .changes(let changes): OutboundFrame.changes(changes[...], of: stream)
                case .rows(let rows): OutboundFrame.rows(rows.map(\.json), of: stream, after: first - 1, upTo: position)
                case .unmade: OutboundFrame.rows([], of: stream, after: first - 1, upTo: position)
                }
            encoded = frame
            return frame
        }
    }

    /// The frame for a listener that has everything up to `sequence` already, with what it may see.
    func frame(after sequence: Int64, for view: ConversationView?) -> OutboundFrame {
        switch content {
        case .changes(let changes):
            guard sequence >= first else { return frame }
            return .changes(changes.drop { $0.position.sequence <= sequence }, of: stream)
        case .rows(let rows):
            guard let view, !view.includesAll(rows) else { return frame }
            return .rows(
                rows.filter { view.includes($0) }.map { view.json(of: $0) }, of: stream, after: first - 1,
                upTo: position)
        case .unmade: return frame
        }
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
    private let restricted = Mutex<OutboundFrame?>(nil)

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

    /// The frame for a listener who sees this of the presence that the event has.
    func frame(of presence: Presence) -> OutboundFrame {
        guard presence != event.presence else { return frame }
        return restricted.withLock { restricted in
            if let restricted { return restricted }
            let frame = OutboundFrame.presence(presence, of: event.stream)
            restricted = frame
            return frame
        }
    }
}
