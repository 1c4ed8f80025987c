import Logging

/// A call that is being answered by its id.
struct OpenAnswering: Sendable {
    let call: CallID
    let request: LiveCall.Accept
    var machine = CallAnswering()
    /// Whoever waits for the outcome.
    var continuation: CheckedContinuation<CallAnswer, any Error>?
    var accepting: Task<Void, Never>?
    var deadline: Task<Void, Never>?
}

// Answering calls by their ids, also before there is a connection.
extension RealtimeEndpoint {
    /// Answers a call as soon as there is a connection, for which it waits at most `timeout`.
    func answer(_ request: LiveCall.Accept, within timeout: Duration) async throws -> CallAnswer {
        try Task.checkCancellation()
        start()
        if case .stopped(let error) = machine.connectionState { throw error }
        let call = request.call
        if let live = joined(call), let user {
            answered.give(live.document, to: user, at: identity.id)
            return .answered(live)
        }
        var given: Call?
        answered.begin(call)
        defer { endAttempt(at: call, given: given) }
        let answer = try await outcome(of: request, within: timeout)
        if case .answered(let live) = answer {
            if Task.isCancelled {
                leaveUnlessWanted(call)
                throw CancellationError()
            }
            given = live.document
        }
        return answer
    }

    /// Accepts a call for a reader of its ``LiveCall``.
    func accept(_ request: LiveCall.Accept) async throws -> Call {
        while let leaving = leavings[request.call]?.task {
            try await Task<Void, any Error> { await leaving.value }.value(within: options.requestTimeout)
        }
        var given: Call?
        answered.begin(request.call)
        defer { endAttempt(at: request.call, given: given) }
        let response: CallMember = try await self.request("calls.accept", request)
        given = response.call
        return response.call
    }

    private func endAttempt(at call: CallID, given document: Call?) {
        if answered.end(call, given: document, to: user, at: identity.id) { leave(call) }
    }

    /// The call was accepted for somebody who has given up.
    private func leaveUnlessWanted(_ call: CallID) {
        if answered.acceptedForNobody(call) { leave(call) }
    }

    private func outcome(of request: LiveCall.Accept, within timeout: Duration) async throws -> CallAnswer {
        lastAnswering += 1
        let number = lastAnswering
        return try await withTaskCancellationHandler {
            try Task.checkCancellation()
            return try await withCheckedThrowingContinuation { continuation in
                let deadline = Task { [weak self, clock] in
                    try? await clock.sleep(for: timeout)
                    if !Task.isCancelled { await self?.changeAnswering(number) { $0.abandon(.failed(.timedOut)) } }
                }
                answerings[number] = OpenAnswering(
                    call: request.call, request: request, continuation: continuation, deadline: deadline)
                connectAnswerings { $0 == number }
            }
        } onCancel: {
            Task { await self.changeAnswering(number) { $0.abandon(.cancelled) } }
        }
    }

    func connectedAnswerings() { connectAnswerings { _ in true } }
    func disconnectedAnswerings() { changeAnswerings { $0.disconnected() } }
    func stoppedAnswerings(_ error: SwitchboardError) { changeAnswerings { $0.stopped(error) } }

    /// A call that is being left is accepted only after that: its document may still say that this endpoint is in it.
    private func connectAnswerings(_ isConcerned: (Int) -> Bool) {
        guard isConnected else { return }
        for number in answerings.keys.sorted() where isConcerned(number) {
            guard let call = answerings[number]?.call, leavings[call] == nil else { continue }
            changeAnswering(number) { $0.connected() }
        }
    }

    private func changeAnswerings(_ decide: (inout CallAnswering) -> [CallAnswering.Action]) {
        for number in answerings.keys.sorted() { changeAnswering(number, decide) }
    }

    private func changeAnswering(_ number: Int, _ decide: (inout CallAnswering) -> [CallAnswering.Action]) {
        guard var answering = answerings[number] else { return }
        let actions = decide(&answering.machine)
        answerings[number] = answering
        for action in actions { execute(action, of: number) }
        if answerings[number]?.machine.isOver == true { answerings.removeValue(forKey: number)?.deadline?.cancel() }
    }

    private func execute(_ action: CallAnswering.Action, of number: Int) {
        guard let answering = answerings[number] else { return }
        switch action {
        case .complete(let outcome):
            answering.deadline?.cancel()
            answerings[number]?.continuation = nil
            answering.continuation?.resume(with: result(of: outcome))
        case .accept:
            answerings[number]?.accepting = Task { [weak self] in
                await self?.sendAccept(answering.request, of: number)
            }
        case .withdraw: answering.accepting?.cancel()
        case .find:
            Task { [weak self] in await self?.find(answering.call, of: number) }
        case .leave: leaveUnlessWanted(answering.call)
        }
    }

    private func result(of outcome: CallAnswering.Outcome) -> Result<CallAnswer, any Error> {
        switch outcome {
        case .answered(let call): .success(.answered(liveCall(for: call)))
        case .over(let end): .success(.over(end))
        case .failed(let error): .failure(error)
        case .cancelled: .failure(CancellationError())
        }
    }

    private func sendAccept(_ request: LiveCall.Accept, of number: Int) async {
        let result = await document(of: "calls.accept", request)
        let wasAnsweredHere = answered.contains(request.call)
        changeAnswering(number) { [user, identity] in
            $0.accepted(result, for: user, at: identity.id, wasAnsweredHere: wasAnsweredHere)
        }
    }

    private func find(_ call: CallID, of number: Int) async {
        let result = await document(of: "calls.get", LiveCall.Plain(call: call))
        changeAnswering(number) { [user, identity] in $0.found(result, for: user, at: identity.id) }
    }

    private func document(
        of name: String, _ params: some Encodable & Sendable
    ) async -> Result<Call, SwitchboardError> {
        do {
            let response: CallMember = try await request(name, params)
            note(response.call)
            return .success(response.call)
        } catch let error as SwitchboardError {
            return .failure(error)
        } catch {
            // The request was withdrawn.
            return .failure(.unreachable("\(error)"))
        }
    }

    private func leave(_ call: CallID) {
        lastLeaving += 1
        let number = lastLeaving
        let earlier = leavings[call]?.task
        let task = Task { [weak self] in
            await earlier?.value
            let result = await self?.document(of: "calls.leave", LiveCall.Plain(call: call))
            await self?.hasLeft(call, number, result)
        }
        leavings[call] = (number, task)
    }

    private func hasLeft(_ call: CallID, _ number: Int, _ result: Result<Call, SwitchboardError>?) {
        switch result {
        case .success(let document)?:
            // It may have overtaken the streams, whose last document says that this endpoint is in the call.
            guard let user else { break }
            for event in book.apply(document, for: user) { handle(event) }
            expectStreams()
            setTimer()
        case .failure(let error)?:
            options.logger?.debug("an answered call was not left", metadata: ["error": "\(error)"])
        case nil: break
        }
        guard leavings[call]?.number == number else { return }
        leavings[call] = nil
        connectAnswerings { answerings[$0]?.call == call }
    }

    /// Remembers whether a call was answered here.
    func note(_ call: Call) {
        if let user { answered.apply(call, for: user, at: identity.id) }
    }

    /// The call, if this endpoint is in it, and is not leaving it.
    private func joined(_ id: CallID) -> LiveCall? {
        guard leavings[id] == nil, let user, let call = book.live[id],
            RingState(call, for: user, at: identity.id, wasAnsweredHere: false) == .joined
        else { return nil }
        return liveCall(for: call)
    }
}
