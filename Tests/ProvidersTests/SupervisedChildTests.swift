import Foundation
import Glibc
import TestSupport
import Testing

@testable import Providers

/// Programs here are shells and Python, which read a line and write one.
@Suite("Programs that keep running", .timeLimit(.minutes(2)))
struct SupervisedChildTests {
    private static func program(_ commands: [[String]]) -> SupervisedChild.Program {
        .init(commands: commands, delimiter: 10, delimiterCount: 1) {
            .init(Array("test\n".utf8)) { !$0.isEmpty }
        }
    }

    private func child(
        _ commands: [[String]], _ change: (inout SupervisedChild.Limits) -> Void = { _ in }
    ) -> SupervisedChild {
        var limits = SupervisedChild.Limits()
        change(&limits)
        return SupervisedChild(Self.program(commands), limits: limits)
    }

    private func shell(_ script: String) -> [[String]] { [["sh", "-c", script]] }

    private func ask(
        _ child: SupervisedChild, _ line: String, key: Int? = nil, within timeout: Duration = .seconds(100)
    ) async -> Result<String, ProviderFailure> {
        do throws(ProviderFailure) {
            let request = SupervisedChild.Request(
                Array("\(line)\n".utf8), keys: key.map { [$0] } ?? [], accepts: { $0.first != UInt8(ascii: "!") })
            let response = try await child.response(to: request, deadline: .now + timeout)
            return .success(String(decoding: response.dropLast(), as: UTF8.self))
        } catch {
            return .failure(error)
        }
    }

    @Test("one that is started once answers many, in their order")
    func echoes() async throws {
        let child = child([["cat"]])
        #expect(child.status == .init())
        for line in ["one", "two", "three"] { #expect(await ask(child, line) == .success(line)) }
        let answers = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<50 { group.addTask { await ask(child, "\(number)") == .success("\(number)") } }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(answers == 50)
        #expect(child.status == .init(isRunning: true, isOff: false, starts: 1, ends: 0))
        await child.rest()
        #expect(child.status.isRunning == false)
        #expect(await ask(child, "again") == .success("again"))
        #expect(child.status.starts == 2 && child.status.ends == 0)
        await child.rest()
    }

    @Test("each of a pipeline reads what the one before it writes, and all end when the first one's input closes")
    func pipelines() async throws {
        let names = (0..<5).map { _ in "sleep-\(UUID().uuidString)" }
        // A name of its own for each, by which it is found.
        let commands = names.map { ["python3", "-uc", Self.relay, $0] }
        let child = child(commands)
        #expect(await ask(child, "word") == .success("word....."))
        #expect(names.allSatisfy { Self.processes(named: $0) == 1 })
        await child.rest()
        #expect(names.allSatisfy { Self.processes(named: $0) == 0 })
    }

    private static let relay = """
        import sys
        for line in sys.stdin: print(line.rstrip() + '.')
        """

    /// Those whose arguments contain it, zombies aside.
    private static func processes(named name: String) -> Int {
        let pids = (try? FileManager.default.contentsOfDirectory(atPath: "/proc"))?.compactMap { Int($0) } ?? []
        return pids.count { pid in
            guard let line = try? String(contentsOfFile: "/proc/\(pid)/cmdline", encoding: .utf8) else { return false }
            return line.contains(name)
        }
    }

    @Test("one that is killed is started again, and who waits meanwhile has a response")
    func killed() async throws {
        let child = child(shell("while read -r line; do [ \"$line\" = die ] && kill -9 $$; echo \"$line\"; done"))
        #expect(await ask(child, "one") == .success("one"))
        #expect(await ask(child, "die", key: 7) == .failure(.programFailed(.signal(9), errorOutput: "")))
        #expect(child.fatalCount(7) == 1)
        #expect(await ask(child, "two") == .success("two"))
        #expect(child.status == .init(isRunning: true, isOff: false, starts: 2, ends: 1))
        await child.rest()
    }

    @Test("one that ended while nobody asked is started again, which is nobody's fault")
    func endedAlone() async throws {
        let note = try ScratchDirectory().file("pid")
        let child = child(shell("echo $$ > \(note); exec cat"))
        #expect(await ask(child, "one") == .success("one"))
        let pid = try #require(pid_t(String(contentsOfFile: note, encoding: .utf8).trimmingCharacters(in: .newlines)))
        kill(pid, SIGKILL)
        try await eventually { !Self.lives("\(pid)") }
        #expect(await ask(child, "two", key: 7) == .success("two"))
        #expect(child.fatalCount(7) == 0)
        await child.rest()
    }

    @Test("one that hangs is killed with its children")
    func hung() async throws {
        let note = try ScratchDirectory().file("pids")
        // All is there before the request that hangs, whose time is short.
        let script = """
            trap '' TERM INT HUP; read -r line
            sleep 1000 & echo $$ $! > \(note).new; mv \(note).new \(note); echo "$line"; while :; do sleep 1000; done
            """
        let child = child(shell(script)) { $0.request = .milliseconds(500) }
        #expect(await ask(child, "hang", key: 7) == .failure(.timedOut))
        let pids = try String(contentsOfFile: note, encoding: .utf8).split(whereSeparator: \.isWhitespace)
        #expect(pids.count == 2)
        try await eventually { pids.allSatisfy { !Self.lives($0) } }
        #expect(child.fatalCount(7) == 1)
    }

    private static func lives(_ pid: Substring) -> Bool {
        guard let status = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8) else { return false }
        return status.split(separator: ")").last?.split(separator: " ").first != "Z"
    }

