public import Foundation

/// A link by which people join a group.
public struct GroupLink: Codable, Hashable, Sendable, Identifiable {
    /// The link's id.
    public var id: String
    /// The user who made it.
    public var maker: UserID
    /// When it was made.
    public var createdAt: Date
    /// When it stops working.
    public var expiresAt: Date
    /// How many people may join by it; nil for any number.
    public var maxUses: Int?
    /// How many have joined by it.
    public var uses: Int
}

// Links of a group. They need a connection.
extension Messages {
    private struct NewLink: Encodable, Sendable {
        var conversation: ConversationID
        var expiresAt: String?
        var maxUses: Int?
    }
    private struct OfLink: Encodable, Sendable { var conversation: ConversationID; var link: String }
    private struct Made: Decodable, Sendable { var link: GroupLink; var token: String }
    private struct List: Decodable, Sendable { var links: [GroupLink] }

    /// Makes a link by which people join the group without an invitation. Members who may add people can do that.
    ///
    /// - Parameters:
    ///   - time: When it stops working: a minute to 365 days from now; nil is a week.
    ///   - uses: How many people may join by it, 1 to 10,000; nil for any number.
    /// - Returns: The link, and its token for ``Conversations/join(_:)``, which cannot be read again.
    public func makeLink(
        expiring time: Date? = nil, for uses: Int? = nil
    ) async throws -> (link: GroupLink, token: String) {
        let made: Made = try await realtime.request(
            "links.create",
            NewLink(
                conversation: await realtime.resolve(conversation), expiresAt: time.map { JSON.text($0) }, maxUses: uses
            ))
        return (made.link, made.token)
    }

    /// The group's links that have not expired. Administrators get all of them; other members who may add people get
    /// their own.
    public func links() async throws -> [GroupLink] {
        let list: List = try await realtime.request(
            "links.list", ["conversation": await realtime.resolve(conversation)])
        return list.links
    }

    /// Removes a link, which stops working: one's own, or as an administrator any. Removing twice changes nothing.
    public func removeLink(_ link: GroupLink.ID) async throws {
        let _: Nothing = try await realtime.request(
            "links.remove", OfLink(conversation: await realtime.resolve(conversation), link: link))
    }
}

extension Conversations {
    /// Joins a group by its link, which ``Switchboard/link(_:)`` shows before. Joining twice changes nothing.
    ///
    /// - Parameter token: The link's token.
    public func join(_ token: String) async throws -> Conversation {
        let result: ConversationResult = try await realtime.request("links.join", ["token": token])
        return result.conversation
    }
}
