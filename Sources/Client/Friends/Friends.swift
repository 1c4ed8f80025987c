/// The friends of the signed-in user: ``Switchboard/friends``.
public struct Friends: Sendable {
    let realtime: RealtimeEndpoint

    private struct Asking: Encodable { var clientID = newUUID(); var user: UserID; var note: String? }
    private struct Listing: Encodable { var state: Friend.State?; var limit: Int?; var cursor: String? }
    private struct FriendMember: Decodable { var friend: Friend }

    /// Friends and requests: now, then whenever they change, the newest first. Opens the connection.
    ///
    /// A snapshot has the newest 200; ``list(in:limit:after:)`` has all. It outlives sign-ins, as
    /// ``Switchboard/incomingCalls`` does.
    public var all: AsyncStream<[Friend]> {
        get async { await realtime.friendLists() }
    }

    /// Asks a user to become a friend. If they have asked too, the two are friends at once. A request waits for 30 days.
    ///
    /// Whether it was declined, or does not arrive because of a block, looks the same.
    ///
    /// - Parameters:
    ///   - user: Who is asked.
    ///   - note: What the user is shown with it, at most 300 characters.
    /// - Throws: ``Problem/Kind/conflict`` if 200 requests wait already, and ``Problem/Kind/rateLimited``.
    @discardableResult
    public func request(_ user: UserID, note: String? = nil) async throws -> Friend {
        let result: FriendMember = try await realtime.request("friends.request", Asking(user: user, note: note))
        return result.friend
    }

    /// Friends and requests, in the order of the users' ids.
    ///
    /// - Parameters:
    ///   - state: Only those in this state; nil for all.
    ///   - limit: How many at most, 1 to 100.
    ///   - cursor: ``FriendPage/nextCursor`` of the previous page.
    public func list(
        in state: Friend.State? = nil, limit: Int? = nil, after cursor: String? = nil
    ) async throws -> FriendPage {
        try await realtime.request("friends.list", Listing(state: state, limit: limit, cursor: cursor))
    }

    /// Accepts the request of a user. Accepting twice changes nothing.
    @discardableResult
    public func accept(_ user: UserID) async throws -> Friend {
        let result: FriendMember = try await realtime.request("friends.accept", ["user": user])
        return result.friend
    }

    /// Declines the request of a user, of which they are not notified. For 30 days, no other arrives from them.
    public func decline(_ user: UserID) async throws {
        let _: Nothing = try await realtime.request("friends.decline", ["user": user])
    }

    /// Ends a friendship, or cancels the signed-in user's own request. Removing twice changes nothing.
    public func remove(_ user: UserID) async throws {
        let _: Nothing = try await realtime.request("friends.remove", ["user": user])
    }
}

extension Switchboard {
    private struct MadeLink: Decodable { var token: String }
    private struct Reporting: Encodable {
        var clientID = newUUID()
        var user: UserID
        var reason: ReportReason
        var text: String?
    }

    /// The friends of the signed-in user, and requests.
    public var friends: Friends { Friends(realtime: realtime) }

    /// Makes a link by which others find the signed-in user, whatever ``Me/reach`` is. An earlier one stops working.
    ///
    /// - Returns: The token, which cannot be read again, for ``link(_:)``.
    public func makeContactLink() async throws -> String {
        let made: MadeLink = try await realtime.request("me.makeLink", Nothing())
        return made.token
    }

    /// Removes the signed-in user's link: it stops working.
    public func removeContactLink() async throws {
        let _: Nothing = try await realtime.request("me.removeLink", Nothing())
    }

    /// What a link is for.
    ///
    /// - Throws: ``Problem/Kind/notFound`` for a token that is wrong or was removed.
    public func link(_ token: String) async throws -> Link {
        try await realtime.request("links.get", ["token": token])
    }

    /// Reports a user to the operator of the server, at most 20 a day.
    ///
    /// - Parameters:
    ///   - user: Who is reported.
    ///   - reason: What kind of trouble it is.
    ///   - text: What happened, at most 2,000 characters.
    public func report(_ user: UserID, reason: ReportReason, text: String? = nil) async throws {
        let _: Nothing = try await realtime.request(
            "reports.create", Reporting(user: user, reason: reason, text: text))
    }
}