    @Test("the deadline of who asks does not end it")
    func abandoned() async throws {
        let note = try ScratchDirectory().file("go")
        let script = """
            while read -r line; do
                [ "$line" = slow ] && while [ ! -e \(note) ]; do sleep 0.01; done; echo "$line"
            done
            """
        let child = child(shell(script)) { $0.request = .seconds(100) }
        #expect(await ask(child, "one") == .success("one"))
        #expect(await ask(child, "slow", within: .milliseconds(200)) == .failure(.timedOut))
        let waiting = Task { await ask(child, "two") }
        let cancelled = Task { await ask(child, "three") }
        cancelled.cancel()
        #expect(await cancelled.value == .failure(.cancelled))
        try Data().write(to: URL(filePath: note))
        #expect(await waiting.value == .success("two"))
        #expect(child.status.starts == 1 && child.status.ends == 0)
        await child.rest()
    }

    @Test("one has a gibibyte of addresses at most, and a low priority")
    func memory() async throws {
        let script = """
            import os, sys
            for line in sys.stdin:
                size = int(line) if line.strip().isdigit() else 0
                kept = bytearray(size)
                print(len(kept), os.nice(0))
            """
        let own = getpriority(Int32(PRIO_PROCESS.rawValue), 0)
        let child = child([["python3", "-uc", script]])
        #expect(await ask(child, "100000000") == .success("100000000 \(min(own + 10, 19))"))
        guard case .failure(.programFailed(.exit(1), let complaint)) = await ask(child, "1100000000", key: 7) else {
            Issue.record("it had more")
            return
        }
        #expect(complaint.hasSuffix("MemoryError"))
        #expect(child.fatalCount(7) == 1)
        #expect(await ask(child, "1") == .success("1 \(min(own + 10, 19))"))
        await child.rest()
    }

    @Test(
        "what is no response ends it",
        arguments: [
            // Both at once.
            ("printf '%s\\nmore\\n' \"$line\"", ProviderFailure.unreachable("its response was to another request")),
            ("echo '!'", .unreachable("its response was to another request")),
            ("yes | tr -d '\\n'", .responseTooLarge(limit: 1 << 20)),
            ("echo why >&2; exit 3", .programFailed(.exit(3), errorOutput: "why")),
        ])
    func lies(script: String, failure: ProviderFailure) async throws {
        let child = child(shell("read -r line; echo \"$line\"; read -r line; \(script); sleep 1000"))
        #expect(await ask(child, "one", key: 7) == .failure(failure))
        #expect(child.fatalCount(7) == 1)
    }

    @Test("a late second response is not taken for the next request's")
    func late() async throws {
        let note = try ScratchDirectory().file("late")
        let script = """
            while read -r line; do
                echo "$line"; [ "$line" = twice ] && { echo "$line"; : > \(note); }
            done
            """
        let child = child(shell(script))
        let first = await ask(child, "twice")
        try await eventually { FileManager.default.fileExists(atPath: note) }
        // Either both came at once, or the second one is noticed before the next request.
        #expect([.success("twice"), .failure(.unreachable("its response was to another request"))].contains(first))
        #expect(await ask(child, "next") == .success("next"))
        #expect(child.status.ends == 1)
        await child.rest()
    }

    @Test("one that ends again and again is off until it is reset")
    func off() async throws {
        let note = try ScratchDirectory().file("works")
        let child = child(shell("[ -e \(note) ] && exec cat; exit 1")) {
            $0.restarts.firstPause = .milliseconds(1)
        }
        #expect(await ask(child, "one") == .failure(.unreachable("it has ended too often")))
        #expect(child.status == .init(isRunning: false, isOff: true, starts: 5, ends: 5))
        try Data().write(to: URL(filePath: note))
        #expect(await ask(child, "two") == .failure(.unreachable("it has ended too often")))
        child.reset()
        #expect(await ask(child, "three") == .success("three"))
        await child.rest()
    }

    @Test("one that is not installed fails at once")
    func missing() async {
        #expect(await ask(child([["nonexistent-engine"]]), "one") == .failure(.programMissing("nonexistent-engine")))
        let half = child([["cat"], ["nonexistent-engine"]])
        #expect(await ask(half, "one") == .failure(.programMissing("nonexistent-engine")))
        #expect(await ask(child([[]]), "one") == .failure(.programMissing("")))
    }

    @Test("one that nobody uses ends")
    func idle() async throws {
        let child = child([["cat"]]) { $0.idle = .milliseconds(1) }
        #expect(await ask(child, "one") == .success("one"))
        try await eventually { !child.status.isRunning }
        #expect(await ask(child, "two") == .success("two"))
        #expect(child.status.ends == 0)
    }
}
