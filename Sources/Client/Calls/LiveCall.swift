import Synchronization

/// A call that this process has joined or is invited to: its current document, the signals from the other side, the
/// state of the media gateway leg, and the actions.
///
/// There is one `LiveCall` object per call. Keep the ``Switchboard`` that it came from: closing it ends the sequences.
/// All functions throw ``SwitchboardError``; after the call has ended they throw ``SwitchboardError/refused(_:)`` with
/// ``Problem/Kind/callEnded``, unless documented otherwise.
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

    /// The buffer of signals per reader, and the number of signals kept for late readers.
    private static let signalLimit = 1_024
    /// The buffer of captions per reader.
    static let captionLimit = 64

    /// The call's id.
    public let id: CallID

    let endpoint: RealtimeEndpoint
    private let updated = Broadcast<Call>(limit: 1)
    private let legChanged = Broadcast<LegState>(limit: 1)
    private let captionBroadcast = Broadcast<Caption>(limit: LiveCall.captionLimit)
    private let state: Mutex<State>

    init(_ call: Call, endpoint: RealtimeEndpoint) {
        id = call.id
        self.endpoint = endpoint
        var leg = LegTracker()
        leg.apply(call, at: endpoint.identity.id)
        state = Mutex(State(document: call, leg: leg))
    }

    /// The current document.
    public var document: Call { state.withLock { $0.document } }

    /// Why its sequences ended before the call did.
    var failure: SwitchboardError? { state.withLock { $0.failure } }

    /// The current document, then each changed one; ends after the document of the ended call. A slow reader gets the
    /// newest document and misses those between. Each access returns a new sequence.
    public var updates: AsyncStream<Call> {
        let stream = updated.subscribe(first: [document])
        if state.withLock({ $0.isOver }) { updated.finish() }
        return stream
    }

    /// The state of the media gateway leg, for a call in gateway mode: the current one, then each changed one. Ends
    /// with the call. A slow reader gets the newest state and misses those between.
    ///
    /// Whenever ``LegState/need`` is set, create a new peer connection and pass its offer to ``leg(offer:sources:)``.
    public var legStates: AsyncStream<LegState> {
        let stream = legChanged.subscribe(first: [legState])
        if state.withLock({ $0.isOver }) { legChanged.finish() }
        return stream
    }

    /// The current state of the media gateway leg.
    public var legState: LegState { state.withLock { $0.leg.state } }

    /// The captions from now on, while they are turned on (``caption()``), in the order of their transcription. Ends
    /// with the call. A reader who falls 64 captions behind misses the oldest.
    public var captions: AsyncStream<Caption> {
        let stream = captionBroadcast.subscribe()
        if state.withLock({ $0.isOver }) { captionBroadcast.finish() }
        return stream
    }

    /// The captions from now on in another language, each after the caption itself (``captions``), which has the same
    /// ``Caption/user``, ``Caption/source`` and ``Caption/startedAt``. There is none of a caption in that language.
    ///
    /// An endpoint has captions in one other language: asking for another one ends the sequence of the one before, as the
    /// end of the call and leaving it do. It ends at once if this endpoint is not in the call, or if the server translates
    /// nothing. A reader who falls 64 captions behind misses the oldest.
    ///
    /// - Parameter language: as a BCP 47 tag with a region only where it matters, such as "pt" or "pt-BR".
    public func captionTranslations(into language: String) async -> AsyncStream<CaptionTranslation> {
        await endpoint.captionTranslations(of: id, into: language)
    }

    /// The signals to this endpoint, from the first one of the call, each once and in order. Ends with the call. A
    /// reader who falls 1,024 signals behind gets ``SwitchboardError/overflow``.
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

// MARK: Deliveries of the streams

extension LiveCall {
    func update(_ call: Call) {
        state.withLock { $0.document = call }
        updated.send(call)
        changeLeg { $0.apply(call, at: endpoint.identity.id) }
    }

    /// Handles mailbox entries about the leg.
    func receive(_ entries: [StreamChange]) {
        let notices = entries.compactMap { entry in
            if case .leg(let notice) = entry.content { (entry.sequence, notice) } else { nil }
        }
        changeLeg { $0.apply(notices) }
    }

    func receive(_ captions: [Caption]) {
        for caption in captions { captionBroadcast.send(caption) }
    }

    /// This endpoint sent an offer, and received the answer.
    func offerSent() { changeLeg { $0.offerSent() } }
    func answerReceived(epoch: Int) { changeLeg { $0.answerReceived(epoch: epoch) } }

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

    /// No more updates of the call will arrive, though it may go on.
    func abandon(_ error: SwitchboardError) { finish(error) }

    /// Handles signals. If they are the whole mailbox, those that were delivered before are skipped.
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
        captionBroadcast.finish()
    }
}
