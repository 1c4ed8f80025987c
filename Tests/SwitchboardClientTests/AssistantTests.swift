import Foundation
import NIOPosix
import Testing

@testable import SwitchboardClient

/// Answers of the assistant: their documents and frames, their text while it is written, and who listens to them.
struct AssistantTests {
    private static func json(_ status: String, sentences: String = "[]", more: String = "") -> String {
        """
        {"id":"r1","thread":"t1","question":"Who brings the tent?","conversation":"c1","for":"me","status":"\(status)",\
        "sentences":\(sentences),"tools":[{"name":"search"},{"name":"weather"}],"model":"m",\
        "cost":{"calls":2,"characters":1200},"askedAt":"2026-11-27T10:00:00.000Z"\(more)}
        """
    }

    private static let sentences = """
        [{"text":"Ben brings the tent.","citations":[{"conversation":"c1","number":42,"of":42}]},\
        {"text":"","citations":[],"withdrawn":true},{"text":"Ann cooks.","citations":[],"startsLine":true},\
        {"text":"Have fun!","citations":[]}]
        """

    private func run(_ status: String = "running", sentences: String = "[]", more: String = "") throws -> AssistantRun {
        try JSON.decode(AssistantRun.self, from: Self.json(status, sentences: sentences, more: more).utf8)
    }

    private func frame(_ text: String) throws -> ServerFrame { try ServerFrame(Array(text.utf8)) }

    // MARK: Documents and frames

