import Foundation
import Messaging
import Model
import Storage

/// Words as frequent as those of a language: the n-th occurs a n-th as often as the first.
enum Words {
    private static let vocabulary: [String] = {
        var random = Random(seed: 7)
        return (0..<50_000).map { _ in
            String(
                (0..<Int.random(in: 2...9, using: &random)).map { _ in letters.randomElement(using: &random) ?? "a" })
        }
    }()
    private static let letters = Array("abcdefghijklmnopqrstuvwxyz")
    private static let sums: [Double] = {
        var sum = 0.0
        return vocabulary.indices.map { index in
            sum += 1 / Double(index + 1)
            return sum
        }
    }()

    static func text(_ random: inout Random) -> String {
        var words = (0..<10).map { _ in vocabulary[index(of: Double.random(in: 0..<(sums.last ?? 1), using: &random))] }
        if Bool.random(using: &random) { words.append("common") }
        return words.joined(separator: " ")
    }

    private static func index(of value: Double) -> Int {
        var (low, high) = (0, sums.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if sums[middle] > value { high = middle } else { low = middle + 1 }
        }
        return low
    }

    static func frequent(_ round: Int) -> String { vocabulary[round % 20] }
    static func rare(_ round: Int) -> String { vocabulary[20_000 + round * 37 % 20_000] }
    static func any(_ round: Int) -> String { vocabulary[round * 7_919 % vocabulary.count] }
}

/// SplitMix64 (Steele, Lea and Flood, 2014).
struct Random: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }
}

/// Conversations and their messages. The first five have a fifth of all.
struct Corpus: Sendable {
    static let start = Timestamp(milliseconds: 1_800_000_000_000)

    var conversations: [ConversationID] = []
    var messages = 0
    /// A member of the first five.
    var few = UserID.make(at: start)
    /// A member of a thousand, the first five among them.
    var many = UserID.make(at: start)
    private var other = UserID.make(at: start)

    static func make(_ options: Options, in store: Store) async throws -> Corpus {
        var corpus = Corpus()
        let took = try await SearchBenchmark.milliseconds {
            for number in 0..<options.conversations {
                corpus.conversations.append(try await corpus.add(number, options, to: store))
            }
        }
        corpus.messages = (0..<options.conversations).reduce(0) { $0 + count(in: $1, options) }
        print("\(corpus.messages) messages in \(options.conversations) conversations, made in \(Int(took / 1_000)) s")
        return corpus
    }

    private static func count(in conversation: Int, _ options: Options) -> Int {
        conversation < 5 ? options.messages / 25 : options.messages * 4 / 5 / (options.conversations - 5)
    }

    private func add(_ position: Int, _ options: Options, to store: Store) async throws -> ConversationID {
        let id = ConversationID.make(at: Self.start)
        let count = Self.count(in: position, options)
        // All conversations are written in all the time: their messages are as far apart as they are few.
        let times = (0..<count).map {
            Self.start.adding(milliseconds: Int64($0 * 1_000_000 / count + position % 1_000))
        }
        var readers = [other]
        if position < 5 { readers.append(few) }
        if position < 1_000 { readers.append(many) }
        let members = readers
        for start in stride(from: 0, to: count, by: 2_000) {
            try await store.database.submit { sql in
                let store = StoreTransaction(sql, now: Self.start)
                if start == 0 {
                    try store.insert(
                        Conversation(
                            id: id, kind: .group, createdAt: Self.start, lastNumber: Int64(count),
                            lastSentAt: times.last, sequence: Int64(count) + 1, memberCount: members.count), pair: nil)
                    for user in members {
                        try store.save(
                            Member(user: user, role: .member, state: .member, joinedAt: Self.start, version: 1), of: id)
                        try store.save(MembershipSpans([.init(from: 0)]), of: user, in: id)
                    }
                }
                var random = Random(seed: UInt64(position * 1_000_003 + start))
                for number in start..<min(start + 2_000, count) {
                    let version = Int64(number) + 2
                    try store.insert(
                        Message(
                            conversation: id, number: Int64(number) + 1,
                            clientID: .make(at: Self.start, using: &random),
                            author: other, sentAt: times[number], text: Words.text(&random), version: version,
                            textVersion: version), digest: [])
                }
            }
        }
        return id
    }
}
