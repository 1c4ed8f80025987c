import Calls
import Model
import Testing

@testable import Services

/// Events of the gateway, from the threads that forward packets to the task that handles them.
@Suite struct LegRegistryTests {
    private let sessions = WHIPRegistry()
    private let timers = CallTimers(leaseSeconds: 30)
    private let leg = CallLeg(
        call: .make(at: Timestamp(milliseconds: 1)), endpoint: .make(at: Timestamp(milliseconds: 2)))

    private var registry: LegRegistry { LegRegistry(sessions: sessions, timers: timers) }

    /// What a leg with jobs does, as text, the job of the gateway first.
    private func jobs(_ registry: LegRegistry) -> [String] {
        var jobs: [String] = []
        while let job = registry.next(leg) {
            switch job {
            case .answer: jobs.append("answer")
            case .connected: jobs.append("connected")
            case .ended(let reason): jobs.append(reason.rawValue)
            case .outdated: jobs.append("outdated")
            case .shows(let slots): jobs.append("\(slots.map(\.mid))")
            }
        }
        return jobs
    }

    @Test("events from before the reader are kept, coalesced, and announced once")
    func announced() async {
        let registry = registry
        registry.handle(.slotsChanged([LegSlot(mid: "1", kind: .audio)]), of: leg)
        registry.handle(.connected, of: leg)
        registry.handle(.slotsChanged([LegSlot(mid: "2", kind: .audio)]), of: leg)
        var reader = registry.legsWithJobs.makeAsyncIterator()
        #expect(await reader.next() == leg)
        #expect(jobs(registry) == ["connected", "[\"2\"]"])
        registry.handle(.ended(.connectionLost), of: leg)
        #expect(await reader.next() == leg, "announced again, since the jobs before were done")
        #expect(jobs(registry) == ["connection_lost"])
    }

    @Test("an endpoint that left the call is not notified of what its leg did before")
    func left() {
        let registry = registry
        registry.handle(.connected, of: leg)
        registry.handle(.ended(.closed), of: leg)
        registry.left(leg)
        #expect(jobs(registry).isEmpty)
    }

    @Test("only media of owned legs renews leases")
    func leases() throws {
        let user = UserID.make(at: Timestamp(milliseconds: 3))
        let registry = registry
        timers.startLease(CallLeases.Holder(call: leg.call, user: user, endpoint: leg.endpoint))
        registry.setOwner(.init(user: user, signIn: nil), of: leg)
        registry.handle(.alive, of: leg)
        #expect(registry.next(leg) == nil, "nothing to write")
        #expect(registry.removeAll { owner, _ in owner != user }.isEmpty)
        #expect(registry.removeAll { owner, _ in owner == user } == [leg])
        #expect(registry.removeAll { _, _ in true }.isEmpty, "once")
        #expect(timers.load.leases == 1 && timers.renewLeases(of: leg.endpoint))
        timers.endLease(leg.call, user)
        #expect(!timers.renewLeases(of: leg.endpoint))
    }
}
