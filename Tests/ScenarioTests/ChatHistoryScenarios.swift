import Foundation
import NIOCore
import TestSupport
import Testing
import Wire

@testable import SwitchboardClient

/// Several people write at once, while their connections break, their apps end and the server crashes. In the end all of them
/// see the same, on the devices that went through it and on new ones, and it is what they have written.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct ChatHistoryScenarios {
    private static let acts = 60

    @Test func everybodySeesWhatWasWritten() async throws {
        let seed = freshSeed()
        var random = SeededRandom(seed: seed)
        let server = try await RealServer()
        let writers = try await Self.writers(["Ann", "Ben", "Cleo"], of: server)
        let cutting = Task {
            while !Task.isCancelled {
                try await Task.sleep(for: .milliseconds(.random(in: 50...600)))
                writers.randomElement()?.proxy.cut()
            }
        }
        let crashing = Task {
            for _ in 0..<2 {
                try await Task.sleep(for: .seconds(2))
                try await server.crashAndRestart()
            }
        }
        let ids = writers.map(\.me.id)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in writers {
                let seed = random.next()
                group.addTask { try await writer.write(Self.acts, seed: seed, among: ids) }
            }
            try await group.waitForAll()
        }
        try await crashing.value
        cutting.cancel()

        var history: [UserID: [ChatAct]] = [:]
        for writer in writers {
            try await writer.settle()
            history[writer.me.id] = await writer.history
        }
        var found: [String] = []
        for writer in writers {
            let shown = try await writer.shownByNewDevice(of: server)
            found += ChatHistoryChecker(history, as: writer.me.id, shown: shown).problems.map {
                "\(writer.me.displayName): \($0)"
            }
            try await eventually {
                try await writer.shown() == shown
            } seen: {
                "\(writer.me.displayName), seed \(seed): held \(try await writer.shown()), new \(shown)"
            }
        }
        #expect(found == [], "seed \(seed)")
        for writer in writers { try await writer.end() }
        withExtendedLifetime(server) {}
    }

    private static func writers(_ names: [String], of server: RealServer) async throws -> [ChatWriter] {
        var writers: [ChatWriter] = []
        for name in names { writers.append(try await ChatWriter(name, server)) }
        for other in writers.dropFirst() {
            try await other.client.friends.request(writers[0].me.id)
            try await writers[0].client.friends.accept(other.me.id)
        }
        let members = writers.dropFirst().map(\.me.id)
        let group = try await writers[0].client.conversations.group(named: "Tea", members: members).id
        for writer in writers { await writer.begin(in: group) }
        return writers
    }
}

/// What somebody has done, in their order.
enum ChatAct: Hashable {
    case sent(Message.ID, String, mentions: Set<UserID>, replyTo: Message.ID?, thread: Int?)
    case edited(Message.ID, String)
    case deleted(Message.ID)
    case reacted(Int, String, isOn: Bool)
    case pinned(Int, isOn: Bool)
    case read(Int)

    func makes(_ message: Message.ID) -> Bool {
        if case .sent(message, _, _, _, _) = self { true } else { false }
    }
}

