import Synchronization

/// A call that this process takes part in or is asked to: its document as it changes, the signals from the other side, how
/// it stands with the media gateway, and what one can do.
///
/// One call has one handle for as long as it lives. Keep the ``Switchboard`` that it came from: closing that ends the
/// sequences. All functions throw ``SwitchboardError``, and those of a call that is over
/// ``SwitchboardError/refused(_:)`` with ``Problem/Kind/callEnded``, unless they say otherwise.
public final class LiveCall: Sendable, Identifiable {
    private struct State {
        var document: Call
        var failure: SwitchboardError?
        var isOver = false
        var signals: [Signal] = []
        var signalListeners: [Int: AsyncThrowingStream<Signal, any Error>.Continuation] = [:]
        var lastListener = 0
        var leg = LegTracker()
    }

    /// As many signals as a reader may be behind, and as are kept for one who comes late.
    private static let signalLimit = 1_024
    /// As many captions as a reader may be behind.
    private static let captionLimit = 64

    /// The call's id.
    public let id: CallID

    let endpoint: RealtimeEndpoint
    private let updated = Broadcast<Call>(limit: 1)
    private let legChanged = Broadcast<LegState>(limit: 1)
    private let said = Broadcast<Caption>(limit: LiveCall.captionLimit)
    private let state: Mutex<State>

    init(_ call: Call, endpoint: RealtimeEndpoint) {
        id = call.id
        self.endpoint = endpoint
        var leg = LegTracker()
        leg.take(call, at: endpoint.identity.id)
        state = Mutex(State(document: call, leg: leg))
    }

    /// The document as it is now.
    public var document: Call { state.withLock { $0.document } }

    /// The document as it is now, then whenever it has changed; ends after the document of the call that has ended.
    /// A reader who is slow gets the newest and misses what was between. Everyone who asks gets a sequence of their own.
    public var updates: AsyncStream<Call> {
        let stream = updated.subscribe(first: [document])
        if state.withLock({ $0.isOver }) { updated.finish() }
        return stream
    }

    /// How it stands with the media gateway, for a call that goes through it: now, then whenever it has changed. Ends with
    /// the call. A reader who is slow gets the newest and misses what was between.
    ///
    /// Whenever ``LegState/need`` is set, make a new peer connection and give its offer to ``leg(offer:sources:)``.
    public var legStates: AsyncStream<LegState> {
        let stream = legChanged.subscribe(first: [legState])
        if state.withLock({ $0.isOver }) { legChanged.finish() }
        return stream
    }

    /// How it stands with the media gateway at this moment.
    public var legState: LegState { state.withLock { $0.leg.state } }

    /// What is said from now on, while there are captions (``caption()``), in the order in which it was understood. Ends
    /// with the call. A reader who falls 64 captions behind misses the oldest.
    public var captions: AsyncStream<Caption> {
        let stream = said.subscribe()
        if state.withLock({ $0.isOver }) { said.finish() }
        return stream
    }

    /// What the other side sent to this endpoint, from the first signal of the call on, each once and in order. Ends
    /// with the call. A reader who falls 1,024 signals behind gets ``SwitchboardError/overflow``.
    public var signals: AsyncThrowingStream<Signal, any Error> {
        let (stream, continuation) = AsyncThrowingStream.makeStream(
            of: Signal.self, throwing: (any Error).self, bufferingPolicy: .bufferingOldest(Self.signalLimit))
        let number: Int? = state.withLock { state in
            for signal in state.signals { continuation.yield(signal) }
            if state.isOver {
                continuation.finish(throwing: state.failure)
                return nil
            }
            state.lastListener += 1
            state.signalListeners[state.lastListener] = continuation
            return state.lastListener
        }
        if let number {
            continuation.onTermination = { [weak self] _ in
                self?.state.withLock { $0.signalListeners[number] = nil }
            }
        }
        return stream
    }
}

// MARK: What the streams tell

extension LiveCall {
    func update(_ call: Call) {
        state.withLock { $0.document = call }
        updated.send(call)
        changeLeg { $0.take(call, at: endpoint.identity.id) }
    }

    /// The mailbox tells of the leg.
    func receive(_ entries: [StreamChange]) {
        let notices = entries.compactMap { entry in
            if case .leg(let notice) = entry.content { (entry.sequence, notice) } else { nil }
        }
        changeLeg { $0.take(notices) }
    }

    func receive(_ captions: [Caption]) {
        for caption in captions { said.send(caption) }
    }

    /// An offer of this endpoint's is on its way, and was answered.
    func offers() { changeLeg { $0.offers() } }
    func answered(epoch: Int) { changeLeg { $0.answered(epoch: epoch) } }

    private func changeLeg(_ change: (inout LegTracker) -> Void) {
        let changed = state.withLock { state -> LegState? in
            let before = state.leg.state
            change(&state.leg)
            return state.leg.state == before ? nil : state.leg.state
        }
        if let changed { legChanged.send(changed) }
    }

    func end(_ call: Call) {
        update(call)
        finish(nil)
    }

    /// Nothing more will be heard of the call, though it may go on.
    func abandon(_ error: SwitchboardError) { finish(error) }

    /// Signals came. Where the mailbox comes as a whole once more, what was told already is not told again.
    func receive(_ signals: [Signal], isWhole: Bool) {
        let overflowed = state.withLock { state in
            var overflowed: [AsyncThrowingStream<Signal, any Error>.Continuation] = []
            for signal in signals where !isWhole || !state.signals.contains(signal) {
                state.signals.append(signal)
                if state.signals.count > Self.signalLimit { state.signals.removeFirst() }
                for (number, listener) in state.signalListeners {
                    if case .dropped = listener.yield(signal) {
                        state.signalListeners[number] = nil
                        overflowed.append(listener)
                    }
                }
            }
            return overflowed
        }
        for listener in overflowed { listener.finish(throwing: SwitchboardError.overflow) }
    }

    private func finish(_ error: SwitchboardError?) {
        let listeners = state.withLock { state in
            defer { state.signalListeners = [:] }
            state.isOver = true
            state.failure = error
            return Array(state.signalListeners.values)
        }
        for listener in listeners { listener.finish(throwing: error) }
        updated.finish()
        legChanged.finish()
        said.finish()
    }
}
