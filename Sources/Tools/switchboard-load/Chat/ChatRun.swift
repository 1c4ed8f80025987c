import NIOCore
import NIOPosix

/// One run: connect everybody, make friends and conversations, listen, warm up, measure, and check everything.
struct ChatRun: Sendable {
    var target: TargetServer
    var people: [VirtualUser]
    var plan: ChatPlan
    var load: ChatLoad
    var processID: Int?

    /// How long results, and what listeners have yet to receive, are waited for in the end.
    private static let timeout: Duration = .seconds(30)
    /// The server's limit of messages of a request.
    private static let askedAtOnce = 50
    private static let poll: Duration = .milliseconds(20)

    func run(on group: MultiThreadedEventLoopGroup) async throws -> ChatReport {
        let (progress, bar) = (CallsProgress(), ProgressBar())
        let run = UInt32.random(in: 0..<1 << 28)
        let sessions = try await ChatConnections(
            people, run: run, conversations: plan.conversations.count, load: load, progress: progress, on: group)
        try await sessions.open(to: target) { [people] in
            bar.show(Double($0) / Double(people.count), "connecting \($0) of \(people.count)")
        }
        let setup = ChatSetup(run: sessions, plan: plan)
        if load.translates { try await setup.makeReaders() }
        let ids = try await setup.make { [plan] in
            bar.show(Double($0) / Double(plan.conversations.count), "creating conversations")
        }
        let seats = try await sessions.all { [plan] in $0.prepare(plan, ids: ids) }
        try await settle(sessions)
        let all = max(1, seats.reduce(0, +))
        for (index, count) in seats.enumerated() {
            let (worker, share) = (sessions.workers[index], Double(count) / Double(all))
            try await sessions.loops[index].submit { worker.value.start(share: share) }.get()
        }
        try await pass(load.warmUp, "warming up", bar, progress)

        let before = try processID.map { try ProcessTimes(of: $0) }
        let ownBefore = try ProcessTimes(of: nil)
        let start = CallsClock.now
        _ = try await sessions.all { $0.measure() }
        if let storm = load.storm {
            try await pass(min(storm, load.duration), "measuring", bar, progress)
            _ = try await sessions.all { [load] in $0.dropAll(for: load.away) }
            try await pass(max(0, load.duration - storm), "reconnecting all", bar, progress)
        } else {
            try await pass(load.duration, "measuring", bar, progress)
        }
        let after = try processID.map { try ProcessTimes(of: $0) }
        let ownAfter = try ProcessTimes(of: nil)
        let seconds = Double(CallsClock.now - start) / 1e9
        _ = try await sessions.all { $0.stopWriting() }

        let history = try await collect(sessions, ids, run, bar)
        var counters = ChatCounters()
        for each in try await sessions.all({ $0.close() }) { counters.add(each) }
        bar.clear()
        return ChatReport(
            counters: counters, seconds: seconds, users: people.count, plan: plan, load: load,
            server: before.flatMap { before in after.map { $0.since(before) } }, generator: ownAfter.since(ownBefore),
            check: ChatChecker(checking: history))
    }

    /// Waits until nothing is without a result; what still is in the end stays so.
    private func settle(_ sessions: ChatConnections) async throws {
        let deadline = ContinuousClock.now + Self.timeout
        while ContinuousClock.now < deadline {
            if try await sessions.all({ $0.unsettled }).allSatisfy({ $0 == 0 }) { return }
            try await Task.sleep(for: Self.poll)
        }
        _ = try await sessions.all { $0.giveUp() }
    }

    /// Reads everything, once the listeners have it.
    private func collect(
        _ sessions: ChatConnections, _ ids: [String], _ run: UInt32, _ bar: ProgressBar
    ) async throws -> ChatHistory {
        try await settle(sessions)
        let users = Set(plan.conversations.flatMap(\.members)).count
        let pages = try await ChatReader(run: sessions, plan: plan, ids: ids).readAll {
            bar.show(Double($0) / Double(users), "reading the pages of \($0) of \(users) users")
        }
        try await waitForListeners(sessions, pages)
        if load.translates {
            try await askForTranslations(sessions, ids, pages)
            try await waitForTranslations(sessions, pages, bar)
        }
        var history = ChatHistory(run: run & 0xFFF_FFFF)
        history.conversations = plan.conversations.indices.map {
            var conversation = ChatHistory.Conversation(name: "conversation \(ids[$0])")
            conversation.pages = pages[$0] ?? []
            return conversation
        }
        for part in try await sessions.all({ $0.history }) {
            for (index, other) in part.enumerated() { history.conversations[index].add(other) }
        }
        if load.translates {
            history.languages = Dictionary(
                people.indices.map { (sessions.identifier(of: $0), ChatLanguage(of: $0)) }, uniquingKeysWith: { $1 })
        }
        history.inboxes = try await sessions.all { $0.heldInboxes }.flatMap { $0 }
        _ = try await sessions.all { $0.stop() }
        return history
    }

