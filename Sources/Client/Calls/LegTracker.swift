/// Tracks the state of this endpoint's leg from the call's document and the mailbox, as a state machine without I/O.
///
/// The server writes the slots of a new leg to the mailbox before it answers, and a leg's end after that. So the newest
/// notice wins: an answer that arrives after the end belongs to a leg that has already failed.
struct LegTracker: Sendable {
    private(set) var state = LegState(need: nil, slots: [])
    /// The gateway epoch of the current or last leg.
    private var epoch: Int?
    private var lastSequence: Int64 = 0
    private var lastEndReason: String?
    /// A renegotiation was requested after the last offer was sent.
    private var needsRenegotiation = false

    /// Applies the call's document; the endpoint may or may not be in the call.
    mutating func apply(_ call: Call, at endpoint: EndpointID) {
        let isHere = call.participants.contains { $0.endpoint == endpoint && $0.state == .joined }
        guard call.mode == "gateway", call.status != .ended, isHere, let current = call.gatewayEpoch else {
            epoch = nil
            lastEndReason = nil
            state = LegState(need: nil, slots: [])
            return
        }
        guard epoch != current, state.need == nil || state.need.isOfThisLeg else { return }
        state = LegState(need: epoch == nil ? .first : .gatewayRestarted, slots: [])
    }

    /// Applies notices of the mailbox with their sequences; duplicates are ignored.
    mutating func apply(_ notices: [(sequence: Int64, notice: LegNotice)]) {
        for (sequence, notice) in notices where sequence > lastSequence {
            lastSequence = sequence
            switch notice {
            case .slots(let slots):
                lastEndReason = nil
                state.slots = slots
            case .ended(let reason):
                lastEndReason = reason
                state.slots = []
                // Without a leg in this epoch, the notice is about an older one.
                if epoch != nil, state.need == nil || state.need == .otherCodec { state.need = .ended(reason: reason) }
            case .renegotiate:
                needsRenegotiation = true
                if epoch != nil, state.need == nil { state.need = .otherCodec }
            }
        }
    }

    /// An offer was sent: notices from here on may be about its answer.
    mutating func offerSent() { needsRenegotiation = false }

    /// The answer to an offer was received.
    mutating func answerReceived(epoch: Int) {
        self.epoch = epoch
        state.need = lastEndReason.map { .ended(reason: $0) } ?? (needsRenegotiation ? .otherCodec : nil)
    }
}

extension LegState.Need? {
    /// Whether it concerns a leg of the old epoch, which no longer exists after a gateway restart.
    fileprivate var isOfThisLeg: Bool {
        switch self {
        case .ended, .otherCodec: true
        case nil, .first, .gatewayRestarted: false
        }
    }
}
