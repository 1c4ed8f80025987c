/// Who talks with whom: the conversations of a run, and who sends and listens in each. Users are numbered from 0.
struct ChatPlan: Sendable {
    struct Conversation: Hashable, Sendable {
        /// The first creates it.
        var members: [Int]
        var isDirect: Bool
        var senders: [Int]
        var listeners: [Int]
    }

    private(set) var conversations: [Conversation] = []
    /// The users who listen to their inbox.
    var inboxListeners: Range<Int>

    /// How many pairs so many users have.
    static func pairs(of users: Int) -> Int { users * (users - 1) / 2 }

    /// Pairs and groups are spread evenly over the users.
    ///
    /// - Parameters:
    ///   - users: even.
    ///   - senders: how many members of a conversation send: its first ones.
    ///   - listeners: how many listen: its last ones.
    init(users: Int, pairs: Int, groups: Int, groupSize: Int, senders: Int, listeners: Int, inboxListeners: Int) {
        self.inboxListeners = 0..<min(users, inboxListeners)
        for pair in 0..<pairs {
            let (one, other) = Self.pair(pair, of: users)
            add([one, other], isDirect: true, senders, listeners)
        }
        for group in 0..<groups {
            let first = group * groupSize % users
            add((0..<groupSize).map { (first + $0) % users }, isDirect: false, senders, listeners)
        }
    }

    private mutating func add(_ members: [Int], isDirect: Bool, _ senders: Int, _ listeners: Int) {
        conversations.append(
            Conversation(
                members: members, isDirect: isDirect, senders: Array(members.prefix(senders)),
                listeners: Array(members.suffix(listeners))))
    }

    /// Pairs in rounds in which everybody has another partner (the circle method of tournaments).
    private static func pair(_ index: Int, of users: Int) -> (Int, Int) {
        let (round, place) = (index / (users / 2), index % (users / 2))
        let turning = users - 1
        if place == 0 { return (turning, round % turning) }
        return ((round + place) % turning, (round + turning - place) % turning)
    }

    /// How many streams the busiest listener listens to, its inbox included.
    ///
    /// - Parameter translates: whether listeners listen to translations too.
    func mostStreams(translates: Bool) -> Int {
        var streams: [Int: Int] = [:]
        for conversation in conversations {
            for user in conversation.listeners { streams[user, default: 0] += translates ? 2 : 1 }
        }
        for user in inboxListeners { streams[user, default: 0] += 1 }
        return streams.values.max() ?? 0
    }
}

/// What a run does.
struct ChatLoad: Sendable {
    /// Messages, edits and deletions a second over all; nil for as many as there can be.
    var rate: Double?
    /// Requests of a sender in one conversation that may wait for their results at a time.
    var inFlight = 4
    /// Shares of all writes.
    var edits = 0.0
    var deletions = 0.0
    /// Bytes of a text.
    var textBytes = 100
    /// Whether users write in two languages, and each reads in their own.
    var translates = false
    /// Whether users mark what they have received as read.
    var receipts = false
    /// Sessions that lose their connection and resume, a second.
    var reconnects = 0.0
    /// Seconds after the measurement has begun when all sessions lose their connection at once.
    var storm: Double?
    /// Seconds that those who do not send stay away then.
    var away = 0.0
    var duration = 10.0
    var warmUp = 1.0
}
