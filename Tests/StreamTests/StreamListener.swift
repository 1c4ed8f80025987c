import Model
import NIOCore
import Storage

@testable import Realtime
@testable import Services

/// One user's client, which listens to everything that it may: it is sent what a session would be.
struct StreamListener {
    /// What it has of its listens to one conversation: a copy of it is where a client resumes that was away.
    struct Conversation {
        var held = HeldConversation()
        var messages: StreamSubscription?
        var marks: StreamSubscription?
        var translations: StreamSubscription?

        var isEmpty: Bool { messages == nil && marks == nil && translations == nil }
    }

    private enum Part { case messages, marks, translations }

    let user: UserID
    private let harness: StreamHarness
    private let source: any StreamSource
    var conversations: [ConversationID: Conversation] = [:]
    private(set) var inbox = HeldInbox()
    private(set) var own = HeldUser()
    private(set) var inboxPosition: Position?
    /// What of frames does not fit to what the client has.
    private(set) var violations: [String] = []
    private(set) var userListen: StreamSubscription?

    /// - Parameter demands: whether what is listened to is demanded, as of a session.
    init(_ user: UserID, in harness: StreamHarness, demands: Bool = false) {
        self.user = user
        self.harness = harness
        source = demands ? harness.streams : harness.views
    }

    /// Takes over what another client of the user has.
    mutating func copy(_ other: StreamListener) {
        (conversations, inbox, own) = (other.conversations, other.inbox, other.own)
        (inboxPosition, violations, userListen) = (other.inboxPosition, other.violations, other.userListen)
    }

    /// Begins to listen to what it does not listen to yet, where that is allowed.
    mutating func listen() async throws {
        if inboxPosition == nil { try await openInbox() }
        if userListen == nil { try await openUser() }
        for id in harness.conversations {
            var one = conversations[id] ?? Conversation()
            if one.messages == nil { try await open(id, &one, after: nil) }
            if one.marks == nil { try await openMarks(id, &one, after: nil) }
            if one.translations == nil { try await openTranslations(id, &one, after: nil) }
            conversations[id] = one.isEmpty ? nil : one
        }
    }

    /// Listens anew to everything, from the positions that it has.
    mutating func resume() async throws {
        for (id, one) in conversations {
            var resumed = one
            try await open(id, &resumed, after: one.messages?.position)
            try await openMarks(id, &resumed, after: one.marks?.position)
            try await openTranslations(id, &resumed, after: one.translations?.position)
            conversations[id] = resumed.isEmpty ? nil : resumed
        }
        try await openInbox()
        try await openUser()
    }
}

// Reading.
extension StreamListener {
    private func opening(_ stream: StreamName, after: Position?) async throws -> StreamOpening? {
        do {
            return try await source.open(stream, after: after, for: harness.principal(user))
        } catch let problem as Problem where problem.kind == .notFound || problem.kind == .forbidden {
            return nil
        }
    }

    private func open(_ id: ConversationID, _ one: inout Conversation, after: Position?) async throws {
        var after = after
        after?.held = one.held.held
        guard case .state(let state) = try await opening(.conversation(id), after: after) else {
            one.messages = nil
            return
        }
        switch state.content {
        case .snapshot(let bytes): one.held.replaceConversation(try JSONValue(bytes))
        case .rows(let rows, _, let gap):
            one.held.apply(
                try rows.map { try JSONValue($0.utf8) }, gap: gap.map { [$0.lowerBound, $0.upperBound] } ?? [])
        }
        one.messages = StreamSubscription(state: .live(state.position), view: state.view)
        if !state.isComplete { try await open(id, &one, after: state.position) }
    }

    private func openMarks(_ id: ConversationID, _ one: inout Conversation, after: Position?) async throws {
        guard case .state(let state) = try await opening(.marks(id), after: after) else {
            one.marks = nil
            return
        }
        switch state.content {
        case .snapshot(let bytes): one.held.replaceMarks(try JSONValue(bytes))
        case .rows(let rows, _, _): one.held.apply(try rows.map { try JSONValue($0.utf8) })
        }
        one.marks = StreamSubscription(state: .live(state.position), view: state.view)
    }

    private func openTranslations(_ id: ConversationID, _ one: inout Conversation, after: Position?) async throws {
        guard case .state(let state) = try await opening(.translations(id), after: after) else {
            one.translations = nil
            return
        }
        switch state.content {
        case .snapshot(let bytes): one.held.replaceTranslations(try JSONValue(bytes), at: state.position.sequence)
        case .rows(let rows, _, _): one.held.apply(try rows.map { try JSONValue($0.utf8) })
        }
        one.translations = StreamSubscription(state: .live(state.position), view: state.view)
    }

    private mutating func openInbox() async throws {
        guard case .state(let state) = try await opening(.inbox(user), after: inboxPosition) else { return }
        try applyInbox(state)
    }

    private mutating func applyInbox(_ state: StateOpening) throws {
        switch state.content {
        case .snapshot(let bytes): inbox.replace(try JSONValue(bytes))
        case .rows(let rows, let after, _):
            if after != inboxPosition?.sequence { violations.append("inbox: rows after \(after)") }
            inbox.apply(try rows.map { try JSONValue($0.utf8) })
        }
        inboxPosition = state.position
        for id in conversations.keys {
            guard let membership = inbox.memberships[id.text] else { continue }
            if case .null = membership {
                conversations[id]?.held.clear()
            } else {
                conversations[id]?.held.keep(spans: membership["spans"])
            }
        }
    }

