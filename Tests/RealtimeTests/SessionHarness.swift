import Foundation
import Model
import NIOCore
import Testing

@testable import Realtime

/// A store, a bus, a session and a client on a virtual clock, where everything that can happen late may happen late: a
/// reading of the store sees it at one moment and is delivered at another, published batches wait in the mailbox, frames
/// wait on the wire, and the connection may be cut between any two of them.
struct SessionWorld: ~Copyable {
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
        var answer: StreamOpening?
    }

    var machine: SessionMachine
    var logs: [StreamName: Log] = [:]
    /// Committed, not published yet.
    var committed: [StreamBatch] = []
    /// Published, not yet taken out of the mailbox.
    var mailbox: [StreamBatch] = []
    var subscribed: Set<StreamName> = []
    var questions: [Question] = []
    /// Sent, not yet with the client.
    var wire: [OutboundFrame] = []
    var client: [StreamName: Copy] = [:]
    var byes: [Bye] = []
    /// The streams that this connection asked for, in its hello or later.
    var asked: Set<StreamName> = []
    /// What went wrong from the client's point of view.
    var complaints: [String] = []
    /// Answered ids and what the client knew at that moment.
    var answers: [Int64: [StreamName: Position]] = [:]
    var requested: [Int64] = []
    var now = NIODeadline.uptimeNanoseconds(1_000_000_000)
    let rules: SessionRules

    init(limits: RealtimeLimits = RealtimeLimits()) {
        rules = SessionRules(limits: limits)
        machine = SessionMachine(session: identifier(9), rules: rules, at: now)
    }

    // MARK: The session

    mutating func run(_ body: (inout SessionMachine, inout [SessionAction]) -> Void) {
        var actions: [SessionAction] = []
        body(&machine, &actions)
        for action in actions { perform(action) }
    }

    private mutating func perform(_ action: SessionAction) {
        switch action {
        case .send(let frame): wire.append(frame)
        case .subscribe(let stream):
            if !subscribed.insert(stream).inserted { complaints.append("subscribed twice to \(stream)") }
        case .unsubscribe(let stream):
            if subscribed.remove(stream) == nil { complaints.append("unsubscribed from \(stream) without need") }
        case .open(let stream, let after, let ticket):
            questions.append(Question(stream: stream, after: after, ticket: ticket))
        case .authenticate:
            let admission = Admission(
                principal: Principal(user: alice), grant: EndpointGrant(endpoint: identifier(5)),
                expires: .distantFuture)
            let now = now
            run { $0.authenticated(.success(admission), at: now, wallClock: morning, into: &$1) }
        case .perform(let id, _, _): requested.append(id)
        case .end(let bye): byes.append(bye)
        case .verify, .enter, .becomeLive, .reportHeard, .dropped: break
        }
    }

    /// Opens a new connection, on which the client resumes what it knows.
    mutating func connect() {
        machine = SessionMachine(session: identifier(9), rules: rules, at: now)
        subscribed = []
        questions = []
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
        committed.append(.make(stream, epoch: log.name, (log.last + 1)...(log.last + count)))
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
        run { $0.changed(batch, at: now, into: &$1) }
    }

    /// The store answers a question with what it holds now; the answer is delivered later.
    mutating func readStore(_ index: Int) {
        guard questions.indices.contains(index), questions[index].answer == nil else { return }
        let question = questions[index]
        let log = logs[question.stream] ?? Log()
        let position = Position(epoch: log.name, sequence: log.last)
        let snapshot = Array(#"{"last":\#(log.last)}"#.utf8)
        switch question.after {
        case nil: questions[index].answer = .snapshot(snapshot, position)
        case let after? where after.epoch != log.name: questions[index].answer = .reset(.epoch, snapshot, position)
        case let after? where after.sequence >= log.last: questions[index].answer = .changes([], position)
        case let after?:
            let batch = StreamBatch.make(question.stream, epoch: log.name, (after.sequence + 1)...log.last)
            questions[index].answer = .changes(batch.changes, position)
        }
    }

    mutating func answerStore(_ index: Int) {
        guard questions.indices.contains(index) else { return }
        readStore(index)
        let question = questions.remove(at: index)
        guard let answer = question.answer else { return }
        let now = now
        run {
            $0.opened(
                question.stream, ticket: question.ticket, .success(answer), at: now, wallClock: morning, into: &$1)
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
            if client[stream]?.position != nil { complaints.append("a snapshot of \(stream) without a reset") }
            client[stream] = Copy(position: Position(epoch: epoch, sequence: sequence))
        } else if let changes = json["changes"] as? [[String: Any]] {
            for change in changes { apply(change, to: stream) }
        }
    }

    private mutating func apply(_ change: [String: Any], to stream: StreamName) {
        guard let sequence = change["seq"] as? Int64, let position = client[stream]?.position else {
            return complaints.append("changes of \(stream), which the client does not have")
        }
        if sequence != position.sequence + 1 {
            complaints.append("\(sequence) of \(stream) after \(position.sequence)")
        }
        client[stream]?.position?.sequence = sequence
    }

    private mutating func note(_ json: [String: Any]) {
        guard let id = json["id"] as? Int64 else { return }
        answers[id] = client.compactMapValues(\.position)
    }

    // MARK: Until nothing is left to do

    mutating func settle() {
        for _ in 0..<10_000 {
            setWritable(true)
            if !committed.isEmpty {
                publishNext()
            } else if !mailbox.isEmpty {
                deliverNext()
            } else if !questions.isEmpty {
                answerStore(0)
            } else if !wire.isEmpty {
                receiveNext()
            } else if !machine.hasBacklog {
                return
            }
        }
        complaints.append("the world does not come to rest")
    }

    mutating func setWritable(_ isWritable: Bool) {
        let now = now
        run { $0.setTransportWritable(isWritable, at: now, into: &$1) }
    }

    /// Whether the client has all of every stream that it listens to.
    func expectWhole(_ comment: Comment) {
        #expect(complaints.isEmpty, comment)
        for (stream, copy) in client {
            let log = logs[stream] ?? Log()
            #expect(copy.position == Position(epoch: log.name, sequence: log.last), comment)
        }
    }
}
