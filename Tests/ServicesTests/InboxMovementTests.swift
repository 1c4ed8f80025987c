import Model
import Testing

@testable import Services

@Suite("Whose inboxes move") struct InboxMovementTests {
    private let id = ConversationID.make(at: Timestamp(milliseconds: 1))
    private let ann = UserID.make(at: Timestamp(milliseconds: 1))
    private let ben = UserID.make(at: Timestamp(milliseconds: 2))

    private func update(
        movesEverybody: Bool, moved: Set<UserID> = [], access: [UserID: ListenerAccess] = [:]
    ) -> ConversationUpdate {
        ConversationUpdate(
            conversation: id, epoch: "e", after: 1, upTo: 2, rows: [], counter: 1, movesEverybody: movesEverybody,
            moved: moved, access: access)
    }

    @Test("who has declined is not told of what comes later, though declining tells nobody else")
    func declined() async throws {
        var movements = InboxMovements()
        let message = update(movesEverybody: true)
        let (both, one) = ([ann, ben], [ann])
        let before = try await movements.users(of: message) { _ in both }
        let declined = update(movesEverybody: false, moved: [ben], access: [ben: .ended])
        let notified = try await movements.users(of: declined) { _ in both }
        let after = try await movements.users(of: message) { _ in one }
        #expect(before == [ann, ben] && notified == [ben] && after == [ann])
    }

    @Test("the members of a conversation are read once, until somebody comes or goes")
    func cached() async throws {
        var movements = InboxMovements()
        let message = update(movesEverybody: true)
        let (both, one, none) = ([ann, ben], [ann], [UserID]())
        _ = try await movements.users(of: message) { _ in one }
        let known = try await movements.users(of: message) { _ in none }
        // What a member has noted for themselves moves their row alone.
        let own = try await movements.users(of: update(movesEverybody: false, moved: [ann])) { _ in none }
        let still = try await movements.users(of: message) { _ in none }
        #expect(known == [ann] && own == [ann] && still == [ann])
        let joined = update(movesEverybody: true, moved: [ben], access: [ben: .changed])
        let grown = try await movements.users(of: joined) { _ in both }
        #expect(grown == [ann, ben])
    }
}
