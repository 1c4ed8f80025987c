import Foundation
import Synchronization

/// Until when a call rings on a device that is not connected, as a value without I/O: while it is connected, the server says
/// when it rings no more.
///
/// A push has only a time of the server's clock. As soon as there is a document of the call, its remaining time replaces that
/// time, since clocks differ.
struct RingDeadline: Sendable {
    private static let longest = Duration.seconds(120)

    /// When the ring ends.
    private(set) var end: ContinuousClock.Instant
    /// The deadline of the document that ``end`` is from, by the server's clock.
    private var ringDeadline: Date?

    /// - Parameter remaining: the time until the ring of the push expires, in seconds, by the clock of this device; nil if it is
    ///   not known.
    init(remaining: TimeInterval?, at now: ContinuousClock.Instant) {
        end = now + (remaining.map { .milliseconds(Int64(max(10, min($0, 120)) * 1_000)) } ?? Self.longest)
    }

    /// Applies a document in which the user rings.
    mutating func apply(_ participant: Participant, at now: ContinuousClock.Instant) {
        guard let remaining = participant.remainingMs else { return }
        let end = now + max(.zero, min(.milliseconds(remaining), Self.longest))
        // The remaining time of the same ring may have been written long ago. A later deadline is that of another invitation.
        let isSameRing = ringDeadline != nil && participant.ringDeadline == ringDeadline
        self.end = isSameRing ? min(self.end, end) : end
        ringDeadline = participant.ringDeadline
    }
}

/// The clock by which rings expire.
struct RingClock: Sendable {
    typealias Instant = ContinuousClock.Instant
    var now: @Sendable () -> Instant = { .now }
    var sleep: @Sendable (Instant) async throws -> Void = { try await ContinuousClock().sleep(until: $0) }
}

/// Waits until a ring has expired, whose deadline may change meanwhile.
final class RingTimer: Sendable {
    private struct State: Sendable {
        var deadline: RingDeadline
        var waiting: Task<Void, Never>?
        var isCancelled = false
    }

    private let clock: RingClock
    private let untilDisconnected: @Sendable () async -> Void
    private let (expired, continuation) = AsyncStream.makeStream(of: Never.self)
    private let state: Mutex<State>

    /// - Parameter untilDisconnected: returns once there is no connection, or when its task is cancelled.
    init(_ deadline: RingDeadline, clock: RingClock, untilDisconnected: @escaping @Sendable () async -> Void) {
        (self.clock, self.untilDisconnected) = (clock, untilDisconnected)
        state = Mutex(State(deadline: deadline))
        state.withLock { $0.waiting = wait(until: deadline.end) }
    }

    /// Applies a document in which the user rings.
    func apply(_ participant: Participant) {
        state.withLock { state in
            let end = state.deadline.end
            state.deadline.apply(participant, at: clock.now())
            guard state.deadline.end != end, !state.isCancelled else { return }
            state.waiting?.cancel()
            state.waiting = wait(until: state.deadline.end)
        }
    }

    /// Returns once the deadline is over and there is no connection.
    func untilExpired() async throws {
        for await _ in expired {}
        try Task.checkCancellation()
    }

    func cancel() {
        state.withLock { state in
            state.isCancelled = true
            state.waiting?.cancel()
        }
    }

    private func wait(until end: ContinuousClock.Instant) -> Task<Void, Never> {
        Task { [clock, untilDisconnected, continuation] in
            try? await clock.sleep(end)
            await untilDisconnected()
            if !Task.isCancelled { continuation.finish() }
        }
    }
}
