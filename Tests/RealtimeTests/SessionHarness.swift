import Foundation
import Model
import NIOCore
import Testing

@testable import Realtime

/// A store, a bus, a session and a client on a virtual clock, where everything that can happen late may happen late: a
/// reading of the store sees it at one moment and is delivered at another, published batches wait in the mailbox,
/// frames wait on the wire, and the connection may be lost between any two of them.
struct SessionHarness: ~Copyable {
    /// What the store holds of one stream: the sequences 1 to `last` of an epoch.
    struct Log {
        var epoch = 1
        var last: Int64 = 0
        var name: String { "e\(epoch)" }
    }

    /// What the client knows of one stream.
    struct Copy {
        var position: Position?
        var isReset = false
    }

    struct Question {
        var stream: StreamName
        var after: Position?
        var ticket: UInt32
        var opening: StreamOpening?
    }

    var machine: SessionMachine
    var logs: [StreamName: Log] = [:]
    /// Committed, not published yet.
    var committed: [StreamBatch] = []
    /// Published, not yet taken out of the mailbox.
    var mailbox: [StreamBatch] = []
    var subscribed: Set<StreamName> = []
    var reads: [Question] = []
    /// Sent, not yet with the client.
    var wire: [OutboundFrame] = []
    var client: [StreamName: Copy] = [:]
    var byes: [Bye] = []
    /// The streams that this connection requested, in its hello or later.
    var asked: Set<StreamName> = []
    /// What went wrong from the client's point of view.
    var violations: [String] = []
    /// The ids with results, and what the client knew then.
    var results: [Int64: [StreamName: Position]] = [:]
    var requested: [Int64] = []
    var now = NIODeadline.uptimeNanoseconds(1_000_000_000)
    let rules: SessionRules
    /// Whether batches that nobody listens to when they are committed have their changes nevertheless.
    var makesAll = true

    init(limits: RealtimeLimits = RealtimeLimits()) {
        rules = SessionRules(limits: limits)
        machine = SessionMachine(session: identifier(9), rules: rules, at: now)
    }

    // MARK: The session

    mutating func run(_ body: (inout SessionMachine, inout [SessionAction]) -> Void) {
        var actions: [SessionAction] = []
        body(&machine, &actions)
        for action in actions { execute(action) }
    }

    private mutating func execute(_ action: SessionAction) {
        switch action {
        case .send(let frame): wire.append(frame)
        case .subscribe(let stream):
            if !subscribed.insert(stream).inserted { violations.append("subscribed twice to \(stream)") }
        case .unsubscribe(let stream):
            if subscribed.remove(stream) == nil { violations.append("unsubscribed from \(stream) without need") }
        case .open(let stream, let after, let ticket):
            reads.append(Question(stream: stream, after: after, ticket: ticket))
        case .authenticate:
            let admission = Admission(
                principal: Principal(user: alice), grant: EndpointGrant(endpoint: identifier(5)),
                expires: .distantFuture)
            let now = now
            run { $0.authenticated(.success(admission), at: now, wallClock: morning, into: &$1) }
        case .handle(let id, _, _): requested.append(id)
        case .end(let bye): byes.append(bye)
        case .verify, .register, .becomeLive, .reportAlive, .dropped, .readMoved, .cancelRead, .wait: break
        }
    }

    /// Opens a new connection, on which the client resumes what it knows.
    mutating func connect() {
        machine = SessionMachine(session: identifier(9), rules: rules, at: now)
        subscribed = []
        reads = []
        mailbox = []
        wire = []
        byes = []
        requested = []
        let resume = client.sorted { $0.key.text < $1.key.text }.compactMap { stream, copy in
            copy.position.map { Hello.Resumption(stream: stream, after: $0) }
        }
        asked = Set(resume.map(\.stream))
        let hello = Hello(token: "t", resume: resume)
        let now = now
        run { $0.receive(.hello(1, hello), at: now, into: &$1) }
    }

    // MARK: The store and the bus

    mutating func commit(_ stream: StreamName, count: Int64 = 1) {
        var log = logs[stream] ?? Log()
        // What nobody listens to when it is committed may have to be read.
        committed.append(
            makesAll || subscribed.contains(stream)
                ? .make(stream, epoch: log.name, (log.last + 1)...(log.last + count))
                : StreamBatch(stream, .unmade, epoch: log.name, first: log.last + 1, last: log.last + count))
        log.last += count
        logs[stream] = log
    }

