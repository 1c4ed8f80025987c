package import Model

/// The storage of server keys, inside one transaction.
package protocol ServerKeyStore {
    /// All keys, the oldest first.
    func serverKeys() throws -> [ServerKeyRecord]
    func serverKey(_ id: ServerKeyID) throws -> ServerKeyRecord?
    func insert(_ key: ServerKeyRecord) throws
    /// Writes the digests and the end of a key.
    func update(_ key: ServerKeyRecord) throws
    func updateLastUse(of key: ServerKeyID, to time: Timestamp) throws
    /// Removes the keys that were revoked before the latest `limit` of them.
    func removeRevokedServerKeys(keeping limit: Int) throws
}
