import Foundation
import Logging
import Synchronization

/// Whether the server accepts clients: once its last port is bound, and while it neither drains nor has a full disk.
final class Readiness: Sendable {
    /// Why the server does not accept clients, for the body of `/readyz`.
    enum Obstacle: String {
        case starting
        case draining
        case storageFull = "storage_full"
    }

    /// A port or socket that services bind after the start.
    enum Listener: Hashable, CaseIterable, Sendable {
        case control, admin, api
    }

    private struct Start {
        var missing: Set<Listener>
        /// The URL of the web client. Nil without the api.
        var address: String?
    }

    private let start: Mutex<Start>
    private let isDraining: @Sendable () -> Bool
    private let isStorageFull: @Sendable () -> Bool
    private let announce: @Sendable (String?) -> Void

    /// - Parameters:
    ///   - listeners: those that this process runs.
    ///   - announce: called once, after the last listener is bound, with the URL of the web client.
    init(
        listeners: Set<Listener>, isDraining: @escaping @Sendable () -> Bool,
        isStorageFull: @escaping @Sendable () -> Bool, announce: @escaping @Sendable (String?) -> Void
    ) {
        start = Mutex(Start(missing: listeners))
        self.isDraining = isDraining
        self.isStorageFull = isStorageFull
        self.announce = announce
    }

    /// Nil if the server accepts clients.
    var obstacle: Obstacle? {
        if start.withLock({ !$0.missing.isEmpty }) { return .starting }
        if isStorageFull() { return .storageFull }
        return isDraining() ? .draining : nil
    }

    /// Notes that a listener is bound.
    ///
    /// - Parameter address: of the api, the URL of the web client.
    func bound(_ listener: Listener, address: String? = nil) {
        let isLast = start.withLock { start in
            if let address { start.address = address }
            return start.missing.remove(listener) != nil && start.missing.isEmpty
        }
        if isLast { announce(start.withLock { $0.address }) }
    }

    /// Tells the operator on standard output and in the log that the server is ready.
    static func announce(at address: String?, logger: Logger) {
        print("Switchboard \(ServerVersion.text) is ready" + (address.map { ": open \($0)" } ?? "."))
        fflush(nil)
        logger.notice("ready", metadata: address.map { ["address": "\($0)"] } ?? [:])
    }
}
