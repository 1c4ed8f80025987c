import Model

/// What a client holds of an inbox.
struct HeldInbox {
    private(set) var rows: [String: JSONValue] = [:]
    /// Of what has left the list, too: what of it the user still sees.
    private(set) var memberships: [String: JSONValue] = [:]
    /// Of the snapshot: later ones are counted.
    private(set) var totals: JSONValue?

    mutating func replace(_ snapshot: JSONValue) {
        (rows, memberships) = ([:], [:])
        totals = snapshot["totals"]
        apply(snapshot["conversations"]?.items ?? [])
    }

    mutating func apply(_ new: [JSONValue]) {
        for row in new {
            guard let id = row["id"]?.string,
                row["counter"]?.integer ?? 0 >= rows[id]?["counter"]?.integer ?? 0
            else { continue }
            rows[id] = row["gone"] == nil ? row : nil
            // Of one that is off the list without it nothing is left.
            memberships[id] = row["membership"] ?? .null
        }
    }

    /// - Parameters:
    ///   - fresh: the window of who begins to listen now.
    ///   - archived: the archive, of which a client is sent what moves.
    func differences(from fresh: HeldInbox, archived: HeldInbox) -> [String] {
        var found: [String] = []
        for id in Set(rows.keys).union(fresh.rows.keys) {
            let (mine, theirs) = (Self.shown(rows[id]), Self.shown(fresh.rows[id] ?? archived.rows[id]))
            if mine != theirs { found.append("inbox: held \(mine ?? .null), fresh \(theirs ?? .null)") }
        }
        // Of the list: the archive has totals of its own.
        // What is marked by who is no member counts nowhere.
        let listed = archived.rows.merging(rows) { $1 }.values.filter {
            $0["membership"]?["archived"] != .plain("true") && $0["membership"]?["state"]?.string == "member"
        }
        let counted = Self.totals(of: listed)
        if counted != fresh.totals { found.append("totals: counted \(counted), fresh \(fresh.totals ?? .null)") }
        return found
    }
}

extension HeldInbox {
    /// The totals as a client counts them that has all rows.
    private static func totals(of rows: some Collection<JSONValue>) -> JSONValue {
        let unread = rows.filter { row in
            row["unread"]?.integer ?? 0 > 0 || row["membership"]?["markedUnread"] == .plain("true")
        }
        let mentions = rows.filter { $0["mentions"]?.integer ?? 0 > 0 }
        return .object(["unread": .plain("\(unread.count)"), "mentions": .plain("\(mentions.count)")])
    }

    /// Without what rises with changes that the user does not see: the version of a group tells those who are invited
    /// nothing.
    private static func shown(_ row: JSONValue?) -> JSONValue? {
        guard let row, let conversation = row["conversation"] else { return row }
        if conversation["kind"]?.string == "direct" { return row }
        if row["membership"]?["state"]?.string == "left" {
            return row.replacing("lastMessage", with: row["lastMessage"]?.removing("language"))
        }
        guard row["membership"]?["state"]?.string == "invited" else { return row }
        return row.replacing("conversation", with: conversation.removing("version"))
    }
}

/// What a client holds of its user's own stream.
struct HeldUser {
    private(set) var me: JSONValue?
    private(set) var friends: [String: JSONValue] = [:]
    /// The user's own part in the calls that have not ended.
    private(set) var calls: [String: JSONValue] = [:]

    mutating func replace(_ snapshot: JSONValue) {
        // What the user has set is told by the commands of accounts.
        (me, friends, calls) = (
            snapshot["me"]?.removing(
                "receipts", "presence", "lastSeen", "translation", "hints", "intelligence"), [:], [:]
        )
        for friend in snapshot["friends"]?.items ?? [] { apply("friend", friend) }
        for call in snapshot["calls"]?.items ?? [] { apply("call", call) }
    }

    mutating func apply(_ type: String, _ data: JSONValue) {
        switch type {
        case "profile": me = data
        case "friend": if let user = data["user"]?["id"]?.string { friends[user] = data }
        case "friend.removed": if let user = data["user"]?.string { friends[user] = nil }
        case "call":
            guard let id = data["id"]?.string else { return }
            let part = data["participants"]?.items.first { $0["user"] == me?["id"] }
            calls[id] = data["status"]?.string == "ended" ? nil : part?["state"]
        default: break
        }
    }

    /// - Parameter closed: calls whose own streams were closed, by which clients know that they see no more of them.
    func differences(from fresh: HeldUser, closed: Set<CallID>) -> [String] {
        var found: [String] = []
        if me != fresh.me { found.append("me: held \(me ?? .null), fresh \(fresh.me ?? .null)") }
        for user in Set(friends.keys).union(fresh.friends.keys) where friends[user] != fresh.friends[user] {
            found.append("friend: held \(friends[user] ?? .null), fresh \(fresh.friends[user] ?? .null)")
        }
        let gone = Set(closed.map(\.text)).subtracting(fresh.calls.keys)
        for id in Set(calls.keys).union(fresh.calls.keys).subtracting(gone) where calls[id] != fresh.calls[id] {
            found.append("call: held \(calls[id] ?? .null), fresh \(fresh.calls[id] ?? .null)")
        }
        return found
    }
}