    private mutating func openUser() async throws {
        let opening = try await opening(.user(user), after: userListen?.position)
        switch opening {
        case .snapshot(let bytes, let position), .reset(_, let bytes, let position):
            own.replace(try JSONValue(bytes))
            userListen = StreamSubscription(state: .live(position))
        case .changes(let changes, let position):
            for change in changes { own.apply(change.type, try JSONValue(change.data.utf8)) }
            userListen = StreamSubscription(state: .live(position))
        default: userListen = nil
        }
    }
}

// What is published.
extension StreamListener {
    mutating func receive(_ update: ConversationUpdate) async throws {
        let id = update.conversation
        if var one = conversations[id] {
            for change in update.listenChanges where change.user == user {
                try await apply(change, to: &one, id)
            }
            if !update.marks.isEmpty {
                try await receive(StreamBatch(marksOf: update), of: .marks, id, &one)
            }
            if let batch = StreamBatch(translationsOf: update) {
                try await receive(batch, of: .translations, id, &one)
            }
            if update.upTo > update.after { try await receive(StreamBatch(update), of: .messages, id, &one) }
            conversations[id] = one.isEmpty ? nil : one
        }
    }

    /// Rows of the inbox have moved.
    mutating func receive(_ notice: InboxNotice) async throws {
        guard let position = inboxPosition, notice.position.sequence > position.sequence else { return }
        try applyInbox(
            try await harness.streams.moved(
                notice.conversations, in: user, after: position.sequence, upTo: notice.position))
    }

    mutating func receive(_ changes: [Change]) async throws {
        for batch in StreamBatch.batches(of: changes) where batch.stream == .user(user) {
            guard var listen = userListen else { continue }
            switch listen.receive(batch, isCongested: false, holdingAtMost: 0) {
            case .nothing: break
            case .send(var sequence):
                let frame = try JSONValue(batch.frame(after: sequence, for: nil).text.readableBytesView)
                for change in frame["changes"]?.items ?? [] {
                    sequence += 1
                    if change["seq"]?.integer != sequence { violations.append("\(change) is not \(sequence)") }
                    own.apply(change["type"]?.string ?? "", change["data"] ?? .null)
                }
            case .read: return try await openUser()
            }
            userListen = listen
        }
    }

    /// As after the user has changed whether they send receipts.
    mutating func rereadMarks() async throws {
        for (id, one) in conversations where one.marks != nil {
            var reread = one
            try await openMarks(id, &reread, after: nil)
            conversations[id] = reread
        }
    }

    /// As after the user has changed how they read.
    mutating func rereadTranslations() async throws {
        for (id, one) in conversations where one.translations != nil {
            var reread = one
            try await openTranslations(id, &reread, after: nil)
            conversations[id] = reread
        }
    }

    private func apply(_ change: ListenChange, to one: inout Conversation, _ id: ConversationID) async throws {
        switch (change.stream, change.kind) {
        case (.conversation, .drop): one.messages = nil
        case (.marks, .drop): one.marks = nil
        case (.translations, .drop): one.translations = nil
        case (.conversation, .reread) where one.messages != nil: try await open(id, &one, after: nil)
        case (.marks, .reread) where one.marks != nil: try await openMarks(id, &one, after: nil)
        case (.translations, .reread) where one.translations != nil:
            try await openTranslations(id, &one, after: nil)
        default: break
        }
    }

    /// A frame goes on where the client is, and says up to where it goes. Of marks and translations, each has all up to its
    /// counter.
    private mutating func check(_ frame: JSONValue, of batch: StreamBatch, _ part: Part, after sequence: Int64) {
        let (after, upTo) = (frame["after"]?.integer, frame["upTo"]?.integer)
        let isNext = part == .messages ? after == sequence : after == 0
        if !isNext || upTo != batch.last || frame["epoch"]?.string != batch.epoch {
            violations.append("\(batch.stream): after \(sequence), frame \(frame)")
        }
    }

    private mutating func receive(
        _ batch: StreamBatch, of part: Part, _ id: ConversationID, _ one: inout Conversation
    ) async throws {
        let path: WritableKeyPath<Conversation, StreamSubscription?> =
            switch part {
            case .messages: \.messages
            case .marks: \.marks
            case .translations: \.translations
            }
        guard var listen = one[keyPath: path] else { return }
        let delivery = listen.receive(batch, isCongested: false, holdingAtMost: 0)
        one[keyPath: path] = listen
        switch delivery {
        case .nothing: return
        case .send(let sequence):
            let frame = try JSONValue(batch.frame(after: sequence, for: listen.view).text.readableBytesView)
            one.held.apply(frame["rows"]?.items ?? [])
            check(frame, of: batch, part, after: sequence)
        case .read(let position):
            switch part {
            case .messages: try await open(id, &one, after: position)
            case .marks: try await openMarks(id, &one, after: position)
            case .translations: try await openTranslations(id, &one, after: position)
            }
        }
    }
}

extension StreamSubscription {
    var position: Position? { if case .live(let position) = state { position } else { nil } }
}
