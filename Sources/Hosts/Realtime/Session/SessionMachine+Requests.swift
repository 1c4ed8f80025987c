import DequeModule
import Model
import NIOCore

// Results of requests.
extension SessionMachine {
    /// Completes `handle`. A result follows the changes that it caused: it waits until each stream that the session
    /// listens to was sent up to the result's position.
    mutating func handled(
        _ id: Int64, _ result: RequestResult, at now: NIODeadline, into actions: inout [SessionAction]
    ) {
        if case .over = phase { return }
        let index = pageIDs.firstIndex(of: id)
        if let index { pageIDs.remove(at: index) }
        defer { readPages(into: &actions) }
        switch result {
        case .problem(let problem):
            requestsInFlight -= 1
            reject(id, problem, into: &actions)
        case .result(let json, let positions):
            var frame = OutboundFrame.result(id, json, positions: positions)
            frame.isPage = index != nil
            let needs = positions.filter { listens[$0.key]?.hasReached($0.value) == false }
            if needs.isEmpty {
                requestsInFlight -= 1
                send(frame, into: &actions)
            } else {
                pendingResults.append(PendingResult(frame: frame, needs: needs.map { ($0.key, $0.value) }, since: now))
                clock.scheduleCheck()
            }
        }
    }

    /// Handles requests for pages that wait, a few at a time, while the client reads what it has asked for.
    mutating func readPages(into actions: inout [SessionAction]) {
        guard case .live = phase else { return }
        while pageIDs.count < limits.pages, !isCongested, let next = waitingPages.popFirst() {
            pageIDs.append(next.id)
            actions.append(.handle(id: next.id, name: next.name, params: next.params))
        }
    }

    /// Completes `verify`: the session continues with the newer token of the same user.
    mutating func verified(
        _ id: Int64, _ result: Result<(principal: Principal, expires: NIODeadline), Problem>, at now: NIODeadline,
        into actions: inout [SessionAction]
    ) {
        guard case .live = phase else { return }
        requestsInFlight -= 1
        switch result {
        case .failure(let problem):
            reject(id, problem, into: &actions)
        case .success(let (newer, expires)):
            guard newer.user == principal?.user else {
                return reject(
                    id, Problem(.forbidden, "The token belongs to another user.", field: "token"), into: &actions)
            }
            principal?.signIn = newer.signIn
            principal?.tokenIssuedAt = newer.tokenIssuedAt
            clock.tokenExpires = expires
            clock.scheduleCheck()
            let seconds = max(0, (expires - now).nanoseconds / 1_000_000_000)
            send(.tokenAccepted(id, expiresIn: seconds), into: &actions)
        }
    }

    /// Sends the results whose changes have all been sent, in order.
    mutating func releaseResults(into actions: inout [SessionAction]) {
        guard !pendingResults.isEmpty else { return }
        var kept: [PendingResult] = []
        for var result in exchange(&pendingResults, with: []) {
            result.needs.removeAll { listens[$0.stream]?.hasReached($0.position) ?? true }
            if result.needs.isEmpty {
                requestsInFlight -= 1
                send(result.frame, into: &actions)
            } else {
                kept.append(result)
            }
        }
        if case .over = phase { return }
        pendingResults = kept
    }
}

// Time.
extension SessionMachine {
    /// Extends deadlines by the time in which the server did not run and read nothing.
    mutating func extend(by stall: TimeAmount, at now: NIODeadline) {
        clock.extend(by: stall, at: now)
        if case .awaitingHello(let deadline) = phase {
            phase = .awaitingHello(until: min(deadline + stall, now + limits.helloTimeout))
        }
    }

    /// Handles due deadlines. `unsent` is how many bytes the transport still buffers.
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
            // A client that does not read is not read either: the stall below ends its session.
            if isTransportWritable, clock.isSilent(at: now, limits) { return end(.idle, into: &actions) }
            let isBlocked = !isTransportWritable || hasQueuedFrames
            if isBlocked, clock.isStalled(sent: handedOver &- unsent, at: now, limits) {
                return end(.slow, into: &actions)
            }
            if clock.takeHeartbeat(at: now, limits), !isBlocked { send(heartbeat(), into: &actions) }
            readForPendingResults(at: now, into: &actions)
            catchUp(into: &actions)
            clock.plan(at: now, isBusy: isBlocked || !pendingResults.isEmpty || isLagging, limits)
        }
    }

    private var isLagging: Bool {
        listens.values.contains { if case .lagging = $0.state { true } else { false } }
    }

    /// Reads changes from the store that a result waits for and that were not published in time.
    private mutating func readForPendingResults(at now: NIODeadline, into actions: inout [SessionAction]) {
        var late: [StreamName] = []
        for index in pendingResults.indices where now >= pendingResults[index].since + limits.resultTimeout {
            pendingResults[index].since = now
            late += pendingResults[index].needs.map(\.stream)
        }
        for stream in Set(late) {
            if case .live(let position) = listens[stream]?.state { read(stream, after: position, into: &actions) }
        }
    }

    /// How many streams lag, for the statistics.
    var laggingStreams: Int {
        listens.values.reduce(0) { count, listening in
            if case .lagging = listening.state { count + 1 } else { count }
        }
    }
}
