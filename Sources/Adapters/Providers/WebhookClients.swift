internal import Synchronization
package import Webhooks

/// Clients that connect only to addresses that were checked, and keep their connections.
///
/// There is one client per host, which knows the checked address under the host's name, so the name is not resolved a
/// second time while connecting (DNS rebinding). After a minute the name is resolved again. The client stays if the
/// name still has its address; else a new one takes its place, and the old one ends with its last request. However many
/// requests need a host, it is resolved once at a time.
package final class WebhookClients: Sendable {
    package typealias Resolver = @Sendable (_ host: String) async throws(ProviderFailure) -> [String]

    package struct Limits: Sendable {
        /// Hosts that are remembered.
        package var hosts = 256
        /// How long a checked address is used.
        package var lifetime = Duration.seconds(60)
        /// How long a failure is remembered.
        package var failureLifetime = Duration.seconds(5)
        /// How long a resolution may take.
        package var resolution = Duration.seconds(10)

        package init() {}
    }

    private typealias Found = Result<WebhookClient, ProviderFailure>

    private struct Key: Hashable {
        var host: String
        var isEncrypted: Bool
    }

    private struct Checked {
        var address: String
        var client: WebhookClient
    }

    private struct Entry {
        var checked: Checked?
        var failure: ProviderFailure?
        var validUntil: ContinuousClock.Instant
        var used: ContinuousClock.Instant
        /// Present while the name is being resolved.
        var waiting: [AsyncStream<Found>.Continuation]?
    }

    private enum Lookup {
        case done(Found)
        case wait(AsyncStream<Found>, isFirst: Bool)
    }

    private let rules: WebhookAddressRules
    private let limits: Limits
    private let resolver: Resolver
    private let now: @Sendable () -> ContinuousClock.Instant
    private let entries = Mutex<[Key: Entry]>([:])

    package init(
        _ rules: WebhookAddressRules, limits: Limits = Limits(),
        resolver: @escaping Resolver = { host async throws(ProviderFailure) in
            try await SystemResolver.addresses(of: host)
        },
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.rules = rules
        self.limits = limits
        self.resolver = resolver
        self.now = now
    }

    /// The client for a URL whose host was checked within the last minute.
    package func client(
        for url: WebhookURL, deadline: ContinuousClock.Instant
    ) async throws(ProviderFailure) -> WebhookClient {
        let key = Key(host: url.host, isEncrypted: url.isEncrypted)
        switch lookUp(key) {
        case .done(let found): return try found.get()
        case .wait(let stream, let isFirst):
            // Not a child: others wait for it too, and it ends by its own deadline.
            if isFirst { Task { await self.resolve(key) } }
            return try await Deadline.race(deadline) { () async throws(ProviderFailure) in
                var found = stream.makeAsyncIterator()
                guard let found = await found.next() else { throw .cancelled }
                return try found.get()
            }
        }
    }

    private func lookUp(_ key: Key) -> Lookup {
        let now = now()
        return entries.withLock { entries in
            var entry = entries[key] ?? Entry(validUntil: now, used: now)
            defer { entries[key] = entry }
            entry.used = now
            if now < entry.validUntil {
                if let failure = entry.failure { return .done(.failure(failure)) }
                if let checked = entry.checked { return .done(.success(checked.client)) }
            }
            let (stream, continuation) = AsyncStream.makeStream(of: Found.self)
            let isFirst = entry.waiting == nil
            entry.waiting = (entry.waiting ?? []) + [continuation]
            return .wait(stream, isFirst: isFirst)
        }
    }

    private func resolve(_ key: Key) async {
        let found: Result<[String], ProviderFailure>
        do throws(ProviderFailure) {
            let resolver = resolver
            found = .success(
                try await Deadline.race(.now + limits.resolution) { () async throws(ProviderFailure) in
                    try await resolver(key.host)
                })
        } catch {
            found = .failure(error == .timedOut ? .unreachable("its name could not be resolved in time") : error)
        }
        let addresses = found.flatMap { check($0, isEncrypted: key.isEncrypted) }
        let now = now()
        let (result, waiting) = entries.withLock { entries in
            var entry = entries[key] ?? Entry(validUntil: now, used: now)
            let result = update(&entry, key.host, addresses, at: now)
            let waiting = entry.waiting ?? []
            entry.waiting = nil
            entries[key] = entry
            evict(from: &entries)
            return (result, waiting)
        }
        for continuation in waiting {
            continuation.yield(result)
            continuation.finish()
        }
    }

    /// When one of several addresses is not permitted, all are rejected: a name with both is an attack or a mistake.
    private func check(_ addresses: [String], isEncrypted: Bool) -> Result<[String], ProviderFailure> {
        if addresses.isEmpty { return .failure(.unreachable("its name has no address")) }
        if let wrong = addresses.first(where: { !rules.permits($0, isEncrypted: isEncrypted) }) {
            return .failure(.addressNotAllowed(wrong))
        }
        return .success(addresses)
    }

    private func update(
        _ entry: inout Entry, _ host: String, _ addresses: Result<[String], ProviderFailure>,
        at now: ContinuousClock.Instant
    ) -> Found {
        switch addresses {
        case .failure(let failure):
            entry.checked = nil
            entry.failure = failure
            entry.validUntil = now + limits.failureLifetime
            return .failure(failure)
        case .success(let addresses):
            entry.failure = nil
            entry.validUntil = now + limits.lifetime
            if let checked = entry.checked, addresses.contains(checked.address) { return .success(checked.client) }
            let address = addresses.first ?? ""
            let client = WebhookClient(host: host, address: address)
            entry.checked = Checked(address: address, client: client)
            return .success(client)
        }
    }

    /// Forgets the hosts that were used longest ago.
    private func evict(from entries: inout [Key: Entry]) {
        while entries.count > limits.hosts,
            let oldest = entries.filter({ $0.value.waiting == nil }).min(by: { $0.value.used < $1.value.used })
        {
            entries[oldest.key] = nil
        }
    }
}
