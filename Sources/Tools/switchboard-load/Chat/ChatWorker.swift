import DequeModule
import NIOCore

/// The users of one event loop: schedules what they write, loses connections, and counts. Everything here runs on that
/// loop.
final class ChatWorker {
    /// A member who sends in a conversation.
    private struct Seat {
        var conversation: Int
        var user: ChatUser
        /// The newest message of the member that may be edited or deleted: its number and text's version.
        var newest: (number: Int64, textVersion: Int64)?
    }

    private static let tick = TimeAmount.milliseconds(2)

    let loop: any EventLoop
    private let index: UInt8
    private let run: UInt32
    private let load: ChatLoad
    private let progress: CallsProgress
    private let text: String
    private(set) var users: [Int: ChatUser] = [:]
    private var order: [ChatUser] = []
    private var ids: [String] = []
    private var seats: [Seat] = []
    /// Seats that may write; each as often as it may have requests in flight.
    private var free: Deque<Int> = []
    private var share = 0.0
    private var serial: UInt32 = 0
    private var ticker: RepeatedTask?
    private var startedAt: UInt64 = 0
    private var begun = 0
    private var reconnected = 0
    /// How often users have marked what they have, one after the other.
    private var marks = 0
    private var isMeasuring = false
    private var isWriting = false
    private(set) var isStopped = false
    private var counters = ChatCounters()
    private var record: [ChatHistory.Conversation]

    /// - Parameter index: of the event loop.
    init(
        _ index: UInt8, loop: any EventLoop, run: UInt32, conversations: Int, load: ChatLoad, progress: CallsProgress
    ) {
        self.index = index
        self.loop = loop
        self.run = run
        self.load = load
        self.progress = progress
        text = String(repeating: "x", count: load.textBytes)
        record = (0..<conversations).map { ChatHistory.Conversation(name: "conversation \($0)") }
    }

    func add(_ user: Int, _ person: VirtualUser, target: TargetServer) -> EventLoopFuture<Void> {
        let user = ChatUser(user, person, target: target, worker: self)
        users[user.index] = user
        order.append(user)
        return user.open()
    }

    func ask(_ user: Int, _ name: StaticString, _ params: String) -> EventLoopFuture<ByteBuffer> {
        guard let user = users[user] else {
            return loop.makeFailedFuture(CallsFailure(what: "user \(user) is on another event loop"))
        }
        return user.ask(name, params)
    }

    /// Begins to listen. Returns how many members send from this loop.
    ///
    /// - Parameter ids: of the plan's conversations.
    func prepare(_ plan: ChatPlan, ids: [String]) -> Int {
        self.ids = ids
        for (index, conversation) in plan.conversations.enumerated() {
            for listener in conversation.listeners {
                users[listener]?.listen(to: "conversation:\(ids[index])")
                if load.translates { users[listener]?.listen(to: "translations:\(ids[index])") }
            }
            for sender in conversation.senders {
                if let user = users[sender] { seats.append(Seat(conversation: index, user: user)) }
            }
        }
        for listener in plan.inboxListeners {
            if let user = users[listener] { user.listen(to: "inbox:\(user.person.user)") }
        }
        return seats.count
    }

    /// - Parameter share: this loop's part of all writes.
    func start(share: Double) {
        self.share = share
        for _ in 0..<load.inFlight { free.append(contentsOf: seats.indices) }
        startedAt = CallsClock.now
        isWriting = true
        let bound = NIOLoopBound(self, eventLoop: loop)
        ticker = loop.scheduleRepeatedTask(initialDelay: .zero, delay: Self.tick) { _ in bound.value.advance() }
    }

    /// Starts the measurement.
    func measure() {
        let errors = counters.errors
        counters = ChatCounters()
        counters.errors = errors
        isMeasuring = true
    }

    /// Ends the measurement and writes nothing more.
    func stopWriting() {
        (isMeasuring, isWriting) = (false, false)
    }

    /// - Parameter seconds: after which they come back, all at once; 0 for at once. Who sends does not lose its connection
    ///   if the others stay away.
    func dropAll(for seconds: Double) {
        let senders = Set(seats.map(\.user.index))
        for user in order where seconds == 0 || !senders.contains(user.index) {
            user.drop(for: .nanoseconds(Int64(seconds * 1e9)))
        }
    }

