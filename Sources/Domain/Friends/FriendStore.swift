package import Accounts
package import Model

/// The storage of friends, contact links and reports, inside one transaction.
package protocol FriendStore: AccountStore {
    // Friends.
    /// What `owner` holds about `user`, expired or not.
    func friend(_ user: UserID, of owner: UserID) throws -> FriendRecord?
    /// Inserts or replaces.
    func save(_ record: FriendRecord) throws
    func removeFriend(_ user: UserID, of owner: UserID) throws
    /// How many records of a state the owner has, up to `limit`.
    func friendCount(of owner: UserID, in state: FriendRecord.State, limit: Int) throws -> Int
    /// What the owner sees, in the order of the other users' ids.
    func friends(
        of owner: UserID, in state: FriendRecord.State?, after user: UserID?, limit: Int
    ) throws -> [(record: FriendRecord, user: UserRecord)]
    /// What the owner sees, the newest first.
    func newestFriends(of owner: UserID, limit: Int) throws -> [(record: FriendRecord, user: UserRecord)]
    /// Some records that have expired.
    func expiredFriends(limit: Int) throws -> [FriendRecord]
    /// Some records of others about the user.
    func friendRecords(about user: UserID, limit: Int) throws -> [FriendRecord]
    /// The two are friends now: a request of one to write to the other is accepted.
    func acceptMessages(between one: UserID, and other: UserID) throws

    // Contact links.
    /// Replaces the user's link.
    func setContactLink(hash: [UInt8], of user: UserID) throws
    func removeContactLink(of user: UserID) throws
    func contactLinkOwner(hash: [UInt8]) throws -> UserID?

    // Reports.
    func insert(_ report: ReportRecord) throws
    /// When the user made reports since `time`, the oldest first.
    func reportTimes(by reporter: UserID, since time: Timestamp, limit: Int) throws -> [Timestamp]
    /// The newest first, before `cursor`; those that are resolved, or not, or all.
    func reports(before cursor: ReportID?, isOpen: Bool?, limit: Int) throws -> [ReportRecord]
    func report(_ id: ReportID) throws -> ReportRecord?
    func resolve(_ id: ReportID, _ resolution: ReportResolution) throws
    /// A message by `author` as `reporter` sees it, with some of the author's before it. Throws `not_found`.
    func reportedMessages(
        _ number: Int64, in conversation: ConversationID, by author: UserID, seenBy reporter: UserID
    ) throws -> [ReportedMessage]

    // Client ids.
    /// Records that the user made a request with this client id, unless one was made before.
    func remember(_ clientID: ClientID, of user: UserID, bodyHash: [UInt8], outcome: String) throws -> EarlierRequest
    func earlierRequest(_ clientID: ClientID, of user: UserID, bodyHash: [UInt8]) throws -> EarlierRequest
}

/// Whether a client id is new to its user.
package enum EarlierRequest: Hashable, Sendable {
    case none
    /// The same request was made before, with this outcome.
    case same(outcome: String)
    /// A different request used the id.
    case different
}

/// A database whose transactions provide a `FriendStore`.
package protocol FriendDatabase: Sendable {
    func readFriends<T: Sendable>(_ job: @escaping @Sendable (any FriendStore) throws -> T) async throws -> T

    /// Returns once the job's rows are durable, with the positions of its changes.
    func writeFriends<T: Sendable>(
        _ job: @escaping @Sendable (any FriendStore) throws -> T
    ) async throws -> (value: T, positions: [StreamName: Position])
}
