import DatagramIO
package import Gateway
package import ICE
package import SDP
import Synchronization

/// What a worker is told about a leg that is to be.
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

/// What other threads tell a worker.
package enum GatewayCommand: Sendable {
    package typealias Reply = @Sendable ([ShownSlot]?) -> Void

    case open(LegOpening, Reply)
    /// A later offer was answered; with new credentials when ICE begins again.
    case renegotiate(number: UInt64, NegotiatedLeg, [String: TrackSource], LocalCredentials?, Reply)
    /// What the participant wants in its video slots, by mid.
    case want(number: UInt64, [String: WantedQuality], @Sendable ([SlotWish]?) -> Void)
    /// What is said in the call goes to the tap from now on, or no longer.
    case tap(call: String, isOn: Bool)
    case close(number: UInt64, LegEnd)
    case stop

    /// Nobody will do it: whoever waits for a reply is told.
    func refuse() {
        switch self {
        case .open(_, let reply), .renegotiate(_, _, _, _, let reply): reply(nil)
        case .want(_, _, let reply): reply(nil)
        case .tap, .close, .stop: break
        }
    }
}

/// The only door into a running worker; its figures, and what is said in tapped calls, are all that comes out.
package final class GatewayMailbox: Sendable {
    private struct State {
        var commands: [GatewayCommand] = []
        var isClosed = false
    }

    let wake: WakeSignal
    package let tap = SoundTap()
    private let state = Mutex(State())
    private let published = Mutex(GatewayFigures())

    package init?() {
        guard let wake = WakeSignal() else { return nil }
        self.wake = wake
    }

    /// False when the worker has stopped: then nobody will read it.
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

    /// Takes no more; what still waits is for the caller to answer.
    func close() -> [GatewayCommand] {
        state.withLock { state in
            state.isClosed = true
            defer { state.commands = [] }
            return state.commands
        }
    }

    /// Called by the worker a few times a second, never per packet.
    func publish(_ figures: GatewayFigures) {
        published.withLock { $0 = figures }
    }

    package var figures: GatewayFigures { published.withLock { $0 } }
}
