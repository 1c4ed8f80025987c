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
        start()
        if case .stopped(let error) = machine.connectionState { throw error }
        if let live = joined(request.call) {
            give(live.document)
            return .answered(live)
        }
        lastAnswering += 1
        let number = lastAnswering
        let answer = try await withTaskCancellationHandler {
            try Task.checkCancellation()
            return try await withCheckedThrowingContinuation { continuation in
                let deadline = Task { [weak self, clock] in
                    try? await clock.sleep(for: timeout)
                    if !Task.isCancelled { await self?.changeAnswering(number) { $0.abandon(.failed(.timedOut)) } }
                }
                answerings[number] = OpenAnswering(
                    call: request.call, request: request, continuation: continuation, deadline: deadline)
                if isConnected { changeAnswering(number) { $0.connected() } }
            }
        } onCancel: {
            Task { await self.changeAnswering(number) { $0.abandon(.cancelled) } }
        }
        if Task.isCancelled, case .answered(let live) = answer {
            leave(live.id)
            throw CancellationError()
        }
        if case .answered(let live) = answer { give(live.document) }
        return answer
    }

    /// Accepts a call for a reader of its ``LiveCall``.
    func accept(_ request: LiveCall.Accept) async throws -> Call {
        let response: CallMember = try await self.request("calls.accept", request)
        give(response.call)
        return response.call
    }

    func connectedAnswerings() { changeAnswerings { $0.connected() } }
    func disconnectedAnswerings() { changeAnswerings { $0.disconnected() } }
    func stoppedAnswerings(_ error: SwitchboardError) { changeAnswerings { $0.stopped(error) } }

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
        case .leave:
            // Somebody else here may have answered it.
            let isWanted = answerings.contains { $0.key != number && $0.value.call == answering.call }
            if !isWanted { leave(answering.call) }
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
        Task { [weak self] in
            let result = await self?.document(of: "calls.leave", LiveCall.Plain(call: call))
            guard case .failure(let error)? = result else { return }
            self?.options.logger?.debug("an answered call was not left", metadata: ["error": "\(error)"])
        }
    }

    /// Remembers whether a call was answered here.
    func note(_ call: Call) {
        if let user { answered.apply(call, for: user, at: identity.id) }
    }

    /// Remembers a call that somebody here was given.
    private func give(_ call: Call) {
        if let user { answered.give(call, to: user, at: identity.id) }
    }

    /// The call, if this endpoint is in it.
    private func joined(_ id: CallID) -> LiveCall? {
        guard let user, let call = book.live[id],
            RingState(call, for: user, at: identity.id, wasAnsweredHere: false) == .joined
        else { return nil }
        return liveCall(for: call)
    }
}
