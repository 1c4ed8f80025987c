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
        // Translations and hints: what is asked for, how it is read, what may be made, and the work of engines and models.
        case translate, translationChoices, level, language, explain, hintChoices, claimWork, completeWork
        // What a model writes of 64 messages, and its answers to questions.
        case fill, summarise, completeSummary, ask, answer
        // Vectors of messages, by which they are found.
        case embed, completeEmbedding
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
        /// What happens in half of the commands.
        var often: [Kind]
        /// What has to be there for it.
        var first: [StreamCommand] = []

        /// Most is written in conversations, which people leave and come back to.
        private static let conversation: [Kind] = [
            .create, .send, .send, .send, .reply, .edit, .delete, .react, .mark, .add, .add, .leave, .accept, .pass,
            .typing, .goAway, .resume,
        ]
        /// Of translations, and of what changes under them.
        private static let translations: [Kind] = [
            .create, .send, .send, .reply, .forward, .edit, .edit, .delete, .add, .add, .leave, .accept, .block,
            .unblock, .translate, .translate, .translate, .claimWork, .claimWork, .completeWork, .completeWork,
            .completeWork, .translationChoices, .level, .language, .pass, .goAway, .resume,
        ]
        /// Of hints, likewise.
        private static let hints: [Kind] = [
            .send, .send, .edit, .edit, .delete, .forward, .hide, .add, .accept, .leave, .block, .unblock, .explain,
            .explain, .explain, .explain, .hintChoices, .hintChoices, .claimWork, .claimWork, .claimWork, .claimWork,
            .completeWork, .completeWork, .completeWork, .completeWork, .translationChoices, .level, .level, .level,
            .pass,
            .goAway, .resume,
        ]
        /// Of summaries and answers, and of what takes away what they were made of.
        private static let answers: [Kind] = [
            .send, .edit, .edit, .delete, .hide, .add, .add, .accept, .leave, .remove, .block, .summarise, .summarise,
            .summarise, .summarise, .summarise, .completeSummary, .completeSummary, .ask, .ask, .ask, .ask, .ask,
            .answer,
            .answer, .level, .level, .pass,
        ]

        /// Of vectors, and of what takes away what they were made of.
        private static let vectors: [Kind] = [
            .send, .send, .reply, .forward, .edit, .edit, .edit, .delete, .hide, .clear, .add, .accept, .leave, .remove,
            .block, .unblock, .disappearAfter, .embed, .embed, .embed, .embed, .completeEmbedding, .completeEmbedding,
            .level, .pass,
        ]

        /// Of calls in a group, and of who is in it meanwhile.
        private static let calls: [Kind] = [
            .call, .call, .call, .acceptCall, .acceptCall, .acceptCall, .declineCall, .hangUp, .hangUp, .send, .edit,
            .react, .react, .delete, .add, .accept, .leave, .remove, .block, .unblock, .pass, .goAway, .resume,
        ]

        /// Of so many sequences with subsequent seeds, each kind of focus has one.
        static let count = 7

        /// - Parameter seed: of the sequence.
        init(users: Int, seed: UInt64, _ random: inout SeededRandom) {
            kinds = (0..<8).map { _ in Kind.allCases.randomElement(using: &random) ?? .send }
            let (one, other) = (Int.random(in: 0..<users, using: &random), Int.random(in: 0..<users, using: &random))
            location = Bool.random(using: &random) ? .group(0) : .pair(one, other)
            let hasConsents = Int.random(in: 0..<4, using: &random) > 0
            switch seed % UInt64(Self.count) {
            case 0: often = Self.conversation
            case 1: often = Self.translations
            case 2, 3:
                often = Self.hints
                if one == other || Bool.random(using: &random) { location = .group(0) }
                first = Self.beginningOfHints(in: location, users: users, hasConsents: hasConsents)
            case 4:
                often = Self.calls
                location = .group(0)
                // Of four nobody is called: they come by themselves.
                first = (1..<Int.random(in: 3...users, using: &random)).flatMap { Self.join($0) }
            case 5:
                often = Self.vectors
                if one == other || Bool.random(using: &random) { location = .group(0) }
                first = Self.beginningOfVectors(in: location, users: users)
            default:
                often = Self.answers
                location = .group(0)
                first = Self.beginningOfAnswers(users: users, hasConsents: hasConsents)
            }
        }

        /// Two know each other, or a group of which the last member has not seen everything; some messages are explained.
        private static func beginningOfHints(
            in location: Location, users: Int, hasConsents: Bool
        ) -> [StreamCommand] {
            var (first, writers, last) = members(of: location, users: users)
            if hasConsents { first += consents(users: users) }
            // Each has it explained in another way.
            first += (0..<users).map { StreamCommand(.hintChoices, by: $0, in: location, value: $0, salt: 1) }
            func written(_ salt: UInt64) -> [StreamCommand] {
                writers.map { StreamCommand(.send, by: $0, in: location, salt: salt + UInt64($0)) }
            }
            first += written(82)
            if case .group = location { first += join(last) }
            first += written(86)
            // In the language of each, and some by a hosted model.
            first += writers.map { StreamCommand(.explain, by: $0, in: location, value: 1) }
            first += [StreamCommand(.explain, by: writers[1], in: location, number: 2)]
            first += [1, hasConsents ? 0 : 1].map { StreamCommand(.claimWork, value: $0) }
            first += (0...writers.count).map { _ in StreamCommand(.completeWork, value: 12) }
            return first + lateHints(in: location, by: writers, isHosted: hasConsents)
        }

        /// A model responds after an earlier message was edited, after its author has forbidden it, and while they do.
        private static func lateHints(in location: Location, by writers: [Int], isHosted: Bool) -> [StreamCommand] {
            let author = writers[writers.count - 1]
            func asked(_ salt: UInt64) -> [StreamCommand] {
                [
                    StreamCommand(.send, by: author, in: location, salt: salt),
                    StreamCommand(.send, by: writers[0], in: location, salt: salt + 1),
                    StreamCommand(.explain, by: author, in: location, value: 1),
                    StreamCommand(.claimWork, value: isHosted ? 0 : 1),
                ]
            }
            let response = [StreamCommand(.completeWork, value: 12)]
            let edit = [StreamCommand(.edit, by: author, in: location, number: 2, salt: 71)]
            func level(_ value: Int) -> [StreamCommand] {
                [StreamCommand(.level, by: author, in: location, value: value, salt: 2)]
            }
            return asked(72) + edit + response + asked(74) + level(1) + response + asked(76) + response
                + level(isHosted ? 4 : 0)
        }

        /// Two know each other, or all but the last are in the group.
        private static func members(
            of location: Location, users: Int
        ) -> (commands: [StreamCommand], writers: [Int], last: Int) {
            guard case .direct(let one, let other) = location else {
                return ((1..<users - 1).flatMap { join($0) }, Array(0..<users - 1), users - 1)
            }
            let commands = [
                StreamCommand(.befriend, by: one, of: other, salt: 80),
                StreamCommand(.acceptFriend, by: other, of: one),
                StreamCommand(.create, by: one, in: location, salt: 81),
            ]
            return (commands, [one, other], other)
        }

        /// Everybody allows everything, and messages of before and after the last one came have vectors.
        private static func beginningOfVectors(in location: Location, users: Int) -> [StreamCommand] {
            let (members, writers, last) = members(of: location, users: users)
            func written(_ salt: UInt64) -> [StreamCommand] {
                writers.map { StreamCommand(.send, by: $0, in: location, salt: salt + UInt64($0)) }
                    + [StreamCommand(.embed, in: location)]
            }
            var first = members + consents(users: users) + written(82)
            if case .group = location { first += join(last) }
            first += written(86)
            // One is edited after it had a vector, and while it is embedded again; and its author forbids it for a moment.
            first += [
                StreamCommand(.edit, by: 0, in: location, salt: 91),
                StreamCommand(.embed, in: location, value: 8),
                StreamCommand(.edit, by: 0, in: location, salt: 92),
                StreamCommand(.completeEmbedding),
                StreamCommand(.embed, in: location),
            ]
            let author = writers[writers.count - 1]
            first += [0, 4].map { StreamCommand(.level, by: author, in: location, value: $0, salt: 2) }
            return first + [StreamCommand(.embed, in: location)]
        }

        /// A group in which a block is full, of which there is a summary, and of which everybody has asked.
        private static func beginningOfAnswers(users: Int, hasConsents: Bool) -> [StreamCommand] {
            let consents = hasConsents ? Self.consents(users: users) : []
            let members = (1..<users).flatMap { join($0) } + consents + [StreamCommand(.fill, salt: 90)]
            return members
                + (0..<users).flatMap { user in
                    [
                        StreamCommand(.summarise, by: user, value: user),
                        StreamCommand(.ask, by: user, value: hasConsents && user > 1 ? 4 : 1, salt: 91 + UInt64(user)),
                    ]
                }
        }

        private static func join(_ user: Int) -> [StreamCommand] {
            [StreamCommand(.add, of: user), StreamCommand(.accept, by: user)]
        }

        /// Everybody allows everything, and so does the group: see `StreamHarness.changeLevel`.
        private static func consents(users: Int) -> [StreamCommand] {
            [StreamCommand(.level, value: 4, salt: 3)]
                + (0..<users).map { StreamCommand(.level, by: $0, value: 4, salt: 2) }
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
        let kinds = [focus.often, focus.often, focus.kinds, Kind.allCases].randomElement(using: &random) ?? focus.often
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
