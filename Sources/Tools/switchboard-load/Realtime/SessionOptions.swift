import ArgumentParser
import NIOCore
import NIOPosix

/// The options of loads whose virtual users have realtime sessions.
struct SessionOptions: ParsableArguments {
    @Option(help: "The server's address; http only.")
    var server = "http://127.0.0.1:8080"

    @Option(help: "How many virtual users, each with one session: an even number.")
    var users = 100

    @Option(help: "The output of `switchboard token`; - for the standard input.")
    var tokens: String

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
        guard (2...100_000).contains(users), users.isMultiple(of: 2) else {
            throw ValidationError("--users must be an even number from 2 to 100000.")
        }
        guard (0.1...86_400).contains(duration), (0...3_600).contains(warmUp) else {
            throw ValidationError("--duration must be 0.1 to 86400 seconds, --warm-up 0 to 3600.")
        }
        guard (1...256).contains(loops) else { throw ValidationError("--loops must be 1 to 256.") }
        _ = try TargetServer(server)
    }

    /// The first `users` of `tokens`.
    func people() throws -> [VirtualUser] {
        let people = try VirtualUser.read(tokens)
        guard people.count >= users else {
            throw ValidationError("\(tokens) has \(people.count) users, but --users is \(users).")
        }
        return Array(people.prefix(users))
    }

    /// Runs a load on event loops of its own.
    func onLoops<Report>(_ run: (MultiThreadedEventLoopGroup) async throws -> Report) async throws -> Report {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: loops)
        do {
            let report = try await run(group)
            try await group.shutdownGracefully()
            return report
        } catch {
            try? await group.shutdownGracefully()
            throw error
        }
    }
}

/// Whether a load begins at a rate, or as fast as possible.
func validatePace(_ rate: Double?, max: Bool, limit: Int) throws {
    guard max != (rate != nil) else { throw ValidationError("Give either --rate or --max.") }
    guard rate ?? 1 > 0, rate ?? 1 <= Double(limit) else {
        throw ValidationError("--rate must be above 0, at most \(limit).")
    }
}
