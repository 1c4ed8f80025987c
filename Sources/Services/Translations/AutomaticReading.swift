import Messaging
import Model
import ServiceLifecycle
import Storage
import Synchronization

/// Messages that somebody has something made of unasked: who that is, and what is new or changed for them.
final class AutomaticReading: Sendable {
    private enum Change: Sendable {
        case new(Set<ConversationID>)
        /// Texts and transcripts, by the numbers of their messages.
        case texts([ConversationID: Set<Int64>])
    }

    /// Commits that wait. What is lost is made for who opens the conversation.
    private static let backlog = 10_000

    private let store: Store
    private let isListened: @Sendable (StreamName) -> Bool
    private let readers = Mutex(AutomaticReaders())
    private let changes: AsyncStream<Change>

    /// - Parameter isListened: whether a session listens to a stream.
    init(of store: Store, isListened: @escaping @Sendable (StreamName) -> Bool) {
        self.store = store
        self.isListened = isListened
        let (stream, continuation) = AsyncStream<Change>.makeStream(bufferingPolicy: .bufferingOldest(Self.backlog))
        changes = stream
        store.observeMessages { [weak self] changed in
            guard let self else { return }
            let read = readers.withLock { readers in changed.filter { readers.hasAny(in: $0) } }
            if !read.isEmpty { continuation.yield(.new(read)) }
        }
        store.observeTexts { [weak self] changed in
            guard let self else { return }
            let read = readers.withLock { readers in changed.filter { readers.hasAny(in: $0.key) } }
            if !read.isEmpty { continuation.yield(.texts(read)) }
        }
    }

    /// - Parameters:
    ///   - language: what is made for one reader of it is there for all.
    ///   - number: up to which it is made.
    func add(_ user: UserID, _ language: String, in id: ConversationID, upTo number: Int64) {
        readers.withLock { $0.add(user, language, in: id, upTo: number) }
    }

    func remove(_ user: UserID, in id: ConversationID) { readers.withLock { $0.remove(user, in: id) } }

    /// Runs until the server ends.
    ///
    /// - Parameter make: with the numbers of changed messages, the newest first; nil for new messages.
    func follow(_ make: (ConversationID, [Int64]?) async -> Void) async {
        for await change in changes.cancelOnGracefulShutdown() {
            switch change {
            case .new(let conversations):
                for id in conversations { await make(id, nil) }
            case .texts(let numbers):
                for (id, numbers) in numbers { await make(id, numbers.sorted(by: >)) }
            }
        }
    }

    /// Asks the readers of each language one after the other, until something was made.
    ///
    /// - Parameters:
    ///   - numbers: of changed messages; nil for new ones.
    ///   - make: for a reader, of messages after a number; returns whether that is enough.
    func forEachLanguage(
        in id: ConversationID, _ numbers: [Int64]?, _ make: (UserID, Int64) async throws -> Bool
    ) async throws {
        guard isListened(.translations(id)) else { return readers.withLock { $0.removeAll(in: id) } }
        var (after, languages) = (Int64(0), readers.withLock { $0.languages(in: id) })
        if numbers == nil {
            guard let last = try? await store.read({ try $0.conversation(id)?.lastNumber }) else { return }
            (after, languages) = readers.withLock { $0.take(in: id, upTo: last) }
        }
        for users in languages {
            for user in users {
                do {
                    if try await make(user, after) { break }
                } catch is Problem {
                    // They are in it no more.
                    remove(user, in: id)
                }
            }
        }
    }
}

/// Who reads which conversations automatically, as far as this process knows: those who began to listen to them.
struct AutomaticReaders {
    /// Of one conversation; others have what is demanded for these, in their languages.
    private static let limit = 64
    private static let maxConversations = 50_000

    private struct Conversation {
        var languages: [UserID: String] = [:]
        /// Up to which message it is demanded.
        var number: Int64
    }

    private var conversations: [ConversationID: Conversation] = [:]

    func hasAny(in id: ConversationID) -> Bool { conversations[id] != nil }

    mutating func add(_ user: UserID, _ language: String, in id: ConversationID, upTo number: Int64) {
        if conversations[id] == nil, conversations.count >= Self.maxConversations, let other = conversations.keys.first
        {
            conversations[other] = nil
        }
        var one = conversations[id] ?? Conversation(number: number)
        if one.languages[user] == nil, one.languages.count >= Self.limit, let other = one.languages.keys.first {
            one.languages[other] = nil
        }
        one.languages[user] = language
        conversations[id] = one
    }

    mutating func remove(_ user: UserID, in id: ConversationID) {
        conversations[id]?.languages[user] = nil
        if conversations[id]?.languages.isEmpty == true { conversations[id] = nil }
    }

    mutating func removeAll(in id: ConversationID) { conversations[id] = nil }

    /// After which message they have not demanded yet, and who reads each language.
    mutating func take(in id: ConversationID, upTo number: Int64) -> (after: Int64, users: [[UserID]]) {
        guard var one = conversations[id] else { return (number, []) }
        let after = one.number
        one.number = max(number, after)
        conversations[id] = one
        return (after, languages(in: id))
    }

    /// Who reads each language.
    func languages(in id: ConversationID) -> [[UserID]] {
        let all = conversations[id]?.languages ?? [:]
        return Array(Dictionary(grouping: all.keys) { all[$0] ?? "" }.values)
    }
}