    /// Starts the log of a stream anew, as a restore from a backup would.
    mutating func rebuild(_ stream: StreamName) {
        logs[stream]?.epoch += 1
    }

    mutating func publishNext(lost: Bool = false) {
        guard !committed.isEmpty else { return }
        let batch = committed.removeFirst()
        if subscribed.contains(batch.stream), !lost { mailbox.append(batch) }
    }

    mutating func deliverNext() {
        guard !mailbox.isEmpty else { return }
        let batch = mailbox.removeFirst()
        let now = now
        run { $0.receiveChanges(batch, at: now, into: &$1) }
    }

    /// The store reads its current content; the result is delivered later.
    mutating func readStore(_ index: Int) {
        guard reads.indices.contains(index), reads[index].opening == nil else { return }
        let read = reads[index]
        let log = logs[read.stream] ?? Log()
        let position = Position(epoch: log.name, sequence: log.last)
        let snapshot = Array(#"{"last":\#(log.last)}"#.utf8)
        switch read.after {
        case nil: reads[index].opening = .snapshot(snapshot, position)
        case let after? where after.epoch != log.name: reads[index].opening = .reset(.epoch, snapshot, position)
        case let after? where after.sequence >= log.last: reads[index].opening = .changes([], position)
        case let after?:
            let batch = StreamBatch.make(read.stream, epoch: log.name, (after.sequence + 1)...log.last)
            reads[index].opening = .changes(batch.changes, position)
        }
    }

    mutating func completeRead(_ index: Int) {
        guard reads.indices.contains(index) else { return }
        readStore(index)
        let read = reads.remove(at: index)
        guard let opening = read.opening else { return }
        let now = now
        run {
            $0.opened(
                read.stream, ticket: read.ticket, .success(opening), at: now, wallClock: morning, into: &$1)
        }
    }

    // MARK: The client

    mutating func receiveNext() {
        guard !wire.isEmpty else { return }
        let json = wire.removeFirst().json
        guard let name = json["stream"] as? String, let stream = StreamName(name) else { return note(json) }
        if json["reset"] != nil {
            client[stream] = Copy(position: nil, isReset: true)
        } else if json["snapshot"] != nil {
            guard let epoch = json["epoch"] as? String, let sequence = json["seq"] as? Int64 else { return }
            if client[stream]?.position != nil { violations.append("a snapshot of \(stream) without a reset") }
            client[stream] = Copy(position: Position(epoch: epoch, sequence: sequence))
        } else if let changes = json["changes"] as? [[String: Any]] {
            for change in changes { apply(change, to: stream) }
        }
    }

    private mutating func apply(_ change: [String: Any], to stream: StreamName) {
        guard let sequence = change["seq"] as? Int64, let position = client[stream]?.position else {
            return violations.append("changes of \(stream), which the client does not have")
        }
        if sequence != position.sequence + 1 {
            violations.append("\(sequence) of \(stream) after \(position.sequence)")
        }
        client[stream]?.position?.sequence = sequence
    }

    private mutating func note(_ json: [String: Any]) {
        guard let id = json["id"] as? Int64 else { return }
        results[id] = client.compactMapValues(\.position)
    }

    // MARK: Until nothing is left to do

    mutating func settle() {
        for _ in 0..<10_000 {
            setWritable(true)
            if !committed.isEmpty {
                publishNext()
            } else if !mailbox.isEmpty {
                deliverNext()
            } else if !reads.isEmpty {
                completeRead(0)
            } else if !wire.isEmpty {
                receiveNext()
            } else if !machine.hasQueuedFrames {
                return
            }
        }
        violations.append("the session does not become idle")
    }

    mutating func setWritable(_ isWritable: Bool) {
        let now = now
        run { $0.setTransportWritable(isWritable, at: now, into: &$1) }
    }

    /// Whether the client has all of every stream that it listens to.
    func expectWhole(_ comment: Comment) {
        #expect(violations.isEmpty, comment)
        for (stream, copy) in client {
            let log = logs[stream] ?? Log()
            #expect(copy.position == Position(epoch: log.name, sequence: log.last), comment)
        }
    }
}

extension StreamBatch {
    var changes: [Change] {
        if case .changes(let changes) = content { changes } else { [] }
    }
}
