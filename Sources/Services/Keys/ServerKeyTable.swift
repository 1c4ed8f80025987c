package import Accounts
package import Model

/// The server keys in memory, by id.
package struct ServerKeyTable: Sendable {
    private struct Entry: Sendable {
        var record: ServerKeyRecord
        var addresses: KeyAddresses
    }

    private let entries: [ServerKeyID: Entry]

    package init(_ records: [ServerKeyRecord] = []) {
        entries = Dictionary(
            records.map { ($0.id, Entry(record: $0, addresses: KeyAddresses($0.addresses))) },
            uniquingKeysWith: { first, _ in first })
    }

    /// All of them, the oldest first.
    package var records: [ServerKeyRecord] {
        entries.values.map(\.record).sorted { ($0.createdAt, $0.id.text) < ($1.createdAt, $1.id.text) }
    }

    /// Finds the record of a key. What is wrong with a key is disclosed only if its digest matches.
    package func find(
        _ id: ServerKeyID, digest: [UInt8], from address: String, at now: Timestamp
    ) throws(ServerKeyRefusal) -> ServerKeyRecord {
        guard let entry = entries[id], entry.record.accepts(digest, at: now) else { throw .unknown }
        return try find(id, from: address, at: now)
    }

    /// Finds the record of a key that was presented before, if the key may still be used.
    package func find(
        _ id: ServerKeyID, from address: String, at now: Timestamp
    ) throws(ServerKeyRefusal) -> ServerKeyRecord {
        guard let entry = entries[id] else { throw .unknown }
        switch entry.record.state(at: now) {
        case .revoked: throw .revoked
        case .expired: throw .expired
        case .active: break
        }
        guard entry.addresses.contains(address) else { throw .wrongAddress }
        return entry.record
    }
}
