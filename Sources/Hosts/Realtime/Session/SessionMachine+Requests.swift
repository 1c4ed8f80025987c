import Model
import NIOCore

// Answers to requests.
extension SessionMachine {
    /// Answers `perform`. A result follows the changes it caused: it waits for each stream that the session listens to
    /// until that has been sent up to the result's position.
    mutating func answered(
        _ id: Int64, _ answer: RequestAnswer, at now: NIODeadline, into actions: inout [SessionAction]
    ) {
        if case .over = phase { return }
        switch answer {
        case .problem(let problem):
            requestsInFlight -= 1
            refuse(id, problem, into: &actions)
        case .result(let json, let positions):
            let frame = OutboundFrame.result(id, json, positions: positions)
            let needs = positions.filter { listens[$0.key]?.hasReached($0.value) == false }
            if needs.isEmpty {
                requestsInFlight -= 1
                send(frame, into: &actions)
            } else {
                waiting.append(WaitingAnswer(frame: frame, needs: needs.map { ($0.key, $0.value) }, since: now))
                clock.mustAdvance()
            }
        }
    }

    /// Answers `verify`: the session goes on with the newer token of the same user.
    mutating func verified(
        _ id: Int64, _ result: Result<(principal: Principal, expires: NIODeadline), Problem>, at now: NIODeadline,
        into actions: inout [SessionAction]
    ) {
        guard case .live = phase else { return }
        requestsInFlight -= 1
        switch result {
        case .failure(let problem):
            refuse(id, problem, into: &actions)
        case .success(let (newer, expires)):
            guard newer.user == principal?.user else {
                return refuse(id, Problem(.forbidden, "The token is another user's.", field: "token"), into: &actions)
            }
            principal?.signIn = newer.signIn
            clock.tokenExpires = expires
            clock.mustAdvance()
            let seconds = max(0, (expires - now).nanoseconds / 1_000_000_000)
            send(.tokenTaken(id, expiresIn: seconds), into: &actions)
        }
    }

    /// Sends the results whose changes have all been sent, in the order in which they came.
    mutating func releaseAnswers(into actions: inout [SessionAction]) {
        guard !waiting.isEmpty else { return }
        var kept: [WaitingAnswer] = []
        for var answer in exchange(&waiting, with: []) {
            answer.needs.removeAll { listens[$0.stream]?.hasReached($0.position) ?? true }
            if answer.needs.isEmpty {
                requestsInFlight -= 1
                send(answer.frame, into: &actions)
            } else {
                kept.append(answer)
            }
        }
        if case .over = phase { return }
        waiting = kept
    }
}

// Time.
extension SessionMachine {
    /// The server did not run for so long until now, and read nothing.
    mutating func extend(by stall: TimeAmount, at now: NIODeadline) {
        clock.extend(by: stall, at: now)
        if case .awaitingHello(let deadline) = phase {
            phase = .awaitingHello(until: min(deadline + stall, now + limits.helloTimeout))
        }
    }

    /// Does what is due. `unsent` is how many bytes the transport still holds.
    mutating func advance(
        to now: NIODeadline, unsent: Int, heartbeat: @autoclosure () -> OutboundFrame,
        into actions: inout [SessionAction]
    ) {
        switch phase {
        case .over: return
        case .awaitingHello(let deadline):
            if now >= deadline { return end(.helloTimeout, into: &actions) }
            clock.plan(at: deadline)
        case .authenticating, .resuming:
            let deadline = clock.opened + limits.helloTimeout + limits.stall
            if now >= deadline { return end(.internalError, into: &actions) }
            clock.plan(at: deadline)
        case .live:
            if now >= clock.tokenExpires { return end(.unauthenticated, into: &actions) }
            // A client that does not read is not read either: the stall below is what ends it then.
            if isTransportWritable, clock.isSilent(at: now, limits) { return end(.idle, into: &actions) }
            let isBlocked = !isTransportWritable || hasBacklog
            if isBlocked, clock.isStalled(taken: handedOver &- unsent, at: now, limits) {
                return end(.slow, into: &actions)
            }
            if clock.takeHeartbeat(at: now, limits), !isBlocked { send(heartbeat(), into: &actions) }
            readForWaitingAnswers(at: now, into: &actions)
            catchUp(into: &actions)
            clock.plan(at: now, isBusy: isBlocked || !waiting.isEmpty || isLagging, limits)
        }
    }

    private var isLagging: Bool {
        listens.values.contains { if case .lagging = $0.state { true } else { false } }
    }

    /// A change that a result waits for and that was never published here is read from the store instead.
    private mutating func readForWaitingAnswers(at now: NIODeadline, into actions: inout [SessionAction]) {
        var late: [StreamName] = []
        for index in waiting.indices where now >= waiting[index].since + limits.answerDelay {
            waiting[index].since = now
            late += waiting[index].needs.map(\.stream)
        }
        for stream in Set(late) {
            if case .live(let position) = listens[stream]?.state { read(stream, after: position, into: &actions) }
        }
    }

    /// How many streams lag, for the figures.
    var laggingStreams: Int {
        listens.values.reduce(0) { count, listening in
            if case .lagging = listening.state { count + 1 } else { count }
        }
    }
}
