import ArgumentParser
import Foundation

/// `switchboard-load chat`: virtual users write to each other, and everything is checked in the end.
struct ChatCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "chat",
        abstract: "Virtual users write to each other in pairs and groups.",
        discussion: """
            In the end every page is read by every member, and compared with what the server acknowledged and what the \
            listeners received: no message lost or there twice, dense numbers, times that do not fall, one order for \
            all, and exact unread counts. With --translate also that each text is translated once, for those who do not \
            know its language. A violation is shown, and makes the exit code 1, as an error does.

            Users come from `switchboard token`. The limits of a user are lower than what a load needs: raise \
            limits.messagesPerMinute, requestsPerMinute, conversationsPerHour and friendRequestsPerHour.

              switchboard token --count 100 --config switchboard.yaml > users
              switchboard-load chat --server http://127.0.0.1:8080 --users 100 --tokens users --pairs 50 --rate 500

            Translations of messages that come faster than they are made wait, the newest first. Of more than 50 messages \
            that come in a conversation at once, the newest 50 are translated unasked; the others are asked for in the end, as \
            clients do when they show them (limits.translationsPerMinute).
            """)

    @OptionGroup var session: SessionOptions

    @Option(help: "Conversations of two, spread over the users.")
    var pairs = 0

    @Option(help: "Groups, spread over the users.")
    var groups = 0

    @Option(help: "Members of a group.")
    var groupSize = 10

    @Option(help: "Members of a conversation who send; by default all.")
    var senders: Int?

    @Option(help: "Members of a conversation who listen to its stream, the last ones; by default all.")
    var listeners: Int?

    @Option(help: "Users who listen to their inbox.")
    var inboxListeners = 0

    @Option(help: "Messages, edits and deletions a second, over all. Late ones follow as soon as possible.")
    var rate: Double?

    @Flag(help: "Write as fast as possible, instead of at a rate.")
    var max = false

    @Option(help: "Requests of a sender in a conversation that may wait for their results at a time.")
    var inFlight = 4

    @Option(help: "The share of edits among all writes, from 0 to 1.")
    var edits = 0.0

    @Option(help: "The share of deletions among all writes, from 0 to 1.")
    var deletions = 0.0

    @Option(help: "Bytes of a text.")
    var textSize = 100

    @Flag(
        help: """
            Half of the users write Spanish, the others Portuguese, and all read in their own language: listeners have what is \
            in the other one translated, which is checked too. The server needs Apertium and its pair es-pt.
            """)
    var translate = false

    @Flag(
        help: """
            Who listens marks what has arrived as read, as clients do: with what they send, and else once a second. In the end \
            no acknowledged mark may be lost.
            """)
    var receipts = false

    @Option(help: "Sessions that lose their connection and resume, a second.")
    var reconnects = 0.0

    @Option(help: "Let all sessions lose their connection at once, so many seconds after the measurement began.")
    var storm: Double?

    @Option(
        help: "With --storm: let who does not send stay away so many seconds. Who sends loses no connection.")
    var away = 0.0

    /// The server's limit for a session.
    private static let maxStreams = 256

    private var members: Int { Swift.max(pairs > 0 ? 2 : 0, groups > 0 ? groupSize : 0) }

    private var plan: ChatPlan {
        ChatPlan(
            users: session.users, pairs: pairs, groups: groups, groupSize: groupSize, senders: senders ?? members,
            listeners: listeners ?? members, inboxListeners: inboxListeners)
    }

    func validate() throws {
        try validateConversations()
        try validatePace(rate, max: max, limit: 1_000_000)
        guard (1...60).contains(inFlight) else { throw ValidationError("--in-flight must be 1 to 60.") }
        guard edits >= 0, deletions >= 0, edits + deletions < 1 else {
            throw ValidationError("--edits and --deletions must be from 0, and together below 1.")
        }
        guard (1...60_000).contains(textSize) else { throw ValidationError("--text-size must be 1 to 60000.") }
        guard (0...10_000).contains(reconnects) else { throw ValidationError("--reconnects must be 0 to 10000.") }
        guard (0...session.duration).contains(storm ?? 0) else {
            throw ValidationError("--storm must be 0 to --duration seconds.")
        }
        guard away == 0 || storm.map({ $0 + away <= session.duration }) ?? false, away >= 0 else {
            throw ValidationError("--away needs --storm, and must be from 0 to what --duration leaves after it.")
        }
    }

    private func validateConversations() throws {
        guard pairs >= 0, groups >= 0, (1...1_000_000).contains(pairs + groups) else {
            throw ValidationError("Give --pairs or --groups: together 1 to 1000000.")
        }
        guard pairs <= ChatPlan.pairs(of: session.users) else {
            throw ValidationError(
                "--pairs must be at most \(ChatPlan.pairs(of: session.users)) with \(session.users) users.")
        }
        guard groups == 0 || (2...100).contains(groupSize) && groupSize <= session.users else {
            throw ValidationError("--group-size must be 2 to 100, and at most --users.")
        }
        guard senders ?? 1 >= 1, listeners ?? 0 >= 0, inboxListeners >= 0 else {
            throw ValidationError("--senders must be at least 1, --listeners and --inbox-listeners at least 0.")
        }
        let streams = plan.mostStreams(translates: translate)
        guard streams <= Self.maxStreams else {
            throw ValidationError(
                "A user would listen to \(streams) streams, and a session may to \(Self.maxStreams): give more --users, "
                    + "or fewer --listeners.")
        }
    }

    func run() async throws {
        let people = try session.people()
        let load = ChatLoad(
            rate: rate, inFlight: inFlight, edits: edits, deletions: deletions, textBytes: textSize,
            translates: translate, receipts: receipts, reconnects: reconnects, storm: storm, away: away,
            duration: session.duration, warmUp: session.warmUp)
        let run = ChatRun(
            target: try TargetServer(session.server), people: people, plan: plan, load: load,
            processID: session.pid)
        let report = try await session.onLoops { try await run.run(on: $0) }
        print(report.table)
        if let json = session.json { try report.json.write(to: URL(fileURLWithPath: json)) }
        if report.hasFailed { throw ExitCode(1) }
    }
}
