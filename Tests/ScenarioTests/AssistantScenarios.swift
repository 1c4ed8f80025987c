import Foundation
import HTTPTestSupport
import SwitchboardClient
import Synchronization
import Testing

/// The assistant in the SDK, with the real server and a scripted model, which says nothing about what a real one would
/// write.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct AssistantScenarios {
    private struct Fixture {
        let ann: Switchboard
        let ben: Switchboard
        let conversation: ConversationID
        let model: ScriptedModel
        let server: RealServer
        let proxy: CuttingProxy
    }

    /// Runs `body` for Ann, to whom Ben has written, behind a proxy that can be cut.
    private func withFixture(_ body: (Fixture) async throws -> Void) async throws {
        let model = ScriptedModel()
        try await ScriptedServer.run({ await model.reply(to: $0) }) { address, _ in
            let server = try await RealServer { _ in
                """
                languages:
                  defaultLevel: full
                  model: {provider: openai, url: "\(address)/v1", name: scripted, apiKey: sk-test}
                """
            }
            let proxy = try await CuttingProxy(to: server.port)
            let (ann, annMe) = try await server.person("Ann", through: proxy.port)
            let (ben, benMe) = try await server.person("Ben")
            try await ann.friends.request(benMe.id)
            try await ben.friends.accept(annMe.id)
            let id = try await ann.conversations.direct(with: benMe.id).id
            let theirs = ben.messages(in: id)
            try await theirs.send("I bring the tent for the trip")
            _ = await state(of: theirs) { $0.messages.first?.delivery == .sent }
            try await body(Fixture(ann: ann, ben: ben, conversation: id, model: model, server: server, proxy: proxy))
            model.release()
            for client in [ann, ben] { await client.close() }
            try await proxy.close()
        }
    }

    /// Reads an answer to its end. The model goes on as its reader has seen what it has written.
    private func states(of answer: AssistantAnswer, by model: ScriptedModel) async throws -> [AssistantAnswer.State] {
        var states: [AssistantAnswer.State] = []
        for try await state in answer {
            states.append(state)
            if !state.text.isEmpty { model.words.open() }
            if state.text.hasPrefix("Ben brings") { model.rest.open() }
        }
        return states
    }

    /// Cuts the connection, and waits for the next one.
    private func reconnect(_ fixture: Fixture) async {
        let changes = await fixture.ann.connectionChanges
        fixture.proxy.cut()
        var wasCut = false
        for await isConnected in changes {
            if !isConnected { wasCut = true } else if wasCut { return }
        }
    }

    @Test func anAnswerIsSeenWhileItIsWritten() async throws {
        try await withFixture { fixture in
            let assistant = fixture.ann.assistant
            #expect(try await fixture.ann.serverDescription().languageModel?.name == "scripted")
            let answer = try await assistant.ask("Who brings the tent?", in: fixture.conversation)
            #expect(answer.run.status == .running && answer.run.conversation == fixture.conversation)
            fixture.model.hold()
            let states = try await states(of: answer, by: fixture.model)
            #expect(states.contains { $0.tool == .search })
            #expect(states.contains { !$0.isOver && $0.text.hasPrefix("Ben brings") }, "\(states.map(\.text))")
            #expect(states.dropLast().allSatisfy { !$0.isOver })
            let run = try #require(states.last?.run)
            #expect(run.status == .done && run.tools.map(\.name) == [.search] && run.model == "scripted")
            #expect(run.sentences.map(\.text) == ["Ben brings the tent.", "Have fun 🙂!"])
            #expect(run.sentences.map(\.citations.count) == [1, 0])
            let citation = try #require(run.sentences.first?.citations.first)
            #expect(citation.conversation == fixture.conversation && citation.number == 1)
            #expect(states.last?.text == "Ben brings the tent. Have fun 🙂!")

            // Whoever listens to one that is over has all of it at once: by what is known, and by the snapshot.
            #expect(try await self.states(of: assistant.answer(of: run), by: fixture.model).map(\.run) == [run])
            #expect(try await self.states(of: answer, by: fixture.model).last?.run == run)

            // A thread continues, and is paged, and goes.
            let second = try await assistant.ask("Tell me again about the tent", continuing: run.thread).finished()
            #expect(second.thread == run.thread && second.conversation == fixture.conversation)
            #expect(try await assistant.ask("The tent, in another thread?").finished().thread != run.thread)
            let (thread, runs) = try await assistant.thread(run.thread)
            #expect(thread.title == "Who brings the tent?" && runs == [run, second])
            let page = try await assistant.threads(limit: 1)
            let rest = try await assistant.threads(limit: 1, after: page.nextCursor)
            #expect(page.threads.map(\.id) != [run.thread] && rest.threads.map(\.id) == [run.thread])
            #expect(rest.nextCursor == nil)
            try await assistant.erase(run: second.id)
            #expect(try await assistant.thread(run.thread).runs.map(\.id) == [run.id])
            try await assistant.erase(thread: run.thread)
            for lookup in [second.id, run.id] {
                await #expect(throws: SwitchboardError.self) { try await assistant.run(lookup) }
            }
            let gone = await #expect(throws: SwitchboardError.self) { try await answer.finished() }
            #expect(gone?.problem?.kind == .notFound)
        }
    }

    /// The connection breaks again and again while it is written: the answer goes on.
    @Test func anAnswerOutlivesItsConnection() async throws {
        try await withFixture { fixture in
            fixture.model.hold()
            let answer = try await fixture.ann.assistant.ask("Who brings the tent?")
            var cuts = 0
            var texts: [String] = []
            var last: AssistantRun?
            for try await state in answer {
                if state.isOver { last = state.run }
                texts.append(state.text)
                guard !state.isOver, !state.text.isEmpty else { continue }
                // While it says that it looks, and while it answers: what follows is seen over another connection.
                if cuts == 0 {
                    for _ in 0..<3 { await reconnect(fixture) }
                    cuts = 1
                    fixture.model.words.open()
                } else if cuts == 1, state.text.hasPrefix("Ben brings") {
                    await reconnect(fixture)
                    cuts = 2
                    fixture.model.rest.open()
                }
            }
            #expect(cuts == 2, "\(texts)")
            #expect(last?.status == .done && last?.text == "Ben brings the tent. Have fun 🙂!", "\(texts)")
        }
    }

    /// Another run of the app, without a connection, has what was read, and not what was withdrawn or erased meanwhile.
    @Test func answersAreKeptOnTheDevice() async throws {
        try await withFixture { fixture in
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("asked-\(UUID().uuidString)")
                .path
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let app = try fixture.server.client { $0.store = .directory(folder) }
            await app.use(try #require(await fixture.ann.tokens))
            let first = try #require(await state(of: app.messages(in: fixture.conversation)) { $0.isCurrent })
            let theirs = try #require(first.messages.first?.id)
            let run = try await app.assistant.ask("Who brings the tent?").finished()
            #expect(run.sentences.map(\.text) == ["Ben brings the tent.", "Have fun 🙂!"])
            // What names no message is not kept.
            var kept = run
            (kept.sentences[1].text, kept.sentences[1].isWithdrawn) = ("", true)
            #expect(await app.assistant.storedThread(run.thread)?.runs == [kept])
            let other = try await app.assistant.ask("The tent, in another thread?").finished()
            let third = try await app.assistant.ask("And whose tent is it?").finished()
            let threads = try await app.assistant.threads().threads
            #expect(threads.map(\.id) == [third.thread, other.thread, run.thread])
            #expect(await app.assistant.storedThreads() == threads)
            await app.close()

            let offline = try reader(of: folder, at: "http://127.0.0.1:9")
            await offline.use(try #require(await fixture.ann.tokens))
            #expect(await offline.assistant.storedThreads() == threads)
            #expect(await offline.assistant.storedThread(run.thread)?.runs == [kept])
            await offline.close()

            // A list that is read before anything else proves what is gone, too.
            try await fixture.ann.assistant.erase(thread: other.thread)
            let again = try reader(of: folder, at: fixture.server.address)
            await again.use(try #require(await fixture.ann.tokens))
            _ = try await again.assistant.threads()
            #expect(await again.assistant.storedThreads().map(\.id) == [third.thread, run.thread])
            await again.close()

            // The app hears of the edit by the conversation's stream, and of threads that were erased elsewhere when it reads
            // them.
            let written = fixture.ben.messages(in: fixture.conversation)
            try await written.edit(theirs, to: "Somebody else brings the tent")
            try await fixture.ann.assistant.erase(thread: third.thread)
            let later = try reader(of: folder, at: fixture.server.address)
            await later.use(try #require(await fixture.ann.tokens))
            _ = await state(of: later.messages(in: fixture.conversation)) { state in
                state.isCurrent && state.messages.first?.text == "Somebody else brings the tent"
            }
            kept = try #require(await later.assistant.storedThread(run.thread)?.runs.first)
            #expect(kept.sentences.map(\.isWithdrawn) == [true, true] && kept.text.isEmpty)
            await #expect(throws: SwitchboardError.self) { try await later.assistant.thread(third.thread) }
            #expect(await later.assistant.storedThreads().map(\.id) == [run.thread])
            #expect(try await later.assistant.thread(run.thread).runs == [kept], "the server says the same")
            try await later.assistant.erase(run: run.id)
            #expect(await later.assistant.storedThreads().isEmpty)
            await later.close()
        }
    }

    @Test func whoLeavesKeepsNoAnswers() async throws {
        try await withFixture { fixture in
            let assistant = fixture.ann.assistant
            let me = try await fixture.ann.me()
            let group = try await fixture.ben.conversations.group(named: "Trip", members: [me.id]).id
            try await fixture.ben.messages(in: group).send("I bring the tent for all of us")
            let mine = fixture.ann.messages(in: group)
            _ = await state(of: mine) { $0.messages.last?.text == "I bring the tent for all of us" }
            let run = try await assistant.ask("Who brings the tent?", in: group).finished()
            func texts() async -> [String]? {
                await assistant.storedThread(run.thread)?.runs.flatMap(\.sentences).map(\.text)
            }
            #expect(await texts() == ["Ben brings the tent.", ""])
            // No stream is open that would tell it.
            try await mine.leave()
            #expect(await texts() == ["", ""])
        }
    }

    private func reader(of folder: String, at address: String) throws -> Switchboard {
        var options = SwitchboardOptions()
        options.store = .directory(folder)
        return try Switchboard(address, options: options)
    }

    @Test func repliesAreSuggested() async throws {
        try await withFixture { fixture in
            #expect(try await fixture.ann.serverDescription().suggestsReplies == true)
            let messages = fixture.ann.messages(in: fixture.conversation)
            let suggested = try await messages.suggestedReplies(to: 1)
            #expect(suggested.replies == ["Thank you!", "I have one, too"])
            #expect(suggested.kind == .model && suggested.engine == "scripted")
            let problem = await #expect(throws: SwitchboardError.self) { try await messages.suggestedReplies(to: 9) }
            #expect(problem?.problem?.kind == .notFound)
        }
    }

    @Test func batchesAreAnsweredAndAnswersCancelled() async throws {
        try await withFixture { fixture in
            let assistant = fixture.ann.assistant
            let batch = try await assistant.askBatch(
                ["The tent?", "And the tent of Ben?", "What tent?"], in: fixture.conversation, for: .conversation)
            #expect(batch.map(\.run.question) == ["The tent?", "And the tent of Ben?", "What tent?"])
            let runs = try await withThrowingTaskGroup(of: AssistantRun.self) { group in
                for answer in batch { group.addTask { try await answer.finished() } }
                return try await group.reduce(into: [AssistantRun]()) { $0.append($1) }
            }
            #expect(runs.allSatisfy { $0.status == .done && $0.audience == .conversation } && runs.count == 3)
            #expect(Set(runs.map(\.thread)).count == 1)
            #expect(await assistant.storedThread(runs[0].thread)?.runs.map(\.id) == batch.map(\.run.id))

            // Cancelled by the user, its reader is told.
            fixture.model.hold()
            let cancelled = try await assistant.ask("Who brings the tent?")
            for try await state in cancelled {
                if !state.isOver, !state.text.isEmpty { try await assistant.cancel(state.run.id) }
                if state.isOver { #expect(state.run.status == .cancelled && state.run.reason == .cancelled) }
            }

            // Whoever stops reading is not kept waiting for: the server cancels it. A model that begins to respond may not be
            // silent for so long.
            fixture.model.beginning.close()
            let left = try await assistant.ask("Who brings the tent?")
            let reading = Task { try await left.finished() }
            try await Task.sleep(for: .seconds(17))
            let goesOn = try await assistant.run(left.run.id)
            #expect(goesOn.status == .running, "somebody listens")
            reading.cancel()
            await #expect(throws: CancellationError.self) { try await reading.value }
            try await Task.sleep(for: .seconds(18))
            let run = try await assistant.run(left.run.id)
            #expect(run.status == .cancelled && run.reason == .noListener)
        }
    }
}

/// Whoever waits at it goes on while it is open.
private final class Latch: Sendable {
    private let state = Mutex<(isOpen: Bool, waiting: [CheckedContinuation<Void, Never>])>((true, []))

    func close() { state.withLock { $0.isOpen = false } }

    func open() {
        let waiting = state.withLock { state in
            defer { state = (true, []) }
            return state.waiting
        }
        for one in waiting { one.resume() }
    }

    func pass() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }
}

/// A scripted language model behind an endpoint like OpenAI's. It says that it looks, searches, and then answers with the
/// message about the tent, in pieces; or suggests replies.
private final class ScriptedModel: Sendable {
    /// Before it searches, after its first words.
    let words = Latch()
    /// In the middle of its answer.
    let rest = Latch()

    /// Before it responds at all.
    let beginning = Latch()

    func hold() { for latch in [words, rest] { latch.close() } }
    func release() { for latch in [beginning, words, rest] { latch.open() } }

    func reply(to request: ScriptedServer.Request) async -> ScriptedServer.Reply {
        guard request.path.hasSuffix("/chat/completions") else {
            return .response(200, #"{"data":[{"id":"scripted"}]}"#)
        }
        // Whoever wants replies is not answered in pieces.
        if !Self.wantsPieces(request.body) {
            let content = #"{\"replies\":[\"Thank you!\",\"I have one, too\"]}"#
            return .response(
                200, #"{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":"\#(content)"}}]}"#)
        }
        await beginning.pass()
        let events = [("Content-Type", "text/event-stream")]
        guard let handle = Self.handle(in: request.body) else {
            let arguments = #"{\"query\":\"tent\",\"in\":null,\"from\":null,\"after\":null,\"before\":null}"#
            return .pieces(
                [
                    Self.chunk(#"{"content":"I look. "}"#), Self.chunk(#"{"content":"One moment"}"#),
                    Self.chunk(
                        #"{"tool_calls":[{"index":0,"id":"call-0","type":"function","function":{"name":"search","#
                            + #""arguments":"\#(arguments)"}}]}"#),
                    Self.chunk("{}", ending: "tool_calls"), "data: [DONE]\n\n",
                ], events
            ) { [words] index in if index == 2 { await words.pass() } }
        }
        let pieces = ["Ben", " brings", " the tent", " [\(handle)].", " Have fun", " 🙂", "!"]
        return .pieces(
            pieces.map { Self.chunk(#"{"content":"\#($0)"}"#) } + [
                Self.chunk("{}", ending: "stop"), "data: [DONE]\n\n",
            ], events
        ) { [rest] index in if index == 3 { await rest.pass() } }
    }

    private static func wantsPieces(_ body: [UInt8]) -> Bool {
        let request = try? JSONSerialization.jsonObject(with: Data(body)) as? [String: Any]
        return request?["stream"] as? Bool == true
    }

    /// The id of the message that its search has found; nil if it has not searched yet.
    private static func handle(in body: [UInt8]) -> String? {
        guard let request = try? JSONSerialization.jsonObject(with: Data(body)) as? [String: Any],
            let turns = request["messages"] as? [[String: Any]],
            let content = turns.last(where: { $0["role"] as? String == "tool" })?["content"] as? String,
            let result = try? JSONSerialization.jsonObject(with: Data(content.utf8)) as? [String: Any],
            let messages = result["messages"] as? [[String: Any]]
        else { return nil }
        return messages.first { ($0["text"] as? String)?.contains("tent") == true }?["id"] as? String ?? "m0"
    }

    private static func chunk(_ delta: String, ending: String? = nil) -> String {
        let reason = ending.map { "\"\($0)\"" } ?? "null"
        return #"data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":\#(delta),"#
            + #""finish_reason":\#(reason)}]}"# + "\n\n"
    }
}
