import Foundation
import Testing

@testable import SwitchboardClient

/// What a client keeps of answers that it receives, and shows without a connection.
struct KeptAnswersTests {
    private typealias Fixture = StoredAnswersFixture

    private func texts(_ assistant: Assistant, _ thread: AssistantThreadID = "t1") async -> [String?]? {
        await assistant.storedThread(thread)?.runs.flatMap(\.sentences).map { $0.isWithdrawn ? nil : $0.text }
    }

    @Test(.timeLimit(.minutes(1))) func anAnswerThatHasEndedIsKept() async throws {
        let switchboard = try await Fixture.client()
        let (assistant, realtime) = (switchboard.assistant, switchboard.realtime)
        var reader = assistant.answer(of: Fixture.run("r1", status: .running)).makeAsyncIterator()
        _ = try await reader.next()
        #expect(await assistant.storedThreads().isEmpty)
        await realtime.deliver(
            .run(.done(Fixture.run("r1", Fixture.sentence("Ben brings the tent.", 5)))), of: "run:r1")
        _ = try await reader.next()
        #expect(await assistant.storedThreads().map(\.id) == ["t1"])
        #expect(await texts(assistant) == ["Ben brings the tent."])
        #expect(await assistant.storedThread("t2") == nil)
        // What is erased is not taken again from a response that was made before.
        await realtime.removeRun("r1", of: "u1")
        await realtime.keep(Fixture.run("r1"), for: "u1")
        await realtime.keep(Fixture.thread("t1"), [Fixture.run("r1"), Fixture.run("r2")], .init(owner: "u1"))
        #expect(await assistant.storedThread("t1")?.runs.map(\.id) == ["r2"])
        await realtime.removeThread("t1", of: "u1")
        await realtime.keep(Fixture.run("r2"), for: "u1")
        await realtime.keep(AssistantThreadPage(threads: [Fixture.thread("t1")]), isFirst: true, .init(owner: "u1"))
        #expect(await assistant.storedThreads().isEmpty)
        // Nor what another user has asked for.
        await realtime.keep(Fixture.run("r3", in: "t3"), for: "u2")
        #expect(await assistant.storedThreads().isEmpty)
        await realtime.keep(Fixture.run("r3", in: "t3"), for: "u1")
        await realtime.eraseStore()
        await realtime.openStore(for: "u1")
        #expect(await assistant.storedThreads().isEmpty)
        await switchboard.close()
    }

