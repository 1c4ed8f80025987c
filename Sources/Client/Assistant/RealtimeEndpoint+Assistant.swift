/// An answer that somebody reads.
struct OpenAnswer: Sendable {
    var progress: AnswerProgress
    /// Keeps the newest state, or why there are no more.
    let updates = Broadcast<AnswerUpdate>(limit: 1)
}

// Answers of the assistant, while they are written.
extension RealtimeEndpoint {
    /// The id that the server has given a conversation.
    func resolved(_ conversation: ConversationID?) -> ConversationID? { conversation.map { resolve($0) } }

    /// The states of an answer: what is known now, then whenever it changes. One that is over ends at once.
    func updates(of run: AssistantRun) -> AsyncStream<AnswerUpdate> {
        let stream = StreamName.run(run.id)
        if let open = answers[stream] { return open.updates.subscribe(first: [.success(open.progress.state)]) }
        let open = OpenAnswer(progress: AnswerProgress(run))
        if open.progress.state.isOver {
            open.updates.finish()
            return open.updates.subscribe(first: [.success(open.progress.state)])
        }
        start()
        open.updates.onNoListeners { [weak self] in
            Task { [weak self] in await self?.forgetAnswer(of: stream) }
        }
        answers[stream] = open
        let updates = open.updates.subscribe(first: [.success(open.progress.state)])
        act { $0.listen(stream, into: &$1) }
        return updates
    }

    func forgetAnswer(of stream: String) {
        guard answers[stream]?.updates.hasNoListeners == true else { return }
        answers[stream] = nil
        act { $0.unlisten(stream, into: &$1) }
    }

    func deliver(_ delivery: EndpointMachine.Delivery, ofAnswer stream: String) {
        switch delivery {
        case .snapshot(.run(let snapshot), _): change(stream) { $0.apply(snapshot) }
        case .run(let event): change(stream) { $0.apply(event) }
        case .closed(let error):
            guard let open = answers.removeValue(forKey: stream) else { return }
            if error.problem?.kind == .notFound { removeRun(open.progress.state.run.id, of: messaging.owner) }
            open.updates.send(.failure(error))
            open.updates.finish()
        case .snapshot, .changes, .rows, .listening, .presence, .caption, .captionTranslation, .typing: break
        }
    }

    private func change(_ stream: String, _ apply: (inout AnswerProgress) -> AnswerProgress.Effect) {
        guard var open = answers[stream] else { return }
        let effect = apply(&open.progress)
        answers[stream] = open
        switch effect {
        case .nothing: break
        case .changed: open.updates.send(.success(open.progress.state))
        case .gap: act { $0.listenAnew(stream, into: &$1) }
        case .ended:
            answers[stream] = nil
            keep(open.progress.state.run, for: messaging.owner)
            open.updates.send(.success(open.progress.state))
            open.updates.finish()
            act { $0.unlisten(stream, into: &$1) }
        }
    }
}
