import Calls

/// What is to be written about one leg, in which order, with the least that a client needs to hear.
///
/// Offers of the leg are answered one after the other; what the gateway tells meanwhile waits. Of what slots show only
/// the newest is kept, since it is the whole; a leg's end makes what it showed before worthless, while what is shown
/// after it belongs to the next leg.
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
    /// Somebody carries out jobs, and comes back for the next.
    private var isAtWork = false

    /// Whether nobody has anything to do with it.
    var isIdle: Bool {
        !isAtWork && offers.isEmpty && !isConnected && ended == nil && !isOutdated && shown == nil
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

    /// The endpoint has no part in the call any more: there is nobody to tell.
    mutating func forget() {
        isConnected = false
        ended = nil
        isOutdated = false
        shown = nil
    }

    /// True when the caller is to take jobs until there are none.
    mutating func beginWork() -> Bool {
        guard !isAtWork else { return false }
        isAtWork = true
        return true
    }

    /// The next thing to do; nil: nothing, and the work is over.
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
        isAtWork = false
        return nil
    }

    /// What the leg shows now that an offer was answered: the gateway may have told something newer since. What it told
    /// before speaks of other sections, or says the same.
    mutating func settle(_ answered: [LegSlot]) -> [LegSlot] {
        guard let told = shown else { return answered }
        shown = nil
        return told.map(\.mid) == answered.map(\.mid) ? told : answered
    }

    /// The job could not be done: it is tried again, unless something newer came.
    mutating func putBack(_ job: Job) {
        switch job {
        case .answer: break
        case .connected: if ended == nil { isConnected = true }
        case .ended(let reason): ended = ended ?? reason
        case .outdated: if ended == nil { isOutdated = true }
        case .shows(let slots): if ended == nil { shown = shown ?? slots }
        }
    }
}
