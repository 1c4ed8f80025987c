import ArgumentParser
import Foundation

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

    @OptionGroup var session: SessionOptions

    @Option(help: "Life cycles to begin each second, over all users. Late ones begin as soon as possible.")
    var rate: Double?

    @Flag(help: "Begin the next life cycle as soon as the previous one is over, instead of at a rate.")
    var max = false

    func validate() throws {
        try validatePace(rate, max: max, limit: 100_000)
    }

    func run() async throws {
        let people = try session.people()
        let run = CallsRun(
            target: try TargetServer(session.server), people: people, rate: rate, duration: session.duration,
            warmUp: session.warmUp, processID: session.pid)
        let report = try await session.onLoops { try await run.run(on: $0) }
        print(report.table)
        if let json = session.json { try report.json.write(to: URL(fileURLWithPath: json)) }
        if report.errors > 0 { throw ExitCode(1) }
    }
}