    @Test(.timeLimit(.minutes(1))) func aRunThatIsGoneIsRemoved() async throws {
        let switchboard = try await Fixture.client()
        let (assistant, realtime) = (switchboard.assistant, switchboard.realtime)
        await realtime.keep(Fixture.thread("t1", runs: 2), [Fixture.run("r1"), Fixture.run("r2")], .init())
        var reader = assistant.answer(of: Fixture.run("r1", status: .running)).makeAsyncIterator()
        _ = try await reader.next()
        let problem = try JSON.decode(Problem.self, from: #"{"type":"not_found"}"#.utf8)
        await realtime.deliver(.closed(.refused(problem)), of: "run:r1")
        #expect(await assistant.storedThread("t1")?.runs.map(\.id) == ["r2"])
        // One whose connection ended is not.
        reader = assistant.answer(of: Fixture.run("r2", status: .running)).makeAsyncIterator()
        _ = try await reader.next()
        await realtime.deliver(.closed(.streamClosed), of: "run:r2")
        #expect(await assistant.storedThread("t1")?.runs.map(\.id) == ["r2"])
        await switchboard.close()
    }

    @Test(.timeLimit(.minutes(1)), arguments: [SwitchboardError.streamClosed, .signedOut])
    func whatRestsOnAConversationThatIsClosedGoes(error: SwitchboardError) async throws {
        let switchboard = try await Fixture.client()
        let (assistant, realtime) = (switchboard.assistant, switchboard.realtime)
        await realtime.keep(
            Fixture.run("r1", Fixture.sentence("one", 5), Fixture.sentence("two", 5, in: "c2")), for: "u1")
        let signals = await realtime.signals(of: "c1")
        await realtime.deliver(.closed(error), ofKeyed: "conversation:c1")
        #expect(await texts(assistant) == [error == .streamClosed ? nil : "one", "two"])
        withExtendedLifetime(signals) {}
        await switchboard.close()
    }

    /// Answers of a batch may end in any order.
    @Test(.timeLimit(.minutes(1))) func runsAreInTheOrderOfTheirQuestions() async throws {
        let switchboard = try await Fixture.client()
        let (assistant, realtime) = (switchboard.assistant, switchboard.realtime)
        func ids() async -> [AssistantRunID]? { await assistant.storedThread("t1")?.runs.map(\.id) }
        let batch = ["r1", "r2", "r3"].map { Fixture.run($0, status: .running) }
        await realtime.order(batch)
        for run in ["r3", "r1"] { await realtime.keep(Fixture.run(.init(run)), for: "u1") }
        #expect(await ids() == ["r1", "r3"])
        // A thread has the order, too: also of those that are still written.
        let thread = [Fixture.run("r0"), Fixture.run("r1"), Fixture.run("r2", status: .running), Fixture.run("r3")]
        await realtime.keep(Fixture.thread("t1", runs: 4), thread, .init(owner: "u1"))
        await realtime.keep(Fixture.run("r2"), for: "u1")
        #expect(await ids() == ["r0", "r1", "r2", "r3"])
        await switchboard.close()
    }

    /// A page proves what is gone as far as it goes, with what was erased meanwhile.
    @Test(.timeLimit(.minutes(1))) func whatIsErasedIsStillOnItsPage() async throws {
        let switchboard = try await Fixture.client()
        let (assistant, realtime) = (switchboard.assistant, switchboard.realtime)
        let threads = [Fixture.thread("t2", at: 2), Fixture.thread("t1", at: 1)]
        await realtime.keep(AssistantThreadPage(threads: threads), isFirst: true, .init())
        let before = await realtime.answersBefore()
        await realtime.removeThread("t2", of: "u1")
        let page = AssistantThreadPage(threads: [threads[0]], nextCursor: "more")
        await realtime.keep(page, isFirst: true, before)
        #expect(await assistant.storedThreads().map(\.id) == ["t1"])
        await switchboard.close()
    }

    /// What is stored is known before anything was read.
    @Test(.timeLimit(.minutes(1))) func theStoreIsOpenedToKnowWhatIsGone() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("answers-\(newUUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let token = "x.\(Data(#"{"sub":"ann"}"#.utf8).base64EncodedString()).x"
        StoreDirectory(folder.path).remember("u1", of: try #require(TokenSubject(of: token)))
        var options = SwitchboardOptions()
        options.store = .directory(folder.path)
        let switchboard = try Switchboard("http://127.0.0.1:1", options: options)
        await switchboard.credentials.use(.provider { token })
        #expect(await switchboard.realtime.answersBefore().owner == "u1")
        await switchboard.close()
    }

    /// An answer that was read before a message was hidden, and comes after that.
    @Test(.timeLimit(.minutes(1))) func whatIsHiddenIsNotTakenAgain() async throws {
        let switchboard = try await Fixture.client()
        let (assistant, realtime) = (switchboard.assistant, switchboard.realtime)
        let run = Fixture.run(
            "r1", Fixture.sentence("one", 5), Fixture.sentence("two", 6), Fixture.sentence("three", 7))
        await realtime.keep(run, for: "u1")
        await realtime.keep(.hidden(5), in: "c1")
        await realtime.keep(
            .own(OwnMessage(number: 6, starred: false, hidden: true, reacted: [], counter: 1)), in: "c1")
        await realtime.keep(Fixture.thread("t1"), [run], .init(owner: "u1"))
        #expect(await texts(assistant) == [nil, nil, "three"])
        await realtime.withdrawAnswers(in: "c1")
        #expect(await texts(assistant) == [nil, nil, nil])
        await switchboard.close()
    }

    /// Changes that wait to be sent are shown as done.
    @Test(.timeLimit(.minutes(1))) func whatWaitsToBeRemovedIsNotShown() async throws {
        let switchboard = try await Fixture.client()
        let (assistant, realtime) = (switchboard.assistant, switchboard.realtime)
        let run = Fixture.run(
            "r1", Fixture.sentence("one", 5), Fixture.sentence("two", 6), Fixture.sentence("three", 5, in: "c2"),
            Fixture.sentence("six", 6, 5))
        await realtime.keep(run, for: "u1")
        let messages = switchboard.messages(in: "c1")
        try await messages.hide(5)
        #expect(await texts(assistant) == [nil, "two", "three", nil])
        try await messages.clear()
        #expect(await texts(assistant) == [nil, nil, "three", nil])
        try await switchboard.messages(in: "c2").pin(5)
        #expect(await texts(assistant)?[2] == "three")
        await switchboard.close()
    }
}