    /// The rest is on its way to the listeners when the results are there.
    private func waitForListeners(_ sessions: ChatConnections, _ pages: [Int: [ChatHistory.Pages]]) async throws {
        let deadline = ContinuousClock.now + Self.timeout
        for (index, conversation) in plan.conversations.enumerated() {
            let sequence = pages[index]?.map(\.sequence).max() ?? 0
            for listener in conversation.listeners {
                while ContinuousClock.now < deadline {
                    if try await sessions.one(of: listener, { $0.hasReached(listener, index, sequence) }) { break }
                    try await Task.sleep(for: Self.poll)
                }
            }
        }
        var rows: [Int: [InboxRow]] = [:]
        for page in pages.values.joined() { if let row = page.inbox { rows[page.user, default: []].append(row) } }
        for user in plan.inboxListeners {
            let rows = rows[user] ?? []
            while ContinuousClock.now < deadline {
                if try await sessions.one(of: user, { $0.hasReached(user, rows) }) { break }
                try await Task.sleep(for: Self.poll)
            }
        }
    }

    /// Of many messages at once the newest alone are translated unasked: a client asks for the others when it shows them.
    private func askForTranslations(
        _ sessions: ChatConnections, _ ids: [String], _ pages: [Int: [ChatHistory.Pages]]
    ) async throws {
        for (index, conversation) in plan.conversations.enumerated() {
            guard let messages = pages[index]?.first?.messages else { continue }
            for listener in conversation.listeners {
                var numbers = try await sessions.one(of: listener) {
                    $0.untranslated(messages, listener, index)
                }[...]
                while !numbers.isEmpty {
                    let list = numbers.prefix(Self.askedAtOnce).map(String.init).joined(separator: ",")
                    numbers = numbers.dropFirst(Self.askedAtOnce)
                    let frame = try await sessions.ask(
                        listener, "translations.request", #"{"conversation":"\#(ids[index])","numbers":[\#(list)]}"#)
                    try await sessions.one(of: listener) { $0.take(frame.translations, listener, index) }
                }
            }
        }
    }

    /// Translations may take longer than messages: they are waited for as long as any comes.
    private func waitForTranslations(
        _ sessions: ChatConnections, _ pages: [Int: [ChatHistory.Pages]], _ bar: ProgressBar
    ) async throws {
        var (missing, deadline) = (Int.max, ContinuousClock.now + Self.timeout)
        while ContinuousClock.now < deadline {
            var left = 0
            for (index, conversation) in plan.conversations.enumerated() {
                guard let messages = pages[index]?.first?.messages else { continue }
                for listener in conversation.listeners {
                    left += try await sessions.one(of: listener) { $0.missing(messages, listener, index) }
                }
            }
            if left == 0 { return }
            if left < missing { (missing, deadline) = (left, ContinuousClock.now + Self.timeout) }
            bar.show(1, "waiting for \(left) translations")
            try await Task.sleep(for: .milliseconds(200))
        }
    }

    private func pass(_ seconds: Double, _ what: String, _ bar: ProgressBar, _ progress: CallsProgress) async throws {
        let clock = ContinuousClock()
        let start = clock.now
        var last = progress.counts
        while true {
            let passed = (clock.now - start) / .seconds(1)
            guard passed < seconds else { return }
            try await clock.sleep(for: .seconds(min(0.5, seconds - passed)))
            let counts = progress.counts
            let pace = (counts.lifeCycles - last.lifeCycles) * 2
            last = counts
            bar.show(min(1, passed / seconds), "\(what): \(pace) writes/s, \(counts.errors) errors")
        }
    }
}

extension ChatHistory.Conversation {
    /// Adds what another event loop has of it.
    mutating func add(_ other: Self) {
        acknowledged += other.acknowledged
        refused.formUnion(other.refused)
        unanswered.formUnion(other.unanswered)
        edited.merge(other.edited) { max($0, $1) }
        deleted.formUnion(other.deleted)
        read.merge(other.read) { max($0, $1) }
        listeners += other.listeners
        readers += other.readers
    }
}
