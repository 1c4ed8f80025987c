import Observation
import SwitchboardClient

/// The list of conversations.
@MainActor @Observable
final class ConversationList {
    private(set) var rows: [InboxRow] = []
    private(set) var unread = 0
    private(set) var isCurrent = false

    private let switchboard: Switchboard

    init(_ account: ChatAccount) { switchboard = account.switchboard }

    /// Keeps the list up to date, as long as it is on the screen.
    func follow() async {
        for await state in switchboard.conversations {
            (rows, unread, isCurrent) = (state.rows, state.unread, state.isCurrent)
        }
    }

    /// The conversation with the user of an e-mail address, which can be written in at once.
    func start(with email: String) async throws -> Chat? {
        guard let user = try await switchboard.searchUsers(email).first else { return nil }
        return Chat(switchboard.messages(in: try await switchboard.conversations.create(.direct(user.id))))
    }

    func open(_ row: InboxRow) -> Chat { Chat(switchboard.messages(in: row.id)) }

    static func title(of row: InboxRow) -> String {
        row.conversation?.name ?? row.person?.displayName ?? "Notes"
    }
}
