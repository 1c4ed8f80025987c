import NIOCore
import NIOPosix

/// The users' sessions, spread over the event loops.
struct ChatConnections: Sendable {
    let people: [VirtualUser]
    let loops: [any EventLoop]
    let workers: [NIOLoopBound<ChatWorker>]

    /// Sessions that are opened at a time, so that the server's listen backlog does not overflow.
    private static let concurrency = 64

    init(
        _ people: [VirtualUser], run: UInt32, conversations: Int, load: ChatLoad, progress: CallsProgress,
        on group: MultiThreadedEventLoopGroup
    ) async throws {
        self.people = people
        loops = Array(group.makeIterator())
        var share = load
        share.reconnects /= Double(loops.count)
        var workers: [NIOLoopBound<ChatWorker>] = []
        for (index, loop) in loops.enumerated() {
            workers.append(
                try await loop.submit { [share] in
                    let worker = ChatWorker(
                        UInt8(truncatingIfNeeded: index), loop: loop, run: run, conversations: conversations,
                        load: share, progress: progress)
                    return NIOLoopBound(worker, eventLoop: loop)
                }.get())
        }
        self.workers = workers
    }

    func identifier(of user: Int) -> UUIDBits { UUIDBits(people[user].user) ?? UUIDBits(high: 0, low: 0) }

    func open(to target: TargetServer, _ progress: @Sendable (Int) -> Void) async throws {
        try await forEach(0..<people.count, atOnce: Self.concurrency, progress) { user in
            let worker = workers[user % loops.count]
            try await loops[user % loops.count].flatSubmit { [people] in
                worker.value.add(user, people[user], target: target)
            }.get()
        }
    }

    func ask(_ user: Int, _ name: StaticString, _ params: String) async throws -> ChatFrame {
        let worker = workers[user % loops.count]
        let message = try await loops[user % loops.count].flatSubmit { worker.value.ask(user, name, params) }.get()
        guard let frame = ChatFrame(message.readableBytesUInt8Span) else {
            throw CallsFailure(what: "\(name): a result that is not JSON")
        }
        return frame
    }

    /// Runs this for the worker of every loop.
    func all<Value: Sendable>(_ body: @escaping @Sendable (ChatWorker) throws -> Value) async throws -> [Value] {
        var values: [Value] = []
        for (loop, worker) in zip(loops, workers) {
            values.append(try await loop.submit { try body(worker.value) }.get())
        }
        return values
    }

    /// Runs this for the worker of a user's loop.
    func one<Value: Sendable>(of user: Int, _ body: @escaping @Sendable (ChatWorker) -> Value) async throws -> Value {
        let worker = workers[user % loops.count]
        return try await loops[user % loops.count].submit { body(worker.value) }.get()
    }

    func forEach<Element: Sendable>(
        _ elements: some Collection<Element>, atOnce: Int, _ progress: @Sendable (Int) -> Void = { _ in },
        _ body: @escaping @Sendable (Element) async throws -> Void
    ) async throws {
        var rest = elements[...]
        var done = 0
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<atOnce { if let element = rest.popFirst() { group.addTask { try await body(element) } } }
            while try await group.next() != nil {
                done += 1
                progress(done)
                if let element = rest.popFirst() { group.addTask { try await body(element) } }
            }
        }
    }
}
