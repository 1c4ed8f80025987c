import DequeModule
import NIOCore

/// One virtual user with its session: repeats what has no result on the next connection, resumes its streams, and keeps
/// within what the protocol allows. It runs on one event loop.
final class ChatUser: RealtimeConnectionDelegate {
    /// A request, and for whom its result is.
    struct Request {
        enum Kind {
            case hello
            case listen(String)
            case asked(EventLoopPromise<ByteBuffer>)
            case message(seat: Int, MessageKey, due: UInt64)
            case edit(seat: Int, number: Int64, due: UInt64)
            case deletion(seat: Int, number: Int64, due: UInt64)
            case mark(due: UInt64)
        }

        var kind: Kind
        var name: StaticString = ""
        /// JSON text.
        var params = ""
        /// The mark that it raises in a conversation, by its stream.
        var read: (stream: String, number: Int64)?
    }

    /// The server's limits are 64 requests in flight, and 500 messages within a second.
    private static let maxInFlight = 60
    private static let maxPerSecond = 450
    private static let second: UInt64 = 1_000_000_000

    let index: Int
    let person: VirtualUser
    private let target: TargetServer
    private unowned let worker: ChatWorker
    private var connection: RealtimeConnection
    private(set) var isOnline = false
    /// When the connection was lost, or else is to come back.
    private var lostAt: UInt64?
    /// How long it stays away.
    private var away = TimeAmount.zero
    private var opening: EventLoopPromise<Void>?
    private var pending: [Int: Request] = [:]
    private var waiting: [Request] = []
    /// When the newest ``maxPerSecond`` messages were sent.
    private var sentAt: Deque<UInt64> = []
    private var isFlushScheduled = false
    private(set) var held: [String: HeldConversation] = [:]
    private(set) var translated: [String: HeldTranslations] = [:]
    private(set) var inbox: HeldInbox?
    /// By stream: the marks that the server has acknowledged, and those that were requested.
    private(set) var read: [String: Int64] = [:]
    private var marked: [String: Int64] = [:]

    init(_ index: Int, _ person: VirtualUser, target: TargetServer, worker: ChatWorker) {
        self.index = index
        self.person = person
        self.target = target
        self.worker = worker
        connection = RealtimeConnection(person, target: target)
    }

    private var inboxStream: String { "inbox:\(person.user)" }

    private var reader: ChatTranslationReader {
        ChatTranslationReader(
            author: UUIDBits(person.user) ?? UUIDBits(high: 0, low: 0), language: ChatLanguage(of: index))
    }

    /// Requests without a result.
    var unanswered: Int { pending.count + waiting.count }

    var unansweredKinds: [Request.Kind] { pending.values.map(\.kind) + waiting.map(\.kind) }

    func open() -> EventLoopFuture<Void> {
        let promise = worker.loop.makePromise(of: Void.self)
        opening = promise
        connect()
        return promise.futureResult
    }

    private func connect() {
        connection.delegate = self
        let user = NIOLoopBound(self, eventLoop: worker.loop)
        connection.connect(on: worker.loop).whenFailure { error in
            user.value.worker.count(error: "not connected: \(error)")
            user.value.connectLater()
        }
    }

    func listen(to stream: String) {
        if stream == inboxStream {
            inbox = HeldInbox()
        } else if stream.isOfTranslations {
            translated[stream] = HeldTranslations(for: reader)
        } else {
            held[stream] = HeldConversation()
        }
        enqueue(Request(kind: .listen(stream)))
    }

    func enqueue(_ request: Request) {
        waiting.append(request)
        flush()
    }

    func ask(_ name: StaticString, _ params: String) -> EventLoopFuture<ByteBuffer> {
        let promise = worker.loop.makePromise(of: ByteBuffer.self)
        enqueue(Request(kind: .asked(promise), name: name, params: params))
        return promise.futureResult
    }

    /// What a client would ask for of these messages.
    func untranslated(_ messages: [SeenMessage], of stream: String) -> [Int64] {
        translated[stream]?.unasked(of: messages) ?? []
    }

    func take(translations: [SeenTranslation], of stream: String) { translated[stream]?.take(response: translations) }

    /// What a message of the user marks as read with it; nil for nothing new.
    func newest(of stream: String) -> Int64? {
        guard let last = held[stream]?.last, last > marked[stream] ?? 0 else { return nil }
        marked[stream] = last
        return last
    }