    /// Requests without a result, and users who are not connected.
    var unsettled: Int { order.reduce(0) { $0 + $1.unanswered + ($1.isOnline ? 0 : 1) } }

    /// Whether the listener has everything up to this position.
    func hasReached(_ user: Int, _ conversation: Int, _ sequence: Int64) -> Bool {
        guard let held = users[user]?.held["conversation:\(ids[conversation])"] else { return false }
        return held.sequence >= sequence
    }

    /// Whether the listener of an inbox holds these rows, or newer ones; rows that it never received do not matter.
    func hasReached(_ user: Int, _ rows: [InboxRow]) -> Bool {
        guard let held = users[user]?.inbox else { return false }
        return rows.allSatisfy { row in held.rows[row.conversation].map { $0.counter >= row.counter } ?? true }
    }

    /// How many of the messages the listener should have translated, and something may still come of.
    func missing(_ messages: [SeenMessage], _ user: Int, _ conversation: Int) -> Int {
        users[user]?.translated["translations:\(ids[conversation])"]?.missing(of: messages) ?? 0
    }

    /// Which of the messages the listener has to ask for.
    func untranslated(_ messages: [SeenMessage], _ user: Int, _ conversation: Int) -> [Int64] {
        users[user]?.untranslated(messages, of: "translations:\(ids[conversation])") ?? []
    }

    func take(_ translations: [SeenTranslation], _ user: Int, _ conversation: Int) {
        users[user]?.take(translations: translations, of: "translations:\(ids[conversation])")
    }

    func stop() { ticker?.cancel() }

    /// Closes the connections.
    func close() -> ChatCounters {
        isStopped = true
        for user in order { user.drop() }
        return counters
    }

    var heldInboxes: [(user: Int, held: HeldInbox)] {
        order.compactMap { user in user.inbox.map { (user.index, $0) } }
    }

    /// What was written and received here, by conversation.
    var history: [ChatHistory.Conversation] {
        var history = record
        // Few users are in many conversations: each has fewer streams than there are conversations.
        let indices = Dictionary(ids.enumerated().map { ($1, $0) }, uniquingKeysWith: { $1 })
        func index(_ stream: String) -> Int? { indices[String(stream.drop { $0 != ":" }.dropFirst())] }
        for user in order {
            for (stream, number) in user.read { index(stream).map { history[$0].read[user.index] = number } }
            for (stream, held) in user.held {
                index(stream).map {
                    history[$0].listeners.append(ChatHistory.Listener(user: user.index, held: held))
                }
            }
            for (stream, held) in user.translated {
                index(stream).map { history[$0].readers.append(ChatHistory.Reader(user: user.index, held: held)) }
            }
        }
        return history
    }
}

// Counting.
extension ChatWorker {
    func count(error: String) {
        guard !isStopped else { return }
        counters.errors[error, default: 0] += 1
        progress.countError()
    }

    func count(reset: String) { counters.resets[reset, default: 0] += 1 }

    func record(_ step: ChatStep, nanoseconds: UInt64) {
        if isMeasuring { counters.record(step, microseconds: nanoseconds / 1_000) }
    }

    /// Messages have arrived at a listener, or their translations, by the client ids of the messages.
    func arrived(_ messages: [UUIDBits], _ step: ChatStep) {
        guard isMeasuring else { return }
        let now = CallsClock.now / 1_000
        for clientID in messages {
            guard let id = ChatClientID(clientID), id.run == run & 0xFFF_FFFF else { continue }
            counters.record(step, microseconds: now &- id.due)
        }
    }
}

// Writing.
extension ChatWorker {
    private func advance() {
        let now = CallsClock.now
        for user in order { user.flush() }
        guard isWriting else { return }
        let seconds = Double(now &- startedAt) / 1e9
        if !order.isEmpty, load.reconnects > 0 {
            while Double(reconnected) < seconds * load.reconnects {
                order[reconnected % order.count].drop()
                reconnected += 1
            }
        }
        if load.receipts {
            // Each once a second. After a pause, as many as there are.
            marks = max(marks, Int(seconds * Double(order.count)) - order.count)
            while Double(marks) < seconds * Double(order.count) {
                order[marks % order.count].mark(due: now / 1_000)
                marks += 1
            }
        }
        fill(at: now)
    }

