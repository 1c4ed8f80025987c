import Foundation
import Model
import Storage
import TestSupport
import Testing
import Wire

@testable import Services

/// After every command, what a client held before and the changes that it was sent are what a new client is sent: of every
/// stream, for everybody. Who resumes from an older position has the same. What is stored as it is sent, such as counts, is
/// counted again (`StoredState`), and of who is writing everybody receives what `ExpectedTyping` says.
///
/// Faults that were put into the server one at a time and found: an edit that moves no inbox; a member who
/// has left and still listens to messages, or to who is writing; a frame that begins one too late; notes of another device
/// that are not sent; scheduled messages that are not; rows of those who are invited that do not move with the group; marks of
/// others in the place of one's own; a writer who is told of themselves. A reaction that is not counted, a call without one
/// of its participants and a mention that stays after an edit were not found in half a minute: raise
/// DEV_SWITCHBOARD_STREAM_SECONDS after a change of counts, calls or reactions.
@Suite("Streams", .timeLimit(.minutes(60)))
struct StreamProperties {
    private static let users = 4
    private static let length = 120

    @Test("what is held and what has changed since are what is sent anew, whatever was done")
    func snapshots() async throws {
        let seconds = ProcessInfo.processInfo.environment["DEV_SWITCHBOARD_STREAM_SECONDS"].flatMap { Int($0) } ?? 15
        let end = ContinuousClock.now + .seconds(seconds)
        var (seed, count) = (freshSeed(), 0)
        repeat {
            if let found = try await Self.failure(of: Self.commands(seed: seed)) {
                let commands = try await shrink(found.commands) { try await Self.failure(of: $0) != nil }
                let last = try await Self.failure(of: commands)
                let text = commands.map { "    \($0)," }.joined(separator: "\n")
                Issue.record("seed \(seed):\n\(text)\n\(last?.differences.joined(separator: "\n") ?? "not repeated")")
                return
            }
            seed += 1
            count += 1
        } while ContinuousClock.now < end
        print("streams: \(count) sequences of \(Self.length) commands")
    }

    private static func commands(seed: UInt64) -> [StreamCommand] {
        var random = SeededRandom(seed: seed)
        let (beginning, focus) = (
            StreamCommand.beginning(users: users, &random), StreamCommand.Focus(users: users, &random)
        )
        return beginning + (0..<length).map { .random(users: users, focus, salt: UInt64($0) + 100, &random) }
    }

    private struct Failure {
        /// Up to the one after which something differed.
        var commands: [StreamCommand]
        var differences: [String]
    }

    /// Carries the commands out, and compares after each.
    private static func failure(of commands: [StreamCommand]) async throws -> Failure? {
        let world = try await StreamWorld(users: users)
        var clients = StreamClients(world)
        var result: Failure?
        for (index, command) in commands.enumerated() {
            let differences = try await clients.differences(after: command)
            if !differences.isEmpty {
                result = Failure(commands: Array(commands[...index]), differences: differences)
                break
            }
        }
        await world.close()
        return result
    }
}
