import Languages
import Messaging
import Model
import Realtime
import Storage
import TestSupport

@testable import Services

// What nobody may see as soon as somebody has said so.
extension StreamHarness {
    /// What is served, before it is erased, of what may not be made any more.
    func shownBeforeErasure() async throws -> [String] {
        var found: [String] = []
        for user in users {
            for id in conversations { found += try await shownRows(of: id, to: user) }
            let (commands, conversations, candidates, model) = (commands, conversations, candidates.value, model)
            found += try await store.read { store in
                var served = ServedDerivations(store, commands, to: user)
                return try served.violations(in: conversations, candidates, by: model)
            }
        }
        return found
    }

    private func shownRows(of id: ConversationID, to user: UserID) async throws -> [String] {
        guard let opening = try? await views.open(.translations(id), after: nil, for: principal(user)),
            case .state(let state) = opening, case .snapshot(let bytes) = state.content
        else { return [] }
        let snapshot = try JSONValue(bytes)
        let translations = snapshot["translations"]?.items.filter { $0["text"] != nil } ?? []
        let hints = snapshot["hints"]?.items.filter { $0["items"]?.items.isEmpty == false } ?? []
        return try await store.read { store in
            guard let conversation = try store.conversation(id) else { return [] }
            func isAllowed(_ row: JSONValue, ifHosted hosted: IntelligenceLevel) throws -> Bool {
                guard let message = try store.message(row["number"]?.integer ?? 0, in: id) else { return false }
                let level = try ExpectedLevel.level(of: message, conversation, store)
                return level >= (row["engine"]?.string == Self.hosted ? hosted : .local)
            }
            return try translations.filter { try !isAllowed($0, ifHosted: .translate) }.map { "still shown: \($0)" }
                + hints.filter { try !isAllowed($0, ifHosted: .full) }.map { "still shown: \($0)" }
        }
    }
}