    @Test func readsARunOfANewerServer() throws {
        let run = try run("pondering", sentences: Self.sentences, more: #","reason":"bored","mood":3"#)
        #expect(run.status == AssistantRun.Status(rawValue: "pondering") && run.reason?.rawValue == "bored")
        #expect(run.tools.map(\.name) == [.search, AssistantRun.Tool(rawValue: "weather")])
        #expect(run.audience == .me && run.cost.calls == 2 && run.endedAt == nil)
        #expect(run.sentences[0].citations == [.init(conversation: "c1", number: 42, of: 42)])
        #expect(run.sentences.map(\.isWithdrawn) == [false, true, false, false])
        #expect(run.sentences.map(\.startsLine) == [false, false, true, false])
        #expect(run.text == "Ben brings the tent.\nAnn cooks. Have fun!")
        let again = try JSON.decode(AssistantRun.self, from: try JSON.encode(run))
        #expect(again == run)
    }

    @Test func readsThreads() throws {
        let text =
            #"{"threads":[{"id":"t1","title":"Who","createdAt":"2026-11-27T10:00:00Z","#
            + #""updatedAt":"2026-11-27T10:00:01.500Z","runs":3}],"nextCursor":"9.t1"}"#
        let page = try JSON.decode(AssistantThreadPage.self, from: text.utf8)
        #expect(page.threads.map(\.runs) == [3] && page.nextCursor == "9.t1")
    }

    @Test func understandsTheFramesOfAnAnswer() throws {
        let snapshot = try frame(#"{"stream":"run:r1","snapshot":{"run":\#(Self.json("running")),"text":"Ben"}}"#)
        guard case .snapshot("run:r1", .run(let document), let position) = snapshot else {
            Issue.record("\(snapshot)")
            return
        }
        #expect(document.text == "Ben" && document.run.status == .running && position.sequence == 0)
        func event(_ text: String) throws -> RunEvent? {
            guard case .run("run:r1", let event) = try frame(#"{"stream":"run:r1","event":\#(text)}"#) else {
                return nil
            }
            return event
        }
        #expect(try event(#"{"type":"text","from":3,"text":" brings"}"#) == .text(from: 3, " brings"))
        #expect(try event(#"{"type":"tool","name":"search"}"#) == .tool(.search))
        #expect(try event(#"{"type":"done","run":\#(Self.json("done"))}"#) == .done(try run("done")))
        #expect(try event(#"{"type":"mood","mood":1}"#) == .unknown(type: "mood"))
        #expect(throws: SwitchboardError.self) { try event(#"{"type":"text","text":"no offset"}"#) }
        #expect(!StreamName.isDurable("run:r1") && !StreamName.isKeyed("run:r1"))
    }

    // MARK: Text

    @Test func replacesTextFromAnOffsetInUTF16() throws {
        var progress = AnswerProgress(try run())
        #expect(progress.apply(.text(from: 0, "Olá 🙂")) == .changed)
        #expect(progress.apply(.text(from: 6, "!")) == .changed && progress.state.text == "Olá 🙂!")
        #expect(progress.apply(.text(from: 4, "Ben")) == .changed && progress.state.text == "Olá Ben")
        // A mark that belongs to the letter before it.
        #expect(progress.apply(.text(from: 7, "\u{301}")) == .changed && progress.state.text.utf16.count == 8)
        #expect(progress.apply(.text(from: 8, ".")) == .changed && progress.state.text == "Olá Ben\u{301}.")
        #expect(progress.apply(.text(from: 0, "")) == .changed && progress.state.text.isEmpty)
        #expect(progress.apply(.text(from: 0, "")) == .nothing)
    }

    @Test func noticesThatTextWasLost() throws {
        var progress = AnswerProgress(try run())
        #expect(progress.apply(.text(from: 0, "Ben ")) == .changed)
        #expect(progress.apply(.text(from: 11, "tent")) == .gap && progress.state.text == "Ben ")
        #expect(progress.apply(.text(from: -1, "x")) == .nothing && progress.apply(.text(from: .max, "x")) == .gap)
        #expect(progress.apply(.unknown(type: "mood")) == .nothing)
        #expect(progress.apply(RunSnapshot(run: try run(), text: "Ben brings the tent")) == .changed)
        #expect(progress.apply(.text(from: 19, ".")) == .changed && progress.state.text == "Ben brings the tent.")
    }

    @Test func neverFailsInsideACharacter() throws {
        var progress = AnswerProgress(try run())
        _ = progress.apply(.text(from: 0, "🙂🙂"))
        #expect(progress.apply(.text(from: 1, "x")) == .changed)
        #expect(progress.state.text.hasSuffix("x"))
    }

    @Test func saysWhichToolIsUsed() throws {
        var progress = AnswerProgress(try run())
        #expect(progress.apply(.text(from: 0, "I look.")) == .changed)
        #expect(progress.apply(.tool(.search)) == .changed && progress.state.tool == .search)
        #expect(progress.apply(.tool(.search)) == .nothing)
        // What was written before is still there until it begins anew.
        #expect(progress.state.text == "I look.")
        #expect(progress.apply(.text(from: 0, "Ben")) == .changed && progress.state.tool == nil)
        #expect(progress.state.text == "Ben" && !progress.state.isOver)
    }

    @Test func endsOnce() throws {
        let done = try run("done", sentences: Self.sentences)
        var progress = AnswerProgress(try run())
        _ = progress.apply(.tool(.search))
        #expect(progress.apply(.done(done)) == .ended)
        #expect(progress.state == .init(text: done.text, tool: nil, run: done) && progress.state.isOver)
        #expect(progress.apply(.text(from: 0, "more")) == .nothing && progress.apply(.done(done)) == .nothing)
        #expect(progress.apply(RunSnapshot(run: try run(), text: "more")) == .nothing)
        // By the snapshot, of one that ended before anybody listened.
        var late = AnswerProgress(try run())
        #expect(late.apply(RunSnapshot(run: done, text: "")) == .ended && late.state.text == done.text)
    }

    /// Pieces of which some are lost, and snapshots after gaps: it ends with the writer's text.
    @Test(arguments: 0..<200 as Range<UInt64>)
    func endsWithWhatWasWritten(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var progress = AnswerProgress(try run())
        var written = ""
        for _ in 0..<100 {
            let piece = ["a", "é", "🙂", "e\u{301}", "👩‍👩‍👧", " and "].randomElement(using: &random) ?? ""
            let start = written.utf16.count
            written += piece
            guard Int.random(in: 0..<4, using: &random) > 0 else { continue }
            if progress.apply(.text(from: start, piece)) == .gap {
                #expect(written.hasPrefix(progress.state.text) || written.utf16.starts(with: progress.state.text.utf16))
                if Bool.random(using: &random) { _ = progress.apply(RunSnapshot(run: try run(), text: written)) }
            }
        }
        if progress.state.text.utf16.count < written.utf16.count {
            #expect(progress.apply(.text(from: written.utf16.count, "")) == .gap)
            _ = progress.apply(RunSnapshot(run: try run(), text: written))
        }
        #expect(progress.state.text == written, "seed \(seed)")
    }

    // MARK: Listening

    private let greeting = Greeting(session: "s1", user: "u1", endpoint: "e1", heartbeat: 20, resumed: nil)

    /// Opens the machine's connection, and returns what it sends after the hello.
    private func connect(_ machine: inout EndpointMachine, at now: Int64) throws -> [ClientFrame] {
        var actions: [EndpointMachine.Action] = []
        machine.start(at: now, into: &actions)
        machine.advance(to: now, into: &actions)
        machine.opened(token: "t", lifetime: nil, at: now, into: &actions)
        guard case .hello(let id, _, _, _, let resume)? = actions.sent.first else { throw SwitchboardError.closed }
        #expect(resume["run:r1"] == nil)
        machine.receive(.result(id: id, ResultFrame(greeting: greeting, frame: [])), at: now, into: &actions)
        return Array(actions.sent.dropFirst())
    }

    @Test func listensAnewAfterAGapAndAReconnection() throws {
        var machine = EndpointMachine(endpoint: "e1", secret: "secret", seed: 1)
        var actions: [EndpointMachine.Action] = []
        machine.listen("run:r1", into: &actions)
        let frames = try connect(&machine, at: 0)
        guard case .listen(let id, "run:r1", nil)? = frames.first(where: { $0.stream == "run:r1" }) else {
            Issue.record("\(frames)")
            return
        }
        // While it is being opened, a gap changes nothing.
        machine.listenAnew("run:r1", into: &actions)
        #expect(actions.sent.isEmpty)
        let snapshot = RunSnapshot(run: try run(), text: "Ben")
        let none = StreamPosition(epoch: "", sequence: 0)
        machine.receive(.snapshot(stream: "run:r1", .run(snapshot), none), at: 1, into: &actions)
        machine.receive(.result(id: id, ResultFrame(frame: [])), at: 1, into: &actions)
        actions = []
        machine.listenAnew("run:r1", into: &actions)
        machine.listenAnew("run:r1", into: &actions)
        #expect(actions.sent.map(\.stream) == ["run:r1"], "once")
        // The same snapshot is delivered again: it has no position.
        machine.receive(.snapshot(stream: "run:r1", .run(snapshot), none), at: 2, into: &actions)
        guard case .deliver("run:r1", .snapshot(.run(snapshot), _))? = actions.last else {
            Issue.record("\(actions)")
            return
        }
        actions = []
        machine.lost(at: 3, into: &actions)
        machine.listenAnew("run:r1", into: &actions)
        #expect(actions.sent.isEmpty)
        let again = try connect(&machine, at: 60_000)
        #expect(again.contains { $0.stream == "run:r1" })
        // Of a stream that nobody listens to, nothing is delivered.
        machine.unlisten("run:r1", into: &actions)
        actions = []
        machine.receive(.run(stream: "run:r1", .tool(.search)), at: 60_001, into: &actions)
        #expect(actions.isEmpty)
    }

    /// A client whose connection never opens, since its tokens take longer than any test.
    private func client() async throws -> Switchboard {
        let switchboard = try Switchboard("http://127.0.0.1:1")
        await switchboard.credentials.use(
            .provider {
                try await Task.sleep(for: .seconds(60))
                return "token"
            })
        return switchboard
    }

    @Test(.timeLimit(.minutes(1))) func readersSeeTheNewestAndTheLast() async throws {
        let switchboard = try await client()
        let (realtime, done) = (switchboard.realtime, try run("done", sentences: Self.sentences))
        let answer = switchboard.assistant.answer(of: try run())
        var first = answer.makeAsyncIterator()
        #expect(try await first.next() == .init(text: "", tool: nil, run: try run()))
        await realtime.deliver(.run(.tool(.search)), of: "run:r1")
        #expect(try await first.next()?.tool == .search)
        await realtime.deliver(.run(.text(from: 0, "Ben")), of: "run:r1")
        await realtime.deliver(.run(.text(from: 3, " brings")), of: "run:r1")
        #expect(try await first.next()?.text == "Ben brings")
        // Another reader begins with what is known.
        var second = answer.makeAsyncIterator()
        #expect(try await second.next()?.text == "Ben brings")
        await realtime.deliver(.run(.done(done)), of: "run:r1")
        for state in [try await first.next(), try await second.next()] {
            #expect(state?.run == done && state?.isOver == true && state?.text == done.text)
        }
        #expect(try await first.next() == nil)
        #expect(try await second.next() == nil)
        #expect(await realtime.machine.streams["run:r1"] == nil)
        #expect(await realtime.answers.isEmpty)
        #expect(try await switchboard.assistant.answer(of: done).finished() == done)
        #expect(await realtime.machine.streams["run:r1"] == nil, "nothing was listened to")
        await switchboard.close()
    }

    @Test(.timeLimit(.minutes(1))) func leavingStopsListening() async throws {
        let switchboard = try await client()
        let realtime = switchboard.realtime
        let answer = switchboard.assistant.answer(of: try run())
        let reading = Task { try await answer.finished() }
        while await realtime.machine.streams["run:r1"] == nil { await Task.yield() }
        for try await _ in answer { break }
        #expect(await realtime.machine.streams["run:r1"] != nil, "the other reader is still there")
        reading.cancel()
        await #expect(throws: CancellationError.self) { try await reading.value }
        while await realtime.machine.streams["run:r1"] != nil { await Task.yield() }
        #expect(await realtime.answers.isEmpty)
        await switchboard.close()
    }

    @Test(.timeLimit(.minutes(1))) func readersAreNotifiedOfAFailure() async throws {
        let switchboard = try await client()
        let answer = switchboard.assistant.answer(of: try run())
        var iterator = answer.makeAsyncIterator()
        _ = try await iterator.next()
        await switchboard.realtime.deliver(.closed(.streamClosed), of: "run:r1")
        await #expect(throws: SwitchboardError.streamClosed) { try await iterator.next() }
        #expect(try await iterator.next() == nil)
        await switchboard.close()
        await #expect(throws: SwitchboardError.closed) { try await answer.finished() }
    }

    // MARK: What else was added with it

    @Test func readsWhereSomethingWasSaid() throws {
        let item = try JSON.decode(
            Summary.Item.self,
            from:
                #"{"kind":"action","text":"Call","due":"2026-12-24","messages":[],"said":{"recording":"x","start":90}}"#
                .utf8)
        #expect(item.said == .init(recording: "x", start: 90) && item.due == "2026-12-24")
        let replies = try JSON.decode(
            SuggestedReplies.self, from: #"{"replies":["Yes"],"engine":"e","kind":"template"}"#.utf8)
        #expect(replies.kind == .template && replies.replies == ["Yes"])
    }
}

extension ClientFrame {
    fileprivate var stream: String? {
        switch self {
        case .listen(_, let stream, _), .unlisten(_, let stream): stream
        case .hello, .request, .token, .heartbeat: nil
        }
    }
}
