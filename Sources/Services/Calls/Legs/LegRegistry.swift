import Calls
import Model
import Synchronization

/// The legs of endpoints in calls: who made each of them, and the offers and events that wait to be handled.
///
/// The gateway reports events on threads that forward packets, so nothing is written there: the events of a leg are
/// coalesced (`LegNotices`), and `LegCoordinator` handles them in order, after the offers of that leg. The registry
/// exists before both, so that neither has to know the other.
package final class LegRegistry: Sendable {
    /// The user and the sign-in that made a leg.
    struct Owner: Sendable {
        var user: UserID
        var signIn: SignInID?
    }

    /// An offer that waits for its answer.
    struct Offer: Sendable {
        var request: OfferLeg
        var principal: Principal
        var answered: CheckedContinuation<AnsweredLeg, any Error>
    }

    typealias Job = LegNotices<Offer>.Job

    private let sessions: WHIPRegistry
    private let timers: CallTimers
    private let notices = Mutex<[CallLeg: LegNotices<Offer>]>([:])
    /// The owners of the legs of endpoints in calls. Only media of these legs, and of WHIP and WHEP, renews leases.
    private let owners = Mutex<[CallLeg: Owner]>([:])
    private let ready = AsyncStream.makeStream(of: CallLeg.self)

    package init(sessions: WHIPRegistry, timers: CallTimers) {
        self.sessions = sessions
        self.timers = timers
    }

    // MARK: Offers and events

    /// Legs with jobs, each until `next` has returned nil for it.
    var legsWithJobs: AsyncStream<CallLeg> { ready.stream }

    func add(_ offer: Offer, to leg: CallLeg) { note(leg) { $0.add(offer) } }

    /// Called on threads that forward packets: it must be brief. The events of one leg arrive in order.
    func handle(_ event: LegEvent, of leg: CallLeg) {
        switch event {
        case .alive:
            guard sessions.holds(leg.endpoint) || owners.withLock({ $0[leg] != nil }) else { return }
            timers.renewLeases(of: leg.endpoint)
        case .connected: note(leg) { $0.addConnected() }
        case .slotsChanged(let slots): note(leg) { $0.add(slots) }
        case .renegotiationNeeded: note(leg) { $0.addOutdated() }
        case .ended(let reason): note(leg) { $0.add(reason) }
        }
    }

    private func note(_ leg: CallLeg, _ add: (inout LegNotices<Offer>) -> Void) {
        let begins = notices.withLock { notices in
            add(&notices[leg, default: LegNotices()])
            return notices[leg]?.beginProcessing() ?? false
        }
        if begins { ready.continuation.yield(leg) }
    }

    /// The leg's next job; nil if there is none, which ends the processing.
    func next(_ leg: CallLeg) -> Job? {
        notices.withLock { notices in
            guard let job = notices[leg]?.take() else {
                notices[leg] = nil
                return nil
            }
            return job
        }
    }

    /// Requeues a job that failed, unless something newer came.
    func requeue(_ job: Job, of leg: CallLeg) { notices.withLock { $0[leg]?.requeue(job) } }

    /// The slots that the leg shows after an offer was answered.
    func reconcile(_ answered: [LegSlot], of leg: CallLeg) -> [LegSlot] {
        notices.withLock { $0[leg]?.reconcile(answered) ?? answered }
    }

    // MARK: Owners

    func setOwner(_ owner: Owner?, of leg: CallLeg) { owners.withLock { $0[leg] = owner } }

    /// The endpoint has left the call: its events no longer matter.
    func left(_ leg: CallLeg) {
        setOwner(nil, of: leg)
        notices.withLock { notices in
            notices[leg]?.forget()
            if notices[leg]?.isIdle ?? false { notices[leg] = nil }
        }
    }

    /// Removes the owners for which `isOver` is true, and returns their legs, which must be ended.
    func removeAll(ownedBy isOver: (UserID, SignInID?) -> Bool) -> [CallLeg] {
        owners.withLock { owners in
            let over = owners.filter { isOver($0.value.user, $0.value.signIn) }.keys
            for leg in over { owners[leg] = nil }
            return Array(over)
        }
    }
}
