@testable import SwitchboardClient

/// A server as the realtime protocol describes it, and the wires to it, small enough to be obviously right: streams
/// with a log, requests applied once by their client id, and a connection that can be cut with everything on it.
struct ModelServer {
    struct Log {
        var epoch = "e1"
        /// The entry of sequence `trimmed + 1` comes first.
        var trimmed: Int64 = 0
        var entries: [String] = []
        var position: StreamPosition { StreamPosition(epoch: epoch, sequence: trimmed + Int64(entries.count)) }

        func entry(_ sequence: Int64) -> String? {
            let index = Int(sequence - trimmed - 1)
            return entries.indices.contains(index) ? entries[index] : nil
        }
    }

    static let user = UserID("u1")

    var logs: [String: Log] = [StreamName.user(user): Log()]
    /// How often each request was applied, by client id, and how often it was answered.
    var applied: [String: Int] = [:]
    /// How often a stream was reset.
    var resets: [String: Int] = [:]

    var isConnected = false
    private(set) var isGreeted = false
    private(set) var attached: Set<String> = []
    var fromClient: [ClientFrame] = []
    var toClient: [ServerFrame] = []

    mutating func accept() {
        isConnected = true
        isGreeted = false
        attached = []
        fromClient = []
        toClient = []
    }

    /// Cuts the connection: what is on the wires is lost.
    mutating func cut() {
        accept()
        isConnected = false
    }

    /// Commits a change and notifies the listeners: sometimes twice, or not at all if `skips`.
    mutating func append(_ entry: String, to stream: String, twice: Bool = false, skips: Bool = false) {
        logs[stream, default: Log()].entries.append(entry)
        guard attached.contains(stream), !skips, let position = logs[stream]?.position else { return }
        for _ in 0...(twice ? 1 : 0) { toClient.append(changes(of: stream, after: position.sequence - 1)) }
    }

    /// Forgets the log up to now, so that older positions cannot be resumed.
    mutating func trim(_ stream: String) {
        guard let log = logs[stream] else { return }
        logs[stream]?.trimmed = log.position.sequence
        logs[stream]?.entries = []
    }

    /// Loses a stream's history altogether, as a rebuilt log does.
    mutating func rebuild(_ stream: String, epoch: String) {
        logs[stream] = Log(epoch: epoch)
        guard attached.contains(stream) else { return }
        startAgain(stream)
    }

    /// Makes the client listen without being asked.
    mutating func attach(_ stream: String) {
        guard isGreeted, logs[stream] != nil else { return }
        attached.insert(stream)
        toClient.append(snapshot(of: stream))
    }

    /// Takes the client's oldest frame off the wire.
    mutating func serve() {
        guard isConnected, !fromClient.isEmpty else { return }
        switch fromClient.removeFirst() {
        case .hello(let id, _, let endpoint, _, let resume):
            isGreeted = true
            let known = resume.filter { logs[$0.key] != nil }
            let resumed = known.mapValues { _ in "ok" }.merging(
                known.filter { !canResume($0.key, $0.value) }.mapValues { _ in "reset" }
            ) { $1 }
            let greeting = Greeting(
                session: "s", user: Self.user, endpoint: endpoint, heartbeat: 20, resumed: resumed)
            toClient.append(.result(id: id, ResultFrame(greeting: greeting, frame: [])))
            for (stream, position) in known.sorted(by: { $0.key < $1.key }) { open(stream, after: position) }
        case .listen(let id, let stream, let after):
            guard logs[stream] != nil else {
                toClient.append(.failure(id: id, .missing))
                return
            }
            open(stream, after: after)
            toClient.append(.result(id: id, ResultFrame(frame: [])))
        case .unlisten(let id, let stream):
            attached.remove(stream)
            toClient.append(.result(id: id, ResultFrame(frame: [])))
        case .request(let id, let stream, let params):
            let clientID = String(decoding: params, as: UTF8.self)
            if applied[clientID] == nil {
                applied[clientID] = 1
                append(clientID, to: stream)
            }
            toClient.append(.result(id: id, ResultFrame(frame: params)))
        case .token(let id, _): toClient.append(.result(id: id, ResultFrame(expiresIn: 900, frame: [])))
        case .heartbeat: break
        }
    }

    private func canResume(_ stream: String, _ position: StreamPosition) -> Bool {
        guard let log = logs[stream], log.epoch == position.epoch else { return false }
        return position.sequence >= log.trimmed && position.sequence <= log.position.sequence
    }

    private mutating func open(_ stream: String, after: StreamPosition?) {
        attached.insert(stream)
        guard let after else { return toClient.append(snapshot(of: stream)) }
        guard canResume(stream, after) else { return startAgain(stream) }
        if after != logs[stream]?.position { toClient.append(changes(of: stream, after: after.sequence)) }
    }

    private mutating func startAgain(_ stream: String) {
        resets[stream, default: 0] += 1
        toClient.append(.reset(stream: stream, reason: "gap"))
        toClient.append(snapshot(of: stream))
    }

    private func snapshot(of stream: String) -> ServerFrame {
        .snapshot(stream: stream, .unknown, logs[stream]?.position ?? StreamPosition(epoch: "", sequence: 0))
    }

    private func changes(of stream: String, after: Int64) -> ServerFrame {
        let log = logs[stream] ?? Log()
        let fresh = log.entries.enumerated().map { (log.trimmed + Int64($0.offset) + 1, $0.element) }
        return .changes(
            stream: stream,
            fresh.filter { $0.0 > after }.map { StreamChange(sequence: $0.0, content: .unknown(type: $0.1)) })
    }
}

extension Problem {
    static let missing = Problem(kind: .notFound, title: "Not found", status: 404, detail: "no such stream")
}
