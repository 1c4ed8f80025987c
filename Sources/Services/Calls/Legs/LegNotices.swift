import Calls

/// The queue of pending notices of one leg, coalesced to what its client needs to know.
///
/// Offers of the leg are answered one after the other; notices of the gateway wait meanwhile. Only the newest slots are
/// kept, since each notice lists all of them. The end of a leg discards its earlier slots; slots that come after it
/// belong to the next leg.
struct LegNotices<Offer: Sendable>: Sendable {
    enum Job: Sendable {
        case answer(Offer)
        case connected
        case ended(LegEndReason)
        case outdated
        case shows([LegSlot])
    }

    private var offers: [Offer] = []
    private var isConnected = false
    private var ended: LegEndReason?
    private var isOutdated = false
    private var shown: [LegSlot]?
    /// Whether a task is processing jobs.
    private var isProcessing = false

    /// Whether there is nothing to do.
    var isIdle: Bool {
        !isProcessing && offers.isEmpty && !isConnected && ended == nil && !isOutdated && shown == nil
    }

    mutating func add(_ offer: Offer) { offers.append(offer) }

    mutating func addConnected() { isConnected = true }

    mutating func addOutdated() { isOutdated = true }

    mutating func add(_ slots: [LegSlot]) { shown = slots }

    mutating func add(_ reason: LegEndReason) {
        ended = reason
        shown = nil
        isConnected = false
        isOutdated = false
    }

    /// The endpoint has left the call: drops its notices.
    mutating func forget() {
        isConnected = false
        ended = nil
        isOutdated = false
        shown = nil
    }

    /// Returns true if the caller is to process jobs until there are none.
    mutating func beginProcessing() -> Bool {
        guard !isProcessing else { return false }
        isProcessing = true
        return true
    }

    /// The next job; nil if there is none, which ends the processing.
    mutating func take() -> Job? {
        if !offers.isEmpty { return .answer(offers.removeFirst()) }
        if let reason = ended {
            ended = nil
            return .ended(reason)
        }
        if isConnected {
            isConnected = false
            return .connected
        }
        if isOutdated {
            isOutdated = false
            return .outdated
        }
        if let slots = shown {
            shown = nil
            return .shows(slots)
        }
        isProcessing = false
        return nil
    }

    /// The slots that the leg shows after an offer was answered: those of a newer notice, if it is about the same
    /// sections. A notice from before the answer is about other sections, or is the same.
    mutating func reconcile(_ answered: [LegSlot]) -> [LegSlot] {
        guard let newer = shown else { return answered }
        shown = nil
        return newer.map(\.mid) == answered.map(\.mid) ? newer : answered
    }

    /// Requeues a job that failed, unless something newer came.
    mutating func requeue(_ job: Job) {
        switch job {
        case .answer: break
        case .connected: if ended == nil { isConnected = true }
        case .ended(let reason): ended = ended ?? reason
        case .outdated: if ended == nil { isOutdated = true }
        case .shows(let slots): if ended == nil { shown = shown ?? slots }
        }
    }
}
