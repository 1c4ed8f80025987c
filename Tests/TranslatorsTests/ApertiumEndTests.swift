import Foundation
import Glibc
import ProviderCodecs
import TestSupport
import Testing

@testable import Providers
@testable import Translators

/// When a process is killed, the kernel closes its ends of the pipes and does nothing else for its children.
@Suite("Apertium's programs end with the server", .timeLimit(.minutes(5)))
struct ApertiumEndTests {
    /// With the number of its programs.
    private func pipeline(_ pair: ApertiumPair) throws -> (ChildPipeline?, count: Int) {
        let text = try String(contentsOfFile: "/usr/share/apertium/modes/\(pair.mode).mode", encoding: .utf8)
        let mode = try #require(ApertiumMode(text, withoutTagger: pair.isTaggerBroken))
        let pipeline = try ChildPipeline(
            mode.commands, environment: ["LC_ALL": "C.UTF-8"], maxAddressSpace: 1 << 30)
        return (pipeline, mode.commands.count)
    }

    @Test("all programs of all pairs end when only their pipes are closed", arguments: ApertiumPair.all)
    func closed(pair: ApertiumPair) throws {
        var (pipeline, count) = try pipeline(pair)
        let group = try #require(pipeline?.group)
        #expect(pipeline.map(Self.responds) == true)
        // Its end closes the pipes, and kills nobody.
        pipeline = nil
        #expect(Self.wait(for: group) == count)
    }

    @Test("they also end in the middle of a request that nobody reads") func inTheMiddle() throws {
        let pair = try #require(ApertiumPair.all.first)
        var (pipeline, count) = try pipeline(pair)
        let group = try #require(pipeline?.group)
        let text = Array(String(repeating: "дом ", count: 400).utf8)
        for _ in 0..<1_000 {
            guard let input = pipeline?.input, write(input, text, text.count) == text.count else { break }
        }
        pipeline = nil
        #expect(Self.wait(for: group) == count)
    }

    private static func responds(_ pipeline: ChildPipeline) -> Bool {
        var exchange = PipelineExchange(
            pipeline, request: Array("a b c\n\0[n]\0".utf8), framing: .init(delimiter: 0, count: 2, maxSize: 1_000))
        guard case .response = exchange.run(until: .now + .seconds(100)) else { return false }
        return true
    }

    /// Waits until all have ended, and returns how many did.
    private static func wait(for group: pid_t) -> Int {
        var count = 0
        while waitpid(-group, nil, 0) > 0 { count += 1 }
        return count
    }
}
