import Foundation
import NIOCore
import SwitchboardClient

/// How long the SDK takes to send what waits in its queue, over a path with 200 ms of round trip; one message is refused.
///
///     queue-benchmark PORT COUNT   the port of a server on this machine, and how many messages
///
/// Prints milliseconds from the first message that is written to the response to the last, with a queue on disk. Fails if
/// they are not there in order, each once.
@main
struct QueueBenchmark {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst().compactMap { Int($0) }
        guard arguments.count == 2 else { fatalError("queue-benchmark PORT COUNT") }
        let (port, count) = (arguments[0], arguments[1])
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("queue-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        let proxy = try await CuttingProxy(to: port, roundTrip: .milliseconds(200))
        var options = SwitchboardOptions()
        options.store = .directory(directory.path)
        let ann = try Switchboard("http://127.0.0.1:\(proxy.port)", options: options)
        let ben = try Switchboard("http://127.0.0.1:\(port)")
        let (one, other) = (try await signUp(ann), try await signUp(ben))
        try await ann.friends.request(other.id)
        try await ben.friends.accept(one.id)
        let messages = ann.messages(in: try await ann.conversations.direct(with: other.id).id)
        for await state in messages where state.isCurrent { break }

        let (refused, start) = (count / 2, ContinuousClock.now)
        for index in 0..<count {
            // A character that no text may have.
            _ = try await messages.send(index == refused ? "\u{1}" : "\(index)")
        }
        let written = ContinuousClock.now - start
        for await state in messages where state.messages.last(where: { $0.delivery == .sent })?.text == "\(count - 1)" {
            if !state.messages.contains(where: { $0.delivery == .sending }) { break }
        }
        let all = ContinuousClock.now - start
        for await state in messages where state.isCurrent {
            if state.hasEarlier {
                try await messages.loadEarlier()
                continue
            }
            let texts = state.messages.filter { $0.delivery == .sent }.compactMap(\.text)
            let expected = (0..<count).filter { $0 != refused }.map { "\($0)" }
            guard texts == expected else { fatalError("queue-benchmark: not in order, or not all: \(texts)") }
            break
        }
        let times = (Int(all / .milliseconds(1)), Int(written / .milliseconds(1)))
        print("\(times.0) ms, of which \(times.1) until all were written to disk")
        for client in [ann, ben] { await client.close() }
        try await proxy.close()
    }

    private static func signUp(_ client: Switchboard) async throws -> Me {
        try await client.signUp(
            email: "\(UUID().uuidString.lowercased())@example.org", password: "correct horse", displayName: "Somebody")
    }
}