/// Somebody with one device, which keeps what it knows, behind a proxy.
actor ChatWriter {
    private static let emoji = ["👍", "🎉"]

    let me: Me
    nonisolated let proxy: CuttingProxy
    private let server: RealServer
    private let folder: String
    private(set) var client: Switchboard
    private(set) var history: [ChatAct] = []
    private var conversation: ConversationID?

    init(_ name: String, _ server: RealServer) async throws {
        self.server = server
        // So that many a write has no response yet when the connection is cut.
        let proxy = try await CuttingProxy(to: server.port, roundTrip: .milliseconds(60))
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("history-\(UUID().uuidString)").path
        (self.proxy, self.folder) = (proxy, folder)
        client = try server.client(through: proxy.port) { $0.store = .directory(folder) }
        me = try await client.signUp(
            email: "\(name)-\(UUID().uuidString)@example.org", password: "correct horse", displayName: name)
    }

    func begin(in conversation: ConversationID) { self.conversation = conversation }

    private var chat: Messages {
        get throws { client.messages(in: try #require(conversation)) }
    }

    func write(_ count: Int, seed: UInt64, among people: [UserID]) async throws {
        var random = SeededRandom(seed: seed)
        for index in 0..<count {
            if index % 20 == 19 { try await restart() }
            let held = try #require(await state(of: try chat) { $0.conversation != nil }).messages
            try await act(index, held, people, &random)
            try await Task.sleep(for: .milliseconds(Int64.random(in: 0...100, using: &random)))
        }
    }

    private func act(
        _ index: Int, _ held: [ChatMessage], _ people: [UserID], _ random: inout SeededRandom
    ) async throws {
        let chat = try chat
        let stored = held.filter { $0.number != nil && $0.text != nil && $0.delivery == .sent }
        let own = held.filter { $0.author == me.id && $0.text != nil }
        let one = stored.randomElement(using: &random)
        switch Int.random(in: 0..<12, using: &random) {
        case 5:
            guard let mine = own.randomElement(using: &random) else { return }
            let text = "\(me.displayName) \(index), edited"
            try await chat.edit(mine.id, to: text)
            history.append(.edited(mine.id, text))
        case 6:
            guard let mine = own.randomElement(using: &random), Int.random(in: 0..<3, using: &random) == 0 else {
                return
            }
            try await chat.delete(mine.id)
            history.append(.deleted(mine.id))
        case 7, 8:
            guard let number = one?.number, let emoji = Self.emoji.randomElement(using: &random) else { return }
            let isOn = Bool.random(using: &random)
            if isOn {
                try await chat.react(emoji, to: number)
            } else {
                try await chat.removeReaction(emoji, from: number)
            }
            history.append(.reacted(number, emoji, isOn: isOn))
        case 9:
            guard let number = one?.number else { return }
            let isOn = Bool.random(using: &random)
            if isOn { try await chat.pin(number) } else { try await chat.unpin(number) }
            history.append(.pinned(number, isOn: isOn))
        case 10:
            // Needs a connection.
            guard let number = one?.number, (try? await chat.markRead(upTo: number)) != nil else { return }
            history.append(.read(number))
        case 11:
            guard let root = stored.filter({ $0.thread == nil }).randomElement(using: &random)?.number else { return }
            let text = "\(me.displayName) \(index), in the thread of \(root)"
            let id = try await chat.send(text, inThreadOf: root)
            history.append(.sent(id, text, mentions: [], replyTo: nil, thread: root))
        default:
            let mentioned = people.filter { _ in Int.random(in: 0..<4, using: &random) == 0 }
            let text = (["\(me.displayName) \(index)"] + mentioned.map { "<@\($0.rawValue)>" }).joined(separator: " ")
            let root =
                Bool.random(using: &random) ? stored.filter { $0.thread == nil }.randomElement(using: &random) : nil
            let id = try await chat.send(text, replyTo: root?.id)
            history.append(.sent(id, text, mentions: Set(mentioned), replyTo: root?.id, thread: nil))
        }
    }

    /// The app ends, whatever it was doing, and begins again.
    private func restart() async throws {
        let tokens = try #require(await client.tokens)
        await client.close()
        let folder = folder
        client = try server.client(through: proxy.port) { $0.store = .directory(folder) }
        await client.use(tokens)
    }

    /// Waits until everything is sent, or refused. What the server refuses has to be about a message that was deleted meanwhile:
    /// it is no part of the history.
    func settle() async throws {
        let realtime = client.realtime
        try await eventually {
            await realtime.queued.allSatisfy { $0.failure != nil }
        } seen: {
            await realtime.queued
        }
        let (shown, chat) = (try await shown(), try chat)
        for entry in await realtime.queued {
            let subject = (entry.target ?? entry.thread ?? entry.replyTo).flatMap { subject in
                shown.messages.first { line in
                    switch subject {
                    case .number(let number): line.number == number
                    case .waiting(let id): line.id.clientID == id
                    }
                }
            }
            #expect(subject?.isDeleted == true, "\(me.displayName): \(entry)")
            let id = Message.ID(author: me.id, clientID: entry.clientID)
            if entry.isMessage { history.removeAll { $0.makes(id) } }
            try await chat.discard(WaitingWrite.ID(clientID: entry.clientID))
            try await chat.discard(id)
        }
    }

    func shown() async throws -> ShownChat { try await ShownChat(of: try #require(conversation), client) }

    func shownByNewDevice(of server: RealServer) async throws -> ShownChat {
        let device = try server.client()
        await device.use(try #require(await client.tokens))
        let shown = try await ShownChat(of: try #require(conversation), device)
        await device.close()
        return shown
    }

    func end() async throws {
        await client.close()
        try await proxy.close()
        try? FileManager.default.removeItem(atPath: folder)
    }
}

/// What a chat and its row in the list show, once all of it was loaded.
struct ShownChat: Hashable {
    struct Line: Hashable {
        var number: Int
        var id: Message.ID
        var text: String?
        var isDeleted: Bool
        var isNotice: Bool
        var replyTo: Int?
        var thread: Int?
        var replies: Int
        var reactions: [String: Set<UserID>]
    }

    var messages: [Line]
    var pins: [Int]
    var read: Int
    var others: [UserID: ConversationMarks.Shown]
    var unread: Int
    var mentions: Int

    init(of id: ConversationID, _ client: Switchboard) async throws {
        let chat = client.messages(in: id)
        var iterator = chat.makeAsyncIterator()
        var current: Messages.State?
        while let state = await iterator.next() {
            guard state.isCurrent else { continue }
            current = state
            guard state.hasEarlier else { break }
            try await chat.loadEarlier(limit: 100)
        }
        let state = try #require(current)
        let rows = try #require(await list(of: client) { list in list.isCurrent && list.rows.contains { $0.id == id } })
            .rows
        let row = try #require(rows.first { $0.id == id })
        messages = state.messages.compactMap { one in
            one.message.map { message in
                Line(
                    number: message.number, id: message.id, text: one.text, isDeleted: one.isDeleted,
                    isNotice: message.kind == .notice, replyTo: message.replyTo, thread: message.thread,
                    replies: message.replies ?? 0, reactions: (message.reactions ?? [:]).mapValues { Set($0.users) })
            }
        }
        pins = state.conversation?.pins ?? []
        (read, others) = (state.marks.read, state.marks.others.filter { $0.value != .init() })
        (unread, mentions) = (row.unread ?? 0, row.mentions ?? 0)
    }
}
