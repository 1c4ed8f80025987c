public import Foundation
import NIOHTTP1

/// What came of answering a call by its id.
public enum CallAnswer: Sendable {
    /// This endpoint is in the call.
    case answered(LiveCall)
    /// It rings no more, and this endpoint is not in it: end what is shown of it. A call that was answered here before, and is
    /// over, is ``RingEnd/cancelled``.
    case over(RingEnd)
}

// Calls of which a push has told. All of this works before there is a connection.
extension Switchboard {
    /// Answers a call by its id, such as from a push: connects if need be, and accepts it on this endpoint.
    ///
    /// Sign in before, such as with ``use(_:)``. If its task is cancelled, or the time is over, the call is not answered,
    /// or left if the server has accepted the answer meanwhile. That does not decline it: see ``decline(_:within:)``.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - other: What to do with the user's current call.
    ///   - media: What this endpoint sends; nil by the kind of the call.
    ///   - timeout: How long to try.
    /// - Throws: ``SwitchboardError/timedOut`` when the time is over.
    public func answer(
        _ call: CallID, other: OtherCall? = nil, media: MediaChange? = nil, within timeout: Duration = .seconds(20)
    ) async throws -> CallAnswer {
        try await realtime.answer(LiveCall.Accept(call: call, other: other, media: media), within: timeout)
    }

    /// Declines a call by its id, on all endpoints of the user, without the realtime connection. A call that rings no more
    /// stays as it is.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - timeout: How long to try while the server cannot be reached.
    /// - Returns: The call.
    /// - Throws: ``Problem/Kind/notFound``, and ``SwitchboardError/timedOut`` when the time is over.
    @discardableResult
    public func decline(_ call: CallID, within timeout: Duration = .seconds(20)) async throws -> Call {
        // It becomes a part of a path.
        guard UUID(uuidString: call.rawValue) != nil else {
            throw SwitchboardError.invalidArgument("the call's id is not a UUID")
        }
        let declining = Task { [credentials, rest] in
            var backoff = Backoff(seed: .random(in: 0...UInt64.max))
            var isFresh = false
            while true {
                do {
                    let token = try await credentials.accessToken(fresh: isFresh)
                    let response: CallMember = try await rest.request(
                        .POST, "/v1/calls/\(call)/decline", token: token.text, body: Nothing())
                    return response.call
                } catch let error as SwitchboardError {
                    if error.problem?.kind == .unauthenticated, !isFresh {
                        isFresh = true
                        continue
                    }
                    guard let wait = error.retry(after: &backoff) else { throw error }
                    try await Task.sleep(for: wait)
                }
            }
        }
        return try await declining.value(within: timeout)
    }

    /// Says that this endpoint rings for a call, and waits until the call rings no more.
    ///
    /// Call it when a push has told of the call: PushKit is told of no end, which comes over the connection that this opens.
    /// While there is a connection, only the server says that the ring is over. Without one, the ring ends when it expires.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - expiry: When the ring expires, as the push has it; nil is two minutes from now. It counts as at
    ///     least 10 seconds and at most two minutes from now, since clocks differ, and only until the call's document
    ///     has come, which has the remaining time.
    /// - Returns: Why it rings no more; nil if it was answered on this endpoint, also if it is over since. Then its
    ///   ``LiveCall`` says what has become of it. The last 64 calls are remembered for as long as the client lives.
    public func ringEnd(of call: CallID, expiringAt expiry: Date? = nil) async throws -> RingEnd? {
        try await ringEnd(of: call, expiringAt: expiry, by: RingClock())
    }

    func ringEnd(of call: CallID, expiringAt expiry: Date?, by clock: RingClock) async throws -> RingEnd? {
        let deadline = RingDeadline(remaining: expiry?.timeIntervalSinceNow, at: clock.now())
        let timer = RingTimer(deadline, clock: clock) { [realtime] in await realtime.untilDisconnected() }
        defer { timer.cancel() }
        let ringing = Task { [realtime] in try await realtime.ringEnd(of: call) { timer.apply($0) } }
        do {
            return try await ringing.value { try await timer.untilExpired() }
        } catch SwitchboardError.timedOut {
            return .missed
        }
    }
}

extension SwitchboardError {
    /// How long to wait before a request that can be repeated; nil if that would not help.
    fileprivate func retry(after backoff: inout Backoff) -> Duration? {
        switch self {
        case .unreachable, .timedOut, .invalidResponse: .milliseconds(backoff.next())
        case .refused(let problem) where problem.status == 429 || problem.status >= 500:
            max(problem.retryAfter ?? .zero, .milliseconds(backoff.next()))
        default: nil
        }
    }
}

extension Task where Failure == any Error {
    /// The value, or ``SwitchboardError/timedOut``. The task is cancelled with the caller's, and when the time is over; it is
    /// not waited for then.
    func value(within timeout: Duration) async throws -> Success {
        try await value { try await Task<Never, Never>.sleep(for: timeout) }
    }

    /// The value, or ``SwitchboardError/timedOut`` when `timeout` returns.
    func value(until timeout: @escaping @Sendable () async throws -> Void) async throws -> Success {
        let (outcomes, continuation) = AsyncThrowingStream.makeStream(of: Success.self, throwing: (any Error).self)
        let waiting = Task<Void, Never> {
            do {
                continuation.yield(try await self.value)
                continuation.finish()
            } catch {
                continuation.finish(throwing: error)
            }
        }
        let timer = Task<Void, any Error> {
            try await timeout()
            if !Task<Never, Never>.isCancelled { continuation.finish(throwing: SwitchboardError.timedOut) }
        }
        defer {
            cancel()
            waiting.cancel()
            timer.cancel()
        }
        for try await value in outcomes { return value }
        // The sequence of a cancelled task ends.
        try Task<Never, Never>.checkCancellation()
        throw SwitchboardError.timedOut
    }
}

extension RealtimeEndpoint {
    /// - Parameter rings: called with the user's part in each document in which the call rings.
    fileprivate func ringEnd(of id: CallID, rings: (Participant) -> Void) async throws -> RingEnd? {
        let document: Call
        do {
            document = try await connectedCall(id)
        } catch SwitchboardError.refused(let problem) where problem.kind == .notFound {
            return .cancelled
        }
        // It has the remaining time of now, and the live call may not.
        if let user, let participant = document.participant(user) { rings(participant) }
        let live = liveCall(for: document)
        var hasReported = false
        for await document in live.updates {
            guard let user else { break }
            let wasAnsweredHere = answered.contains(id) || answered.isAnswering(id)
            switch RingState(document, for: user, at: identity.id, wasAnsweredHere: wasAnsweredHere) {
            case .joined, .left: return nil
            case .over(let end): return end
            case .rings:
                if let participant = document.participant(user) { rings(participant) }
                guard !hasReported else { continue }
                hasReported = true
                // If it is over, the next document says so.
                _ = try? await live.ringing()
            }
        }
        try Task.checkCancellation()
        guard let failure = live.failure, failure != .streamClosed else { return .cancelled }
        throw failure
    }

    /// The call's document. Waits for the connection for as long as the task runs.
    private func connectedCall(_ id: CallID) async throws -> Call {
        while true {
            do {
                let response: CallMember = try await request("calls.get", LiveCall.Plain(call: id))
                return response.call
            } catch SwitchboardError.timedOut {
                continue
            }
        }
    }

    /// Returns at once if there is no connection, or when the task is cancelled.
    fileprivate func untilDisconnected() async {
        for await isConnected in connections.subscribe(first: [isConnected]) where !isConnected { return }
    }
}
