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
/// others in the place of one's own; a writer who is told of themselves.
///
/// Of what is derived from messages (`ExpectedTranslations`, `ExpectedHints`, `ServedDerivations`, `StoredDerivations`):
/// hints that stay after an edit; hints of late responses; hints whatever the level, in another language, or on messages
/// that the listener does not see; hints that are queued without a job; blocks that stay after an edit, or after a level was
/// lowered, and blocks served to who does not see all of their messages; sentences that stay with the text, or with the
/// level, of what they cite, or of what the model was shown, and sentences served to who no longer sees that; sentences of a
/// deleted account. Hints with words of earlier messages that have changed since, also of late responses, or that a model
/// may not be given, or that not all see who see the hints; vectors that stay after an edit, or after a level was lowered,
/// or that a late worker stores; messages that are found in words of before, or whatever the level, that are not looked
/// at, or that no worker embeds again.
///
/// The short run has a sequence of each kind (`StreamCommand.Focus`), however long that takes, and says if it had too little
/// of something to compare.
///
/// These took one to four minutes: hints that stay after a level was lowered, hints that a resumed stream leaves out, a
/// reaction that is not counted, and a mention that stays after an edit. Raise DEV_SWITCHBOARD_STREAM_SECONDS after a change
/// of levels, counts or reactions. A call without one of its participants took a quarter of a minute.
@Suite("Streams", .timeLimit(.minutes(60)))
struct StreamProperties {
    private static let users = 4
    private static let length = 100
    /// What the sequences of the short run must have had to compare.
    private static let leastCompared = [
        "blocks": 20, "sentences": 500, "calls of several": 1, "hints": 200, "hints with earlier messages": 50,
        "messages found by meaning": 500,
    ]

    @Test("what is held and what has changed since are what is sent anew, whatever was done")
    func snapshots() async throws {
        let environment = ProcessInfo.processInfo.environment
        let long = environment["DEV_SWITCHBOARD_STREAM_SECONDS"].flatMap { Int($0) }
        let end = long.map { ContinuousClock.now + .seconds($0) }
        // The short run tests what has changed since it passed; the long one looks for what nobody has seen.
        let first = environment["DEV_SWITCHBOARD_STREAM_SEED"].flatMap { UInt64($0) }
        var (seed, count) = (first ?? (end == nil ? 20_261_141 : freshSeed()), 0)
        let coverage = Shared<[String: Int]>([:])
        repeat {
            if let found = try await Self.failure(of: Self.commands(seed: seed), coverage) {
                let commands = try await shrink(found.commands) { try await Self.failure(of: $0) != nil }
                let last = try await Self.failure(of: commands)
                let text = commands.map { "    \($0)," }.joined(separator: "\n")
                Issue.record("seed \(seed):\n\(text)\n\(last?.differences.joined(separator: "\n") ?? "not repeated")")
                return
            }
            seed += 1
            count += 1
        } while end.map { ContinuousClock.now < $0 } ?? (count < StreamCommand.Focus.count)
        let compared = coverage.value.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
        print("streams: \(count) sequences of \(Self.length) commands, \(compared.joined(separator: ", "))")
        guard end == nil, first == nil else { return }
        for (what, least) in Self.leastCompared { #expect(coverage.value[what, default: 0] >= least, "\(what)") }
    }

    @Test("what was found once is not found again", arguments: FoundSequence.allCases)
    func found(sequence: FoundSequence) async throws {
        let failure = try await Self.failure(of: sequence.commands)
        #expect(failure?.differences ?? [] == [])
    }

    private static func commands(seed: UInt64) -> [StreamCommand] {
        var random = SeededRandom(seed: seed)
        let (beginning, focus) = (
            StreamCommand.beginning(users: users, &random),
            StreamCommand.Focus(users: users, seed: seed, &random)
        )
        return beginning + focus.first
            + (0..<length).map { .random(users: users, focus, salt: UInt64($0) + 100, &random) }
    }

    private struct Failure {
        /// Up to the one after which something differed.
        var commands: [StreamCommand]
        var differences: [String]
    }

    /// Carries the commands out, and compares after each.
    ///
    /// - Parameter coverage: what was compared is added to it.
    private static func failure(
        of commands: [StreamCommand], _ coverage: Shared<[String: Int]> = Shared([:])
    ) async throws -> Failure? {
        let harness = try await StreamHarness(users: users)
        var clients = StreamClients(harness)
        var result: Failure?
        for (index, command) in commands.enumerated() {
            let differences = try await clients.differences(after: command)
            if !differences.isEmpty {
                result = Failure(commands: Array(commands[...index]), differences: differences)
                break
            }
        }
        if result == nil {
            let missing = try await harness.missingVectors()
            if !missing.isEmpty { result = Failure(commands: commands, differences: missing) }
        }
        await harness.close()
        coverage.update { $0.merge(harness.coverage.value, uniquingKeysWith: +) }
        return result
    }
}
