import Assistant
import Languages
import Messaging
import Model
import Storage
import TestSupport
import Wire

// What a model writes of many messages. It responds when a command says so, as the engines do.
extension StreamHarness {
    /// What a model was given of a block, and has not responded to.
    struct PendingBlock: Sendable {
        var part: SummaryPart
        var work: SummaryWork
        var isHosted: Bool
    }

    /// What a model was shown for a question, and has not answered.
    struct PendingAnswer: Sendable {
        var run: AssistantRun
        var shown: [TextReference]
    }

    /// The members write until a block is full.
    func fill(_ command: StreamCommand, in id: ConversationID) async throws {
        let commands = commands
        _ = try await store.write { store in
            let last = try store.conversation(id)?.lastNumber ?? 0
            let members = try store.members(of: id, after: nil, limit: 10).filter { $0.state == .member }.map(\.user)
            guard last < SummaryBlock.length, !members.isEmpty else { return }
            for number in last + 1...SummaryBlock.length {
                var random = SeededRandom(seed: command.salt &* 1000 &+ UInt64(number))
                let outgoing = try OutgoingMessage(
                    clientID: .make(at: Timestamp(milliseconds: 1_800_000_000_000), using: &random),
                    text: MessageText("word f\(command.salt)x\(number)"), digest: [1])
                _ = try commands.send(outgoing, to: id, by: members[Int(number) % members.count], in: store)
            }
        }
    }

    /// Asks for a summary: what is not written yet is given to a model.
    func summarise(_ command: StreamCommand, by user: UserID, in id: ConversationID) async throws {
        let (commands, isHosted) = (commands, command.value % 2 == 0)
        let work = try await store.read { store in
            try commands.summaryWork(
                of: id, SummaryScope(), by: user, isHosted: isHosted, engine: isHosted ? Self.hosted : Self.local,
                in: store)
        }
        for part in work.parts where part.block != nil && part.known == nil {
            let block = PendingBlock(part: part, work: work, isHosted: isHosted)
            if command.value < 8 {
                try await complete(block)
            } else {
                blocks.update { $0.append(block) }
            }
        }
    }

    func completeSummary(_ value: Int) async throws {
        let block = blocks.update { $0.isEmpty ? nil : $0.remove(at: value % $0.count) }
        if let block { try await complete(block) }
    }

    private func complete(_ block: PendingBlock) async throws {
        let commands = commands
        let items = block.part.messages.map { message in
            MessageSummary.Item(
                kind: .point, text: TextReference.text(of: [TextReference(message)]), messages: [message.number])
        }
        _ = try await store.write { store in
            try commands.save(
                items, of: block.part, block.work, engine: block.isHosted ? Self.hosted : Self.local,
                isHosted: block.isHosted, in: store)
        }
    }

    /// Asks the assistant, which is shown the newest messages of what it may look at.
    func ask(_ command: StreamCommand, _ clientID: ClientID, by user: UserID, in id: ConversationID) async throws {
        let (commands, assistant, isHosted) = (commands, assistant, command.value % 2 == 0)
        let scope = [
            AssistantScope(), AssistantScope(conversation: id),
            AssistantScope(conversation: id, audience: .conversation),
        ][command.value % 3]
        let question = try AssistantQuestion(
            clientID: clientID, questions: ["What is new?"], field: { _ in "question" }, thread: nil, scope: scope,
            digest: [1])
        let model = isHosted ? Self.hosted : Self.local
        let asked = try await store.write { store in
            let runs = try assistant.ask(question, by: user, model: model, isHosted: isHosted, in: store).runs
            let isForAll = scope.audience == .conversation
            let conversations =
                if let id = scope.conversation {
                    [
                        try commands.readableConversation(
                            id, isForAll: isForAll, by: user, model: model, isHosted: isHosted, in: store)
                    ]
                } else {
                    try commands.readableConversations(of: user, isHosted: isHosted, in: store)
                }
            let shown = try conversations.flatMap { found in
                try commands.readable(
                    .newest(6, after: 0), in: found, isForAll: isForAll, isHosted: isHosted, by: user, in: store)
            }
            let references = shown.filter { $0.text != nil }.map { TextReference($0) }
            return runs.map { PendingAnswer(run: $0, shown: references) }
        }.value
        for one in asked {
            if command.value < 8 {
                try await finish(one, command.value)
            } else {
                answers.update { $0.append(one) }
            }
        }
    }

    func answer(_ value: Int) async throws {
        let pending = answers.update { $0.isEmpty ? nil : $0.remove(at: value % $0.count) }
        if let pending { try await finish(pending, value) }
    }

    /// A sentence on each message, one on two of them, and one that does not say on what it rests.
    private func finish(_ answer: PendingAnswer, _ value: Int) async throws {
        let assistant = assistant
        var run = answer.run
        func sentence(_ references: [TextReference], isCited: Bool = true) -> AnswerSentence {
            AnswerSentence(
                TextReference.text(of: references), citations: isCited ? references.map(\.citation) : [])
        }
        run.status = .done
        run.sentences = answer.shown.map { sentence([$0]) }
        if answer.shown.count > 1 { run.sentences.append(sentence(Array(answer.shown.prefix(2)))) }
        if !answer.shown.isEmpty { run.sentences.append(sentence(answer.shown, isCited: false)) }
        if value == 0 {
            (run.status, run.reason, run.sentences) = (.failed, .providerFailed, [])
        }
        _ = try await store.write { [run] in
            try assistant.finish(run, shown: answer.shown.map(\.citation), in: $0)
        }
    }
}

extension TextReference {
    var citation: AnswerCitation { AnswerCitation(conversation: conversation, number: number, of: of) }
}
