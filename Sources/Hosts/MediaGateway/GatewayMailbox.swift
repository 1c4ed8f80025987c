import DatagramIO
package import Gateway
package import ICE
package import SDP
import Synchronization
package import Wire

/// What a worker needs to open a leg.
package struct LegOpening: Sendable {
    let number: UInt64
    let key: LegKey
    let credentials: LocalCredentials
    let negotiated: NegotiatedLeg
    let sources: [String: TrackSource]

    package init(
        number: UInt64, key: LegKey, credentials: LocalCredentials, negotiated: NegotiatedLeg,
        sources: [String: TrackSource] = [:]
    ) {
        self.number = number
        self.key = key
        self.credentials = credentials
        self.negotiated = negotiated
        self.sources = sources
    }
}

/// A command from another thread to a worker.
package enum GatewayCommand: Sendable {
    package typealias Reply = @Sendable ([ShownSlot]?) -> Void

    case open(LegOpening, Reply)
    /// A later offer was answered; with new credentials for an ICE restart.
    case renegotiate(number: UInt64, NegotiatedLeg, [String: TrackSource], LocalCredentials?, Reply)
    /// The participant's preferences for its video slots, by mid.
    case setPreferences(number: UInt64, [String: PreferredQuality], @Sendable ([LegSlotPreference]?) -> Void)
    /// Starts or stops tapping the call's audio.
    case tap(call: String, isOn: Bool)
    case close(number: UInt64, LegEnd)
    /// The addresses of the machine have changed.
    case listen(opened: [AddressSockets], closed: Set<IPAddress>)
    case stop

    /// Replies that the command will not be executed.
    func reject() {
        switch self {
        case .open(_, let reply), .renegotiate(_, _, _, _, let reply): reply(nil)
        case .setPreferences(_, _, let reply): reply(nil)
        case .tap, .close, .listen, .stop: break
        }
    }
}

/// The only interface to a running worker: commands go in; stats and the audio of tapped calls come out.
package final class GatewayMailbox: Sendable {
    private struct State {
        var commands: [GatewayCommand] = []
        var isClosed = false
    }

    let wake: WakeSignal
    package let tap = AudioTap()
    private let state = Mutex(State())
    private let published = Mutex((stats: GatewayStats(), count: 0))

    package init?() {
        guard let wake = WakeSignal() else { return nil }
        self.wake = wake
    }

    /// False when the worker has stopped.
    package func post(_ command: GatewayCommand) -> Bool {
        let isOpen = state.withLock { state in
            if !state.isClosed { state.commands.append(command) }
            return !state.isClosed
        }
        if isOpen { wake.raise() }
        return isOpen
    }

    func takeAll() -> [GatewayCommand] {
        state.withLock { state in
            defer { state.commands = [] }
            return state.commands
        }
    }

    /// Accepts no more commands; returns those still waiting, which the caller has to answer.
    func close() -> [GatewayCommand] {
        state.withLock { state in
            state.isClosed = true
            defer { state.commands = [] }
            return state.commands
        }
    }

    /// Called by the worker a few times a second, never per packet.
    func publish(_ stats: GatewayStats) {
        published.withLock { $0 = (stats, $0.count + 1) }
    }

    package var stats: GatewayStats { published.withLock { $0.stats } }
    /// How often they were published.
    var publicationCount: Int { published.withLock { $0.count } }
}