    /// Begins what is due, in the order of the seats.
    private func fill(at now: UInt64) {
        while isWriting, let seat = free.first {
            var due = now
            if let rate = load.rate {
                due = startedAt + UInt64(Double(begun) / (rate * share) * 1e9)
                guard due <= now else { return }
            }
            free.removeFirst()
            begun += 1
            write(seat, due: due / 1_000)
        }
    }

    private func write(_ index: Int, due: UInt64) {
        let seat = seats[index]
        let conversation = ids[seat.conversation]
        let fraction = Double.random(in: 0..<1)
        let text = load.translates ? ChatLanguage(of: seat.user.index).text(begun, bytes: load.textBytes) : self.text
        if let newest = seat.newest, fraction < load.edits + load.deletions {
            seats[index].newest = nil
            if fraction < load.edits {
                seat.user.enqueue(
                    ChatUser.Request(
                        kind: .edit(seat: index, number: newest.number, due: due), name: "messages.edit",
                        params: #"{"conversation":"\#(conversation)","number":\#(newest.number),"#
                            + #""textVersion":\#(newest.textVersion),"text":"\#(text) \#(begun)"}"#))
            } else {
                seat.user.enqueue(
                    ChatUser.Request(
                        kind: .deletion(seat: index, number: newest.number, due: due), name: "messages.delete",
                        params: #"{"conversation":"\#(conversation)","number":\#(newest.number),"for":"all"}"#))
            }
            return
        }
        serial += 1
        let id = ChatClientID(run: run, worker: self.index, serial: serial, due: due)
        let stream = "conversation:\(conversation)"
        let read = load.receipts ? seat.user.newest(of: stream) : nil
        var request = ChatUser.Request(
            kind: .message(seat: index, id.key, due: due), name: "messages.send",
            params: #"{"conversation":"\#(conversation)","clientID":"\#(id.bits.text)","text":"\#(text)""#
                + (read.map { #","readUpTo":\#($0)}"# } ?? "}"))
        request.read = read.map { (stream, $0) }
        seat.user.enqueue(request)
    }

    /// A write has its result.
    func completed(_ request: ChatUser.Request, _ frame: ChatFrame, by user: ChatUser) {
        let now = CallsClock.now
        if frame.error == nil { user.noteRead(request) }
        if case .mark(let due) = request.kind {
            if let error = frame.error { return count(error: "\(request.name): \(error)") }
            if isMeasuring { counters.record(.marked, microseconds: now / 1_000 &- due) }
            return
        }
        if frame.error == nil, frame.messages.isEmpty { count(error: "\(request.name): a result without a message") }
        let message = frame.error == nil ? frame.messages.first : nil
        if let error = frame.error { count(error: "\(request.name): \(error)") }
        switch request.kind {
        case .message(let seat, let key, let due):
            let conversation = seats[seat].conversation
            if let message {
                record[conversation].acknowledged.append(.init(key: key, number: message.number))
                seats[seat].newest = (message.number, message.textVersion)
                if frame.isDuplicate { counters.duplicates += 1 }
                complete(.result, due, at: now)
            } else {
                record[conversation].refused.insert(key)
            }
            free.append(seat)
        case .edit(let seat, let number, let due):
            if let message {
                record[seats[seat].conversation].edited[number] = message.textVersion
                if seats[seat].newest?.number ?? 0 < number { seats[seat].newest = (number, message.textVersion) }
                complete(.edited, due, at: now)
            }
            free.append(seat)
        case .deletion(let seat, let number, let due):
            if message != nil {
                record[seats[seat].conversation].deleted.insert(number)
                complete(.deleted, due, at: now)
            }
            free.append(seat)
        case .hello, .listen, .asked, .mark: return
        }
        fill(at: now)
    }

    private func complete(_ step: ChatStep, _ due: UInt64, at now: UInt64) {
        progress.countLifeCycle()
        if isMeasuring { counters.record(step, microseconds: now / 1_000 &- due) }
    }

    /// Notes what has no result in the end.
    func giveUp() {
        for user in order {
            for kind in user.unansweredKinds {
                if case .message(let seat, let key, _) = kind {
                    record[seats[seat].conversation].unanswered.insert(key)
                }
                count(error: "no result")
            }
        }
    }
}
