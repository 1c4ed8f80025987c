package import Model

/// The rows of the accounts inside one transaction. Synchronous: it is used only inside a database's jobs.
package protocol AccountStore: MediaUsageStore {
    /// The wall time of the transaction.
    var now: Timestamp { get }

    /// Appends a change to a stream, in the same transaction.
    @discardableResult
    func append(_ type: String, _ data: some Encodable, to stream: StreamName) throws -> Position

    // Users.
    func user(_ id: UserID) throws -> UserRecord?
    /// `key` is `AccountRules.emailKey` of an address.
    func user(emailKey key: String) throws -> UserRecord?
    func user(issuer: String, subject: String) throws -> UserRecord?
    /// Returns false when the e-mail address is taken.
    func insert(_ user: UserRecord) throws -> Bool
    /// Writes profile, settings, password hash and whether it is disabled.
    func update(_ user: UserRecord) throws
    func link(_ identity: OutsideIdentity, to user: UserID) throws
    /// Users other than `asker` with a word that begins with each of `words`, after `cursor`.
    func users(
        withWords words: [String], except asker: UserID, after cursor: NameCursor?, limit: Int
    ) throws -> [(user: UserRecord, cursor: NameCursor)]
    /// All users in the order of their ids.
    func users(after id: UserID?, limit: Int) throws -> [UserRecord]

    // Files of photos.
    func insert(_ file: MediaFile) throws
    func removeMediaFile(_ id: FileID) throws

    // Blocks.
    /// Returns whether it was not so before.
    func block(_ user: UserID, by blocker: UserID) throws -> Bool
    func unblock(_ user: UserID, by blocker: UserID) throws -> Bool
    func isBlocked(_ user: UserID, by blocker: UserID) throws -> Bool
    func blockedUsers(by blocker: UserID, after id: UserID?, limit: Int) throws -> [UserRecord]

    // Sign-ins and devices.
    func insert(_ signIn: SignInRecord) throws
    func signIn(_ id: SignInID) throws -> SignInRecord?
    func update(_ signIn: SignInRecord) throws
    /// Those that have not ended, with their devices, latest use first, after `cursor`.
    func openSignIns(
        of user: UserID, after cursor: UseCursor<SignInID>?, limit: Int
    ) throws -> [(signIn: SignInRecord, device: DeviceRecord)]
    /// Those that ended after `time`, when access tokens issued before may still be around.
    func signInsEnded(since time: Timestamp) throws -> [(id: SignInID, at: Timestamp)]
    func device(_ id: DeviceID, of user: UserID) throws -> DeviceRecord?
    /// Inserts or updates.
    func save(_ device: DeviceRecord) throws
    /// Latest use first, after `cursor`.
    func devices(of user: UserID, after cursor: UseCursor<DeviceID>?, limit: Int) throws -> [DeviceRecord]
    /// Removes a device whose sign-ins have ended.
    func removeDevice(_ id: DeviceID, of user: UserID) throws

    /// When everything was last restored from a backup: clients may hold tokens that were made in a life of which the
    /// store knows nothing.
    func restoredAt() throws -> Timestamp?

    // Endpoints.
    func endpoint(_ id: EndpointID) throws -> EndpointRecord?
    /// Returns false when the id is taken.
    func insert(_ endpoint: EndpointRecord) throws -> Bool
    /// Notes that the endpoint is used at this moment.
    func noteUse(of endpoint: EndpointID) throws
    /// Removes those of the user's endpoints beyond `limit` that were unused for longest, some at a time; returns which.
    func removeUnusedEndpoints(of user: UserID, keeping limit: Int) throws -> [EndpointID]

    // Invites.
    func insertInvite(hash: [UInt8]) throws
    /// Returns false when there is no such unused invite.
    func useInvite(hash: [UInt8], by user: UserID) throws -> Bool

    /// Removes sign-ins that ended or were last used before `time`, with the devices and endpoints that are left behind.
    /// Returns how many rows went.
    func removeStale(before time: Timestamp, limit: Int) throws -> Int
}

/// Where a list that begins with the latest use goes on.
package struct UseCursor<ID: Hashable & Sendable>: Hashable, Sendable {
    package var usedAt: Timestamp
    package var id: ID

    package init(usedAt: Timestamp, id: ID) {
        self.usedAt = usedAt
        self.id = id
    }
}

/// Where a search by name goes on.
package struct NameCursor: Hashable, Sendable {
    package var word: String
    package var user: UserID

    package init(word: String, user: UserID) {
        self.word = word
        self.user = user
    }
}

/// A database whose transactions offer the accounts' rows.
package protocol AccountDatabase: Sendable {
    func readAccounts<T: Sendable>(_ job: @escaping @Sendable (any AccountStore) throws -> T) async throws -> T

    /// Returns once the job's rows are durable, with the positions that its changes reached.
    func writeAccounts<T: Sendable>(
        _ job: @escaping @Sendable (any AccountStore) throws -> T
    ) async throws -> (value: T, positions: [StreamName: Position])
}
