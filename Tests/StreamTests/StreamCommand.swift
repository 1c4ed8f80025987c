import Model
import Wire

/// A conversation, named by what it is, so that a sequence of commands means the same without some of them.
enum Location: Hashable {
    case group(Int)
    /// The lower one first.
    case direct(Int, Int)
    case notes(Int)

    static func pair(_ one: Int, _ other: Int) -> Location {
        one == other ? .notes(one) : .direct(min(one, other), max(one, other))
    }
}

/// One thing that somebody does, or that time does. What a kind has no use for is ignored.
struct StreamCommand: Hashable {
    enum Kind: String, Hashable, CaseIterable {
        // Conversations and members.
        case create, add, accept, decline, leave, remove, promote, demote, handOver, rename, settings, disappearAfter
        case makeLink, removeLink, join
        // Messages.
        case send, reply, edit, delete, react, removeReaction, pin, unpin, forward
        // What is one's own.
        case star, unstar, hide, clear, deleteForOneself, mark, membership, draft, receipts
        case schedule, changeScheduled, unschedule
        // People.
        case block, unblock, befriend, acceptFriend, declineFriend, removeFriend
        case typing, arrive, depart, presence
        // Calls.
        case call, acceptCall, declineCall, hangUp
        // The server.
        case pass, eraseOld, eraseUser
        // A client of the user's own, which is away from here on, or resumes.
        case goAway, resume
    }

    var kind: Kind
    var user: Int
    var other: Int
    var location: Location
    var number: Int64
    var value: Int
    /// What ids are made of.
    var salt: UInt64

    var typing: TypingState { TypingState.allCases[value % TypingState.allCases.count] }

    init(
        _ kind: Kind, by user: Int = 0, of other: Int = 1, in location: Location = .group(0), number: Int64 = 1,
        value: Int = 0, salt: UInt64 = 1
    ) {
        self.kind = kind
        self.user = user
        self.other = other
        self.location = location
        self.number = number
        self.value = value
        self.salt = salt
    }

    /// Some people know each other, and most of them are in a group.
    static func beginning(users: Int, _ random: inout SeededRandom) -> [StreamCommand] {
        var commands: [StreamCommand] = []
        for user in 1..<users where Int.random(in: 0..<4, using: &random) > 0 {
            commands.append(StreamCommand(.befriend, by: user, of: 0, salt: UInt64(user)))
            commands.append(StreamCommand(.acceptFriend, by: 0, of: user))
        }
        commands.append(StreamCommand(.create, by: 0, value: .random(in: 0..<1 << users, using: &random), salt: 99))
        return commands
    }

    /// What a sequence has most of: chance rarely makes three things happen in the same conversation that belong together.
    struct Focus {
        var kinds: [Kind]
        var location: Location

        init(users: Int, _ random: inout SeededRandom) {
            kinds = (0..<8).map { _ in Kind.allCases.randomElement(using: &random) ?? .send }
            let (one, other) = (Int.random(in: 0..<users, using: &random), Int.random(in: 0..<users, using: &random))
            location = Bool.random(using: &random) ? .group(0) : .pair(one, other)
        }
    }

    static func random(users: Int, _ focus: Focus, salt: UInt64, _ random: inout SeededRandom) -> StreamCommand {
        var user = Int.random(in: 0..<users, using: &random)
        var other = Int.random(in: 0..<users, using: &random)
        let third = Int.random(in: 0..<users, using: &random)
        let location: Location =
            switch Int.random(in: 0..<16, using: &random) {
            case 0..<10: focus.location
            case 10..<12: .group(0)
            case 12: .group(1)
            case 13..<15: .pair(user, third)
            default: .notes(user)
            }
        if case .direct(let one, let two) = location, Int.random(in: 0..<4, using: &random) > 0 {
            (user, other) = Bool.random(using: &random) ? (one, two) : (two, one)
        }
        // Most is written in conversations, which people leave and come back to.
        let often: [Kind] = [
            .create, .send, .send, .send, .reply, .edit, .delete, .react, .mark, .add, .add, .leave, .accept, .pass,
            .typing, .goAway, .resume,
        ]
        let kinds = [often, often, focus.kinds, Kind.allCases].randomElement(using: &random) ?? often
        return StreamCommand(
            kinds.randomElement(using: &random) ?? .send, by: user, of: other, in: location,
            number: .random(in: 1...8, using: &random), value: .random(in: 0..<16, using: &random), salt: salt)
    }
}

extension StreamCommand: CustomStringConvertible {
    /// As it is written in a test.
    var description: String {
        """
        StreamCommand(.\(kind), by: \(user), of: \(other), in: .\(location), number: \(number), value: \(value), \
        salt: \(salt))
        """
    }
}
