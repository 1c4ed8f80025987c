/// Follows what the call's document and the mailbox tell of this endpoint's leg, as a value without doors.
///
/// The server writes what a new leg shows into the mailbox before it answers, and a leg's end after that. So the newest
/// notice is the truth: an answer that comes with the end behind it is the answer of a leg that has failed already.
struct LegTracker: Sendable {
    private(set) var state = LegState(need: nil, slots: [])
    /// The epoch of the leg that there is or was.
    private var epoch: Int?
    private var lastSequence: Int64 = 0
    private var endedLast: String?
    /// Since the last offer was made, another one became due.
    private var isOutdated = false

    /// The call as it is now, for the endpoint that is in it or is not.
    mutating func take(_ call: Call, at endpoint: EndpointID) {
        let isHere = call.participants.contains { $0.endpoint == endpoint && $0.state == .joined }
        guard call.mode == "gateway", call.status != .ended, isHere, let current = call.gatewayEpoch else {
            epoch = nil
            endedLast = nil
            state = LegState(need: nil, slots: [])
            return
        }
        guard epoch != current, state.need == nil || state.need.isOfThisLeg else { return }
        state = LegState(need: epoch == nil ? .first : .gatewayRestarted, slots: [])
    }

    /// What the mailbox tells, with its sequences; what was told before is not told again.
    mutating func take(_ notices: [(sequence: Int64, notice: LegNotice)]) {
        for (sequence, notice) in notices where sequence > lastSequence {
            lastSequence = sequence
            switch notice {
            case .slots(let slots):
                endedLast = nil
                state.slots = slots
            case .ended(let reason):
                endedLast = reason
                state.slots = []
                // Without a leg of this life there is none that could have ended.
                if epoch != nil, state.need == nil || state.need == .otherCodec { state.need = .ended(reason: reason) }
            case .renegotiate:
                isOutdated = true
                if epoch != nil, state.need == nil { state.need = .otherCodec }
            }
        }
    }

    /// An offer is on its way: what is told from here on may speak of its answer.
    mutating func offers() { isOutdated = false }

    /// An offer was answered.
    mutating func answered(epoch: Int) {
        self.epoch = epoch
        state.need = endedLast.map { .ended(reason: $0) } ?? (isOutdated ? .otherCodec : nil)
    }
}

extension LegState.Need? {
    /// It speaks of a leg that the gateway's new life knows nothing of.
    fileprivate var isOfThisLeg: Bool {
        switch self {
        case .ended, .otherCodec: true
        case nil, .first, .gatewayRestarted: false
        }
    }
}
