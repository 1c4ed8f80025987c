import Bus
import Foundation
import Model
import NIOCore
import TestSupport

@testable import Realtime
@testable import Services

/// One user's session, which listens to presences and to who is writing: the session's machine itself. The store answers
/// it after everything that a command published was delivered, so that events come while streams are read.
final class EventSession {
    let user: UserID
    /// The last that was received about others' presence.
    private(set) var presences: [UserID: JSONValue] = [:]
    private var typing: [ReceivedTyping] = []
    private let harness: StreamHarness
    private var machine: SessionMachine
    private var reads: [(stream: StreamName, after: Position?, ticket: UInt32)] = []
    private var lastID: Int64 = 1

    /// What was received of who is writing.
    struct ReceivedTyping: Hashable {
        var conversation: ConversationID
        var user: String
        var state: String
    }

    init(_ user: UserID, in harness: StreamHarness) {
        self.user = user
        self.harness = harness
        machine = SessionMachine(
            session: .make(at: harness.time.now), rules: SessionRules(limits: RealtimeLimits()), at: harness.deadline)
        let (now, wallClock) = (harness.deadline, harness.time.now)
        run { $0.receive(.hello(1, Hello(token: "token")), at: now, into: &$1) }
        let admission = Admission(
            principal: Principal(user: user), grant: EndpointGrant(endpoint: .make(at: wallClock)),
            expires: .distantFuture)
        run { $0.authenticated(.success(admission), at: now, wallClock: wallClock, into: &$1) }
    }

    /// Begins to listen to what it does not listen to yet, where that is allowed.
    func listen() async throws {
        let streams = harness.users.map { StreamName.presence($0) } + harness.conversations.map { .typing($0) }
        let now = harness.deadline
        for stream in streams where machine.listens[stream] == nil {
            lastID += 1
            let id = lastID
            run { $0.receive(.listen(id, stream, after: nil), at: now, into: &$1) }
        }
        try await read()
    }

    /// Delivers what a command published, as the hub does.
    func receive(_ publications: [StreamHarness.Publication]) async throws {
        var changed: Set<UserID> = []
        for publication in publications {
            switch publication {
            case .event(let event): run { $0.receiveEvent(StreamEvent(event), into: &$1) }
            case .presence(let user): changed.insert(user)
            case .receipts, .translations: break
            case .changes(let changes):
                changed.formUnion(changes.compactMap(\.presenceChange))
            case .updates(let updates):
                for update in updates {
                    changed.formUnion(update.presenceChanges)
                    for change in update.listenChanges where change.user == user {
                        let stream = change.stream
                        run { change.kind == .drop ? $0.drop(stream, into: &$1) : $0.reread(stream, into: &$1) }
                    }
                }
            }
        }
        for user in changed { run { $0.rereadPresence(about: user, into: &$1) } }
        try await read()
    }

    /// What was received of who is writing since this was last called.
    func takeTyping() -> [ReceivedTyping] { exchange(&typing, with: []) }
}

extension EventSession {
    private func run(_ body: (inout SessionMachine, inout [SessionAction]) -> Void) {
        var actions: [SessionAction] = []
        body(&machine, &actions)
        for action in actions {
            switch action {
            case .open(let stream, let after, let ticket): reads.append((stream, after, ticket))
            case .send(let frame): receive(frame)
            default: break
            }
        }
    }

    private func read() async throws {
        while !reads.isEmpty {
            let read = reads.removeFirst()
            var result: Result<StreamOpening, Problem>
            do {
                result = .success(
                    try await harness.streams.open(read.stream, after: read.after, for: harness.principal(user)))
            } catch let problem as Problem { result = .failure(problem) }
            let (now, wallClock) = (harness.deadline, harness.time.now)
            run { $0.opened(read.stream, ticket: read.ticket, result, at: now, wallClock: wallClock, into: &$1) }
        }
    }

    private func receive(_ frame: OutboundFrame) {
        guard let frame = try? JSONValue(frame.text.readableBytesView),
            let stream = frame["stream"]?.string.flatMap({ StreamName($0) })
        else { return }
        switch stream {
        case .presence(let user): presences[user] = frame["snapshot"] ?? frame["event"]
        case .typing(let id):
            guard let event = frame["event"] else { return }
            typing.append(
                ReceivedTyping(
                    conversation: id, user: event["user"]?.string ?? "", state: event["state"]?.string ?? ""))
        default: break
        }
    }
}

extension EventSession {
    /// How what it has of others' presence differs from what who begins to listen now is sent.
    func differences() async throws -> [String] {
        var found: [String] = []
        for other in harness.users {
            let opening = try await harness.streams.open(.presence(other), after: nil, for: harness.principal(user))
            guard case .presence(let presence, let view) = opening else { continue }
            let fresh = try JSONValue(presence.seen(view).json.utf8)
            if presences[other] != fresh {
                found.append("presence of \(other): held \(presences[other] ?? .null), fresh \(fresh)")
            }
        }
        return found
    }
}
