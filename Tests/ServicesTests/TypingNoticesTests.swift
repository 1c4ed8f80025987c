import Accounts
import Bus
import Messaging
import Model
import Storage
import Synchronization
import TestSupport
import Testing
import Tokens

@testable import Services

@Suite("Who is typing", .timeLimit(.minutes(2))) struct TypingNoticesTests {
    @Test("states in turn are told three times a second, and always that somebody has stopped")
    func states() async throws {
        let store = Store(database: try SQLiteDatabase(path: try ScratchDirectory().database), publish: { _ in })
        try await store.prepare()
        let commands = ConversationCommands()
        let (id, user) = try await store.write { store in
            let user = UserID.make(at: store.now)
            _ = try store.insert(UserRecord(id: user, displayName: "Ann", reach: .everybody, createdAt: store.now))
            let group = try commands.createGroup(
                name: nil, members: [], id: .make(at: store.now), by: user, in: store)
            return (group.conversation.id, user)
        }.value
        let bus = InProcessBus()
        let time = Mutex<Int64>(5_000)
        let notified = Mutex<[String]>([])
        bus.subscribe { message in
            guard case .event(let event) = message else { return }
            notified.withLock {
                $0.append(event.data.contains("recording") ? "r" : event.data.contains("stopped") ? "s" : "t")
            }
        }
        let notices = TypingNotices(
            service: ConversationService(store: store, commands: commands, secrets: SystemSecrets()), bus: bus
        ) { time.withLock { $0 } }
        func note(_ states: TypingState...) async throws -> String {
            for state in states { try await notices.note(state, of: user, in: id) }
            return notified.withLock { notified in
                defer { notified = [] }
                return notified.joined()
            }
        }
        #expect(try await note(.typing, .typing) == "t")
        #expect(try await note(.recording, .typing, .recording, .typing) == "rt", "three in a second")
        #expect(try await note(.stopped, .stopped, .typing, .recording, .stopped) == "s")
        time.withLock { $0 += 1_000 }
        #expect(try await note(.typing, .stopped, .typing, .stopped, .typing) == "tsts")
        time.withLock { $0 += 999 }
        #expect(try await note(.recording) == "")
        time.withLock { $0 += 1 }
        #expect(try await note(.recording) == "r")
    }
}
