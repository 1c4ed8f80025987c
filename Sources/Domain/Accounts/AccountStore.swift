package import Model
package import Notifications
package import Webhooks

/// The storage of accounts, inside one transaction. Synchronous: it is used only inside a database's jobs.
package protocol AccountStore: MediaUsageStore, ServerKeyStore, AuditStore, EventStore {
    /// The wall-clock time of the transaction.
    var now: Timestamp { get }

    /// Appends a change to the user's stream, in the same transaction.
    @discardableResult
    func append(_ type: UserChangeType, _ data: some Encodable, to user: UserID) throws -> Position

    // Users.
    func user(_ id: UserID) throws -> UserRecord?
    /// `key` is `AccountRules.emailKey` of an address.
    func user(emailKey key: String) throws -> UserRecord?
    func user(issuer: String, subject: String) throws -> UserRecord?
    /// Some password hash of Firebase, if any is stored.
    func firebaseHash() throws -> String?
    /// Returns false if the e-mail address is taken.
    func insert(_ user: UserRecord) throws -> Bool
    /// Writes profile, settings, password hash and whether it is disabled or deleted. A deleted user is not found by name.
    func update(_ user: UserRecord) throws
    func link(_ identity: ExternalIdentity, to user: UserID) throws
    /// Removes the user's identities, which others may have from now on; returns them.
    func removeIdentities(of user: UserID) throws -> [ExternalIdentity]
    /// Remembers that the user of an identity was deleted now. `hash` is `ExternalIdentity.tombstone`.
    func insertDeletedIdentity(hash: [UInt8]) throws
    /// When the identity's last user was deleted.
    func identityDeletedAt(hash: [UInt8]) throws -> Timestamp?
    /// Adds the erasure of what is stored of the user, whose photo is in the file.
    func insertErasure(of user: UserID, photo: FileID?) throws
    /// The subjects of an issuer that those of `users` have who have one.
    func outsideSubjects(of users: [UserID], issuer: String) throws -> [UserID: String]
    /// Users whose names match all `terms` as word prefixes, after `cursor`: those who are not disabled and whom `reader`
    /// may find by name, without the reader; all if that is nil.
    func users(
        matching terms: [String], for reader: UserID?, after cursor: NameCursor?, limit: Int
    ) throws -> [(user: UserRecord, cursor: NameCursor, isFriend: Bool)]
    /// All users in the order of their ids.
    func users(after id: UserID?, limit: Int) throws -> [UserRecord]

    // Files of photos.
    func insert(_ file: MediaFile) throws
    func removeMediaFile(_ id: FileID) throws

    // Blocks.
    /// Returns whether that changed anything.
    func block(_ user: UserID, by blocker: UserID) throws -> Bool
    func unblock(_ user: UserID, by blocker: UserID) throws -> Bool
    func isBlocked(_ user: UserID, by blocker: UserID) throws -> Bool
    func blockedUsers(by blocker: UserID, after id: UserID?, limit: Int) throws -> [UserRecord]

    // Sign-ins and devices.
    func insert(_ signIn: SignInRecord) throws
    func signIn(_ id: SignInID) throws -> SignInRecord?
    /// By what the user's devices are told that sleep.
    func pushKinds(of user: UserID) throws -> [DeviceID: [PushKind]]
    /// The registrations of the user's devices, the last renewed first.
    func pushRegistrations(of user: UserID) throws -> [PushRegistration]
    /// Returns whether there was one.
    func removePushRegistration(of user: UserID, on device: DeviceID, _ kind: PushKind) throws -> Bool
    func update(_ signIn: SignInRecord) throws
    /// The open sign-ins with their devices, latest use first, after `cursor`.
    func openSignIns(
        of user: UserID, after cursor: UseCursor<SignInID>?, limit: Int
    ) throws -> [(signIn: SignInRecord, device: DeviceRecord)]
    /// Sign-ins that ended after `time`, whose access tokens may not have expired yet.
    func signInsEnded(since time: Timestamp) throws -> [(id: SignInID, at: Timestamp)]
    func device(_ id: DeviceID, of user: UserID) throws -> DeviceRecord?
    /// Inserts or updates.
    func save(_ device: DeviceRecord) throws
    /// Latest use first, after `cursor`.
    func devices(of user: UserID, after cursor: UseCursor<DeviceID>?, limit: Int) throws -> [DeviceRecord]
    /// Removes a device whose sign-ins have ended.
    func removeDevice(_ id: DeviceID, of user: UserID) throws

    /// When the store was last restored from a backup: clients may have newer tokens than the store.
    func restoredAt() throws -> Timestamp?

    // Endpoints.
    func endpoint(_ id: EndpointID) throws -> EndpointRecord?
    /// Returns false if the id is taken.
    func insert(_ endpoint: EndpointRecord) throws -> Bool
    /// Sets the endpoint's last use to now, with this sign-in.
    func updateLastUse(of endpoint: EndpointID, by signIn: SignInID?) throws
    /// Removes the user's least recently used endpoints beyond `limit`, a batch at a time; returns their ids.
    func removeUnusedEndpoints(of user: UserID, keeping limit: Int) throws -> [EndpointID]

    // Invites.
    func insertInvite(hash: [UInt8]) throws
    func isInviteUnused(hash: [UInt8]) throws -> Bool
    /// Returns false if there is no such unused invite.
    func useInvite(hash: [UInt8], by user: UserID) throws -> Bool

    /// Removes sign-ins that ended or were last used before `time`, with the devices and endpoints that they leave
    /// behind. Returns the number of removed rows.
    func removeStale(before time: Timestamp, limit: Int) throws -> Int
}

/// The cursor of a list that is sorted by last use.
package struct UseCursor<ID: Hashable & Sendable>: Hashable, Sendable {
    package var usedAt: Timestamp
    package var id: ID

    package init(usedAt: Timestamp, id: ID) {
        self.usedAt = usedAt
        self.id = id
    }
}

/// The cursor of a search by name.
package struct NameCursor: Hashable, Sendable {
    package var word: String
    package var user: UserID

    package init(word: String, user: UserID) {
        self.word = word
        self.user = user
    }
}

/// A database whose transactions provide an `AccountStore`.
package protocol AccountDatabase: Sendable {
    func readAccounts<T: Sendable>(_ job: @escaping @Sendable (any AccountStore) throws -> T) async throws -> T

    /// Returns once the job's rows are durable, with the positions of its changes.
    func writeAccounts<T: Sendable>(
        _ job: @escaping @Sendable (any AccountStore) throws -> T
    ) async throws -> (value: T, positions: [StreamName: Position])
}
