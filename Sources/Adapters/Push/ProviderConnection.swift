import Providers
import Synchronization

/// The connection to a push service, over HTTP/2.
///
/// A connection that is dead without either side knowing would take every request until TCP gives up. So after a
/// request without a response the next one opens another; the old connection ends with its requests.
final class ProviderConnection: Sendable {
    /// How long an attempt has for which somebody waits: another one on another connection fits in while a call rings.
    static let urgentTimeout = Duration.seconds(5)

    private let authorities: String?
    private let client: Mutex<ProviderClient>

    init(authorities: String?) {
        self.authorities = authorities
        client = Mutex(ProviderClient(.http2, authorities: authorities))
    }

    func post(
        _ body: [UInt8], to url: String, headers: [(String, String)], maxResponseSize: Int,
        deadline: ContinuousClock.Instant
    ) async throws(ProviderFailure) -> ProviderClient.Response {
        let current = client.withLock { $0 }
        do throws(ProviderFailure) {
            return try await current.post(
                body, to: url, headers: headers, maxResponseSize: maxResponseSize, excess: .dropped, deadline: deadline)
        } catch {
            if error == .timedOut {
                client.withLock { client in
                    if client === current { client = ProviderClient(.http2, authorities: authorities) }
                }
            }
            throw error
        }
    }
}
