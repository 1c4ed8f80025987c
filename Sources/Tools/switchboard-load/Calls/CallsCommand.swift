import ArgumentParser
import Foundation
import NIOCore
import NIOPosix

/// `switchboard-load calls`: virtual users, two by two, go through whole calls.
struct CallsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "calls",
        abstract: "Pairs of virtual users run whole call life cycles.",
        discussion: """
            A life cycle: the caller creates a call with an offer of 4 KB; the callee is notified, reports ringing, \
            accepts and answers; each side sends two batches of five ICE candidates; both report that they are \
            connected; the caller ends the call, and both see the end. Users come from `switchboard token`:

              switchboard token --count 200 --config switchboard.yaml > users
              switchboard-load calls --server http://127.0.0.1:8080 --users 200 --tokens users --rate 100 --duration 20
            """)

    @Option(help: "The server's address; http only.")
    var server = "http://127.0.0.1:8080"

    @Option(help: "How many virtual users: an even number.")
    var users = 100

    @Option(help: "The output of `switchboard token`; - for the standard input.")
    var tokens: String

    @Option(help: "Life cycles to begin each second, over all users. Late ones begin as soon as possible.")
    var rate: Double?

    @Flag(help: "Begin the next life cycle as soon as the previous one is over, instead of at a rate.")
    var max = false

    @Option(help: "Seconds to measure.")
    var duration = 10.0

    @Option(help: "Seconds before that.")
    var warmUp = 1.0

    @Option(help: "Event loops. One leaves the other cores to the server.")
    var loops = 1

    @Option(help: "The server's process id, to measure its CPU time.")
    var pid: Int?

    @Option(help: "Write the results to this file, as JSON.")
    var json: String?

    func validate() throws {
        guard users >= 2, users.isMultiple(of: 2), users <= 100_000 else {
            throw ValidationError("--users must be an even number from 2 to 100000.")
        }
        guard max != (rate != nil) else { throw ValidationError("Give either --rate or --max.") }
        guard rate ?? 1 > 0, rate ?? 1 <= 100_000 else {
            throw ValidationError("--rate must be above 0, at most 100000.")
        }
        guard (0.1...86_400).contains(duration), (0...3_600).contains(warmUp) else {
            throw ValidationError("--duration must be 0.1 to 86400 seconds, --warm-up 0 to 3600.")
        }
        guard (1...256).contains(loops) else { throw ValidationError("--loops must be 1 to 256.") }
        _ = try TargetServer(server)
    }

    func run() async throws {
        let people = try VirtualUser.read(tokens)
        guard people.count >= users else {
            throw ValidationError("\(tokens) has \(people.count) users, but --users is \(users).")
        }
        let group = MultiThreadedEventLoopGroup(numberOfThreads: loops)
        let run = CallsRun(
            target: try TargetServer(server), people: Array(people.prefix(users)), rate: rate, duration: duration,
            warmUp: warmUp, processID: pid)
        let report: CallsReport
        do {
            report = try await run.run(on: group)
        } catch {
            try await group.shutdownGracefully()
            throw error
        }
        try await group.shutdownGracefully()
        print(report.table)
        if let json { try report.json.write(to: URL(fileURLWithPath: json)) }
        if report.errors > 0 { throw ExitCode(1) }
    }
}
