package import Bus
import Calls
import Languages
import Metrics
import Model
package import Realtime
package import Relay

/// Applies the effects of committed call commands: streams, timers, relay credentials, legs and recordings.
///
/// It depends only on what is below the services that run commands. What needs a command in turn goes into a queue
/// (`RecordingJobs`, `DetachedEndpoints`), whose reader is a service.
package final class CallEffects: Sendable {
    private let hub: RealtimeHub
    private let bus: any EventBus
    private let relay: RelayServer?
    private let timers: CallTimers
    private let legs: LegRegistry
    private let sessions: WHIPRegistry
    private let gateway: GatewayLegs?
    private let recordings: RecordingJobs
    private let detached: DetachedEndpoints
    private let captionReaders: CaptionReaders
    private let droppedCaptions = Counter(label: "caption_translations_total", dimensions: [("outcome", "dropped")])
    private let ended = Counter(label: "calls_ended_total")
    private let rings = Counter(label: "calls_rings_total")

    package init(
        hub: RealtimeHub, bus: any EventBus, relay: RelayServer?, timers: CallTimers, legs: LegRegistry,
        sessions: WHIPRegistry, gateway: GatewayLegs?, recordings: RecordingJobs, detached: DetachedEndpoints,
        captionReaders: CaptionReaders
    ) {
        self.captionReaders = captionReaders
        self.hub = hub
        self.bus = bus
        self.relay = relay
        self.timers = timers
        self.legs = legs
        self.sessions = sessions
        self.gateway = gateway
        self.recordings = recordings
        self.detached = detached
    }

    /// Called in the order of the commits, on the store's writer thread and others, so it must be brief.
    func apply(_ effects: [CallEffect]) {
        for effect in effects { apply(effect) }
    }

    private func apply(_ effect: CallEffect) {
        switch effect {
        case .attachUser(let user, let stream): hub.attach(user: user, stream: stream)
        case .attachEndpoint(let endpoint, let stream): hub.attach(endpoint: endpoint, stream: stream)
        case .dropEndpoint(let endpoint, let stream):
            hub.drop(endpoint: endpoint, from: stream)
            if case .captions(let call) = stream, let language = captionReaders.remove(endpoint, from: call) {
                hub.drop(endpoint: endpoint, from: .captionTranslations(call, language: language.string))
            }
        case .dropUser(let user, let stream):
            hub.drop(user: user, from: stream)
            guard case .captions(let call) = stream else { break }
            for language in captionReaders.remove(user, from: call) {
                hub.drop(user: user, from: .captionTranslations(call, language: language.string))
            }
        case .detach(let stream):
            hub.detach(stream: stream)
            guard case .captions(let call) = stream else { break }
            for language in captionReaders.remove(call) {
                hub.detach(stream: .captionTranslations(call, language: language.string))
            }
        case .schedule(let deadline): timers.schedule(deadline)
        case .unschedule(let key): timers.unschedule(key)
        case .leaseStarted(let call, let user, let endpoint):
            timers.startLease(CallLeases.Holder(call: call, user: user, endpoint: endpoint))
            // The endpoint may have detached while its request was processed, before it had a lease.
            detached.add(endpoint, of: user)
        case .leaseRenewed(let call, let user): timers.renewLease(call, user)
        case .leaseEnded(let call, let user):
            timers.endLease(call, user)
            for session in sessions.userLeft(call, user) { gateway?.end(session.id.callLeg) }
        case .relayEnded(let call, let user):
            relay?.revoke(
                user: user.text, in: call.text, credentialSeconds: ICEServerIssuer.maximumLifetimeSeconds)
        case .ringPush: rings.increment()
        case .legEnded(let call, let endpoint):
            // A session of WHIP or WHEP stays beside the endpoint that replaced it; if the user has left, the end of
            // the lease follows.
            guard !sessions.holds(endpoint) else { break }
            let leg = CallLeg(call: call, endpoint: endpoint)
            legs.left(leg)
            gateway?.end(leg)
        case .recordingBegan(let call, let recording): recordings.add(.begin(recording, call))
        case .recordingEnded(let call, _): recordings.add(.end(call))
        case .captionsBegan(let call):
            timers.setCaptioned(call, true)
            recordings.add(.caption(call))
        case .captionsEnded(let call):
            timers.setCaptioned(call, false)
            recordings.add(.uncaption(call))
        case .caption(let call, let caption, let audience):
            bus.publish(EphemeralEvent(stream: .captions(call), data: caption.json, audience: audience))
            droppedCaptions.increment(by: captionReaders.add(caption, of: call, to: audience))
        case .ended(let call):
            ended.increment()
            timers.ended(call)
            relay?.revoke(call: call.text, credentialSeconds: ICEServerIssuer.maximumLifetimeSeconds)
        }
    }
}

/// The queue of endpoints that may have detached when they got a lease; `CallClock` reads it.
package struct DetachedEndpoints: Sendable {
    private let hub: RealtimeHub
    private let sessions: WHIPRegistry
    private let queue = AsyncStream.makeStream(of: (endpoint: EndpointID, user: UserID).self)

    package init(hub: RealtimeHub, sessions: WHIPRegistry) {
        self.hub = hub
        self.sessions = sessions
    }

    var all: AsyncStream<(endpoint: EndpointID, user: UserID)> { queue.stream }

    /// Adds the endpoint, unless it is present.
    func add(_ endpoint: EndpointID, of user: UserID) {
        if !isPresent(endpoint) { queue.continuation.yield((endpoint, user)) }
    }

    /// Whether the endpoint is connected, or is a session of WHIP or WHEP, which needs no connection.
    func isPresent(_ endpoint: EndpointID) -> Bool { hub.isConnected(endpoint) || sessions.holds(endpoint) }
}
