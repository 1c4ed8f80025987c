import ICE
import OpenSSLCrypto
import STUN
import Wire

/// The ICE agent of a leg: controlling towards the media gateway, which is lite, and lite towards the other side of a
/// call of two, which offered and then controls (RFC 8445 section 6.1.1).
enum EchoAgent {
    case controlling(ControllingAgent)
    case lite(LiteAgent)

    enum Event: Hashable {
        case nothing
        /// Media is sent to this flow from now on.
        case selected(Flow)
        case failed(String)
    }

    var deadline: Instant? {
        switch self {
        case .controlling(let agent): agent.deadline
        case .lite(let agent): agent.deadline
        }
    }

    /// DTLS and SRTP from this flow belong to the leg.
    func isValid(_ flow: Flow) -> Bool {
        switch self {
        case .controlling(let agent): agent.selected == flow
        case .lite(let agent): agent.isValid(flow)
        }
    }

    mutating func receive(
        _ message: borrowing Message, on flow: Flow, at now: Instant, _ authentication: OpenSSLAuthentication,
        _ writer: inout MessageWriter, into outbox: inout some Outbox & ~Copyable
    ) -> Event {
        switch self {
        case .controlling(var agent):
            defer { self = .controlling(agent) }
            return Event(agent.receive(message, on: flow, at: now, authentication, &writer, into: &outbox))
        case .lite(var agent):
            defer { self = .lite(agent) }
            let outcome = agent.receive(message, on: flow, at: now, authentication, &writer, into: &outbox)
            guard case .answered(let changes) = outcome, let selected = changes.selected else { return .nothing }
            return .selected(selected)
        }
    }

    mutating func advance(
        to now: Instant, _ authentication: OpenSSLAuthentication, _ writer: inout MessageWriter,
        into outbox: inout some Outbox & ~Copyable
    ) -> Event {
        switch self {
        case .controlling(var agent):
            defer { self = .controlling(agent) }
            return Event(agent.advance(to: now, authentication, &writer, into: &outbox))
        case .lite(var agent):
            defer { self = .lite(agent) }
            var removed: [Flow] = []
            return switch agent.advance(to: now, removed: &removed) {
            case .neverChecked: .failed("no ICE check arrived")
            case .consentExpired: .failed("no ICE check has arrived for 30 s")
            case nil: .nothing
            }
        }
    }

    /// Begins a new generation of credentials, for an offer that restarts ICE.
    mutating func restart(_ credentials: LocalCredentials, remoteUfrag: String) {
        guard case .lite(var agent) = self else { return }
        _ = agent.restart(credentials, remoteUfrag: remoteUfrag)
        self = .lite(agent)
    }
}

extension EchoAgent.Event {
    fileprivate init(_ event: ControllingAgent.Event) {
        self =
            switch event {
            case .nothing: .nothing
            case .selected(let flow): .selected(flow)
            case .failed(.noResponse): .failed("no ICE check got a response")
            case .failed(.refused(let number)): .failed("an ICE check was rejected with \(number)")
            case .failed(.consentExpired): .failed("the gateway has not responded to a check for 30 s")
            }
    }
}
