import NIOCore

/// Reads everything in the end: every page of every conversation as each of its members, and their inboxes.
struct ChatReader: Sendable {
    var run: ChatConnections
    var plan: ChatPlan
    var ids: [String]

    private static let limit = 100
    /// Users who read at a time.
    private static let concurrency = 8

    /// - Parameter progress: is told how many of the users have read.
    func readAll(_ progress: @Sendable (Int) -> Void) async throws -> [Int: [ChatHistory.Pages]] {
        var members: [Int: [Int]] = [:]
        for (index, conversation) in plan.conversations.enumerated() {
            for user in conversation.members { members[user, default: []].append(index) }
        }
        var read: [Int: [ChatHistory.Pages]] = [:]
        var next = members.sorted { $0.key < $1.key }[...]
        var done = 0
        try await withThrowingTaskGroup(of: [(Int, ChatHistory.Pages)].self) { group in
            func addTask() {
                guard let (user, conversations) = next.popFirst() else { return }
                group.addTask { try await readAll(of: user, conversations) }
            }
            for _ in 0..<Self.concurrency { addTask() }
            while let results = try await group.next() {
                for (conversation, pages) in results { read[conversation, default: []].append(pages) }
                done += 1
                progress(done)
                addTask()
            }
        }
        return read.mapValues { $0.sorted { $0.user < $1.user } }
    }

    private func readAll(of user: Int, _ conversations: [Int]) async throws -> [(Int, ChatHistory.Pages)] {
        var inbox: [String: InboxRow] = [:]
        var cursor: String?
        repeat {
            let more = cursor.map { #","cursor":"\#($0)""# } ?? ""
            let frame = try await run.ask(user, "inbox.list", #"{"limit":\#(Self.limit)\#(more)}"#)
            for row in frame.inbox { inbox[row.conversation] = row }
            cursor = frame.nextCursor
        } while cursor != nil
        var read: [(Int, ChatHistory.Pages)] = []
        for conversation in conversations {
            var pages = try await self.pages(of: ids[conversation], by: user)
            pages.inbox = inbox[ids[conversation]]
            read.append((conversation, pages))
        }
        return read
    }

    private func pages(of conversation: String, by user: Int) async throws -> ChatHistory.Pages {
        var pages = ChatHistory.Pages(user: user, author: run.identifier(of: user))
        var frame: ChatFrame
        repeat {
            let after = pages.messages.last?.number ?? 0
            frame = try await run.ask(
                user, "messages.list",
                #"{"conversation":"\#(conversation)","after":\#(after),"limit":\#(Self.limit)}"#)
            pages.messages += frame.messages
            (pages.epoch, pages.sequence) = (frame.epoch, frame.sequence)
            // A page that brings nothing new would be asked for for ever.
            guard frame.hasLater, pages.messages.last?.number ?? 0 > after else { break }
        } while true
        return pages
    }
}