    /// Marks everything that has arrived.
    func mark(due: UInt64) {
        for stream in held.keys {
            guard let number = newest(of: stream) else { continue }
            var request = Request(
                kind: .mark(due: due), name: "conversations.mark",
                params: #"{"conversation":"\#(stream.dropFirst("conversation:".count))","read":\#(number),"#
                    + #""delivered":\#(number)}"#)
            request.read = (stream, number)
            enqueue(request)
        }
    }

    /// The server has acknowledged a request.
    func noteRead(_ request: Request) {
        guard let (stream, number) = request.read else { return }
        read[stream] = max(read[stream] ?? 0, number)
    }

    /// Loses its connection, as by a change of networks, and comes back after so long.
    func drop(for time: TimeAmount = .zero) {
        away = time
        connection.close()
    }

    /// Sends what waits, as fast as the protocol allows.
    func flush() {
        guard isOnline, !waiting.isEmpty else { return }
        let now = CallsClock.now
        while let first = sentAt.first, now &- first >= Self.second { sentAt.removeFirst() }
        var sent = 0
        while sent < waiting.count, pending.count < Self.maxInFlight, sentAt.count < Self.maxPerSecond {
            let request = waiting[sent]
            let id =
                if case .listen(let stream) = request.kind { connection.listen(to: stream) } else {
                    connection.request(request.name, request.params)
                }
            pending[id] = request
            sentAt.append(now)
            sent += 1
        }
        waiting.removeFirst(sent)
        if !waiting.isEmpty, sentAt.count >= Self.maxPerSecond, let first = sentAt.first { flushLater(first, now) }
    }

    /// Goes on when the first message of this second leaves it, also while nothing else calls ``flush()``.
    private func flushLater(_ first: UInt64, _ now: UInt64) {
        guard !isFlushScheduled else { return }
        isFlushScheduled = true
        let wait = Int64(Self.second) - Int64(clamping: now &- first)
        let user = NIOLoopBound(self, eventLoop: worker.loop)
        worker.loop.scheduleTask(in: .nanoseconds(max(1, wait))) {
            user.value.isFlushScheduled = false
            user.value.flush()
        }
    }
}

// The connection.
extension ChatUser {
    func opened(_ connection: RealtimeConnection) {
        var positions = held.compactMap { stream, held in held.position.map { #""\#(stream)":\#($0)"# } }
        positions += translated.compactMap { stream, held in held.position.map { #""\#(stream)":\#($0)"# } }
        if let position = inbox?.position { positions.append(#""\#(inboxStream)":\#(position)"#) }
        let id = connection.hello(resume: "{\(positions.joined(separator: ","))}")
        pending[id] = Request(kind: .hello)
    }

    func failed(_ what: String, on connection: RealtimeConnection) { worker.count(error: what) }

    func lost(_ connection: RealtimeConnection) {
        guard connection === self.connection else { return }
        isOnline = false
        if lostAt == nil { lostAt = CallsClock.now + UInt64(away.nanoseconds) }
        // What has no result is repeated, in its order. Streams are resumed, or listened to anew, after the hello.
        let repeated = pending.sorted { $0.key < $1.key }.map(\.value).filter {
            switch $0.kind {
            case .hello, .listen: false
            case .asked, .message, .edit, .deletion, .mark: true
            }
        }
        pending = [:]
        waiting = repeated + waiting
        guard !worker.isStopped else { return }
        if away == .zero {
            self.connection = RealtimeConnection(person, target: target, continuing: connection)
            connect()
        } else {
            connectLater(after: exchange(&away, with: .zero))
        }
    }

    private func connectLater(after time: TimeAmount = .milliseconds(250)) {
        guard !worker.isStopped else { return }
        let user = NIOLoopBound(self, eventLoop: worker.loop)
        connection = RealtimeConnection(person, target: target, continuing: connection)
        worker.loop.scheduleTask(in: time) { user.value.connect() }
    }

    func received(_ message: ByteBuffer, on connection: RealtimeConnection) {
        guard connection === self.connection else { return }
        guard let frame = ChatFrame(message.readableBytesUInt8Span) else {
            return worker.count(error: "a frame that is not JSON")
        }
        if let stream = frame.stream {
            take(frame, of: stream)
        } else if let id = frame.id {
            if let request = pending.removeValue(forKey: id) { complete(request, frame, message) }
            flush()
        } else if frame.isHeartbeat {
            connection.respondToHeartbeat()
        } else if let reason = frame.bye {
            worker.count(error: "bye: \(reason)")
        }
    }

    private func complete(_ request: Request, _ frame: ChatFrame, _ message: ByteBuffer) {
        switch request.kind {
        case .hello:
            if let error = frame.error {
                worker.count(error: "hello: \(error)")
                opening?.fail(CallsFailure(what: "hello: \(error)"))
                opening = nil
                return
            }
            greeted(message)
        case .listen(let stream):
            if let error = frame.error { worker.count(error: "listen to \(stream.prefix { $0 != ":" }): \(error)") }
        case .asked(let promise):
            if let error = frame.error {
                promise.fail(CallsFailure(what: "\(request.name): \(error)"))
            } else {
                promise.succeed(message)
            }
        case .message, .edit, .deletion, .mark:
            worker.completed(request, frame, by: self)
        }
    }

    private func greeted(_ message: ByteBuffer) {
        isOnline = true
        if let lostAt { worker.record(.resumed, nanoseconds: CallsClock.now &- lostAt) }
        lostAt = nil
        let text = message.readableBytesUInt8Span
        let resumed = Set(text.keys(of: "resumed"))
        for stream in Array(held.keys) + translated.keys where !resumed.contains(stream) { relisten(to: stream) }
        if inbox != nil, !resumed.contains(inboxStream) { relisten(to: inboxStream) }
        opening?.succeed()
        opening = nil
        flush()
    }

    private func relisten(to stream: String) {
        if stream == inboxStream { inbox?.reset() } else { held[stream]?.reset() }
        let isWaiting = waiting.contains { if case .listen(stream) = $0.kind { true } else { false } }
        if !isWaiting { waiting.insert(Request(kind: .listen(stream)), at: 0) }
    }

    /// Takes a frame of a stream.
    private func take(_ frame: ChatFrame, of stream: String) {
        if stream.isOfTranslations { return takeTranslations(frame, of: stream) }
        let isInbox = stream == inboxStream
        if let reason = frame.reset {
            worker.count(reset: reason)
            if isInbox { inbox?.reset() } else { held[stream]?.reset() }
        } else if frame.isSnapshot {
            if isInbox {
                inbox?.take(snapshot: frame.inbox, epoch: frame.epoch, sequence: frame.sequence)
            } else {
                held[stream]?.take(snapshot: frame.messages, epoch: frame.epoch, sequence: frame.sequence)
            }
        } else if frame.hasRows {
            if isInbox {
                let new = inbox?.take(rows: frame.inbox, epoch: frame.epoch, after: frame.after, upTo: frame.upTo)
                worker.arrived(new?.map(\.clientID) ?? [], .inInbox)
            } else {
                let new = held[stream]?.take(
                    rows: frame.messages, epoch: frame.epoch, after: frame.after, upTo: frame.upTo, gap: frame.gap)
                worker.arrived(new?.map(\.clientID) ?? [], .received)
                noteTranslated(new ?? [], of: stream)
            }
        }
    }

    private func takeTranslations(_ frame: ChatFrame, of stream: String) {
        if let reason = frame.reset { return worker.count(reset: reason) }
        let new =
            if frame.isSnapshot {
                translated[stream]?.take(snapshot: frame.translations, epoch: frame.epoch, sequence: frame.sequence)
            } else if frame.hasRows {
                translated[stream]?.take(rows: frame.translations, epoch: frame.epoch, upTo: frame.upTo)
            } else {
                [UUIDBits]?.none
            }
        worker.arrived(new ?? [], .translated)
    }

    /// Messages have arrived, some of which may be translated already.
    private func noteTranslated(_ messages: [SeenMessage], of stream: String) {
        guard translated[stream.ofTranslations] != nil else { return }
        for message in messages where message.isUnchanged {
            if translated[stream.ofTranslations]?.receive(message) == true {
                worker.arrived([message.clientID], .translated)
            }
        }
    }
}

extension String {
    fileprivate var isOfTranslations: Bool { hasPrefix("translations:") }

    /// The stream of the translations of the same conversation.
    fileprivate var ofTranslations: String { "translations:" + dropFirst("conversation:".count) }
}

extension Span<UInt8> {
    /// The names of the members of an object within the result of a request.
    fileprivate func keys(of name: String) -> [String] {
        var scanner = JSONScanner(self)
        guard scanner.enter("result"), scanner.enter(name), scanner.enterObject() else { return [] }
        var keys: [String] = []
        while let key = scanner.nextKey() {
            keys.append(key)
            scanner.skipValue()
        }
        return keys
    }
}

extension JSONScanner {
    /// Enters an object and goes to the value of one of its members.
    fileprivate mutating func enter(_ name: String) -> Bool {
        guard enterObject() else { return false }
        while let key = nextKey() {
            if key == name { return true }
            skipValue()
        }
        return false
    }
}
