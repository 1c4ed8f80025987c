import Foundation
import Glibc
import Providers
import TestSupport
import Testing

@testable import Transcription

@Suite("Transcription by a program")
struct CommandTests {
    private let audio = SpeechAudio(Array(repeating: 1, count: 160_000))

    private func run(
        _ arguments: [String], within timeout: Duration = .seconds(60)
    ) async throws(TranscriptionFailure) -> Transcript {
        try await CommandTranscriber(arguments).transcribe(audio, language: nil, deadline: .now + timeout)
    }

    private func shell(_ script: String) -> [String] { ["sh", "-c", script] }

    private func failure(_ arguments: [String], within timeout: Duration = .seconds(60)) async -> TranscriptionFailure?
    {
        do {
            let transcript = try await run(arguments, within: timeout)
            Issue.record("\(transcript)")
            return nil
        } catch {
            return error
        }
    }

    @Test("it runs at a low priority")
    func niceness() async throws {
        let own = getpriority(Int32(PRIO_PROCESS.rawValue), 0)
        let transcript = try await run(shell("cat > /dev/null; nice"))
        #expect(transcript.text == "\(min(own + 10, 19))")
    }

    @Test(
        "pocketsphinx understands flite",
        .enabled(if: Flite.hasRecognizer, "flite and pocketsphinx are not installed"))
    func pocketsphinx() async throws {
        let words = "one two three four five"
        let spoken = try Flite.silence(1) + Flite.say(words) + Flite.silence(1)
        let program = CommandTranscriber.pocketsphinx()
        #expect(program.isInstalled)
        let transcript = try await program.transcribe(
            SpeechAudio(spoken), language: "en", deadline: .now + .seconds(120))
        #expect(transcript.text == words)
        #expect(transcript.language == "en")
        #expect(transcript.segments.count == 1)
        #expect((900...1_500).contains(transcript.segments.first?.start ?? 0))
        #expect((transcript.segments.first?.end ?? 0) > 2_000)
    }

    @Test("a file in a private directory that is removed afterwards") func file() async throws {
        let transcript = try await run(shell("stat -c %a \"$(dirname {file})\"; wc -c < {file}; echo {file}"))
        let words = transcript.text.split(separator: " ")
        try #require(words.count == 3)
        #expect(words[0] == "700")
        #expect(words[1] == "320044")
        #expect(words[2].hasSuffix("/speech.wav"))
        #expect(
            !FileManager.default.fileExists(atPath: URL(filePath: String(words[2])).deletingLastPathComponent().path))
    }

    @Test("PCM on standard input, more than a pipe buffers") func stream() async throws {
        #expect(try await run(["wc", "-c"]).text == "320000")
    }

    @Test("a program that writes much before it reads does not deadlock") func bothWays() async throws {
        let transcript = try await run(
            shell("head -c 300000 /dev/zero | tr '\\0' a; head -c 300000 /dev/zero >&2; wc -c"))
        #expect(transcript.text.hasSuffix("320000"))
    }

    @Test("a program that does not read its input may still write output") func unread() async throws {
        #expect(try await run(shell("exec <&-; echo done")).text == "done")
    }

    @Test("environment, files and signals are not inherited") func inheritance() async throws {
        let inherited: Set<String> = ["PATH", "HOME", "LANG"]
        // There is more to inherit. It is not set here: other tests read the environment meanwhile, to start programs.
        #expect(!Set(ProcessInfo.processInfo.environment.keys).isSubset(of: inherited))
        let names = try await run(["env"]).text.split(separator: " ").compactMap { $0.split(separator: "=").first }
        #expect(Set(names.map(String.init)).isSubset(of: inherited))
        #expect(names.contains("PATH"))
        let pipe = open("/dev/null", O_RDONLY)
        defer { close(pipe) }
        // Those of the shell's own ls are 0 to 2 and the directory.
        #expect(try await run(["ls", "/proc/self/fd"]).text == "0 1 2 3")
        let signals = try await run(shell("sed -nE 's/Sig(Blk|Ign)://p' /proc/self/status")).text.split(separator: " ")
        // glibc has those that its threads use among themselves, 32 and 33, ignored.
        #expect(signals.map { UInt64($0, radix: 16).map { $0 & ~0x1_8000_0000 } } == [0, 0])
    }

    @Test("failures report what happened") func failures() async {
        #expect(
            await failure(shell("echo far too loud >&2; exit 7"))
                == .programFailed(.exit(7), errorOutput: "far too loud")
        )
        #expect(await failure(shell("kill -9 $$")) == .programFailed(.signal(9), errorOutput: ""))
        #expect(await failure(["/nonexistent/ear"]) == .programMissing("/nonexistent/ear"))
        #expect(await failure(["nonexistent-ear"]) == .programMissing("nonexistent-ear"))
        #expect(await failure(["/etc/passwd"]) == .programMissing("/etc/passwd"))
        #expect(await failure([]) == .programMissing(""))
        #expect(!CommandTranscriber(["nonexistent-ear"]).isInstalled)
        #expect(await failure(shell("echo '{'")) == .invalidResponse("not JSON"))
    }

    @Test("the size of both outputs is limited") func floods() async {
        #expect(await failure(["yes"]) == .responseTooLarge(limit: 4 << 20))
        let failure = await failure(shell("yes complaint | head -c 50000000 >&2; echo the end >&2; exit 1"))
        guard case .programFailed(.exit(1), let errorOutput)? = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(errorOutput.hasSuffix("the end"))
        #expect(errorOutput.utf8.count <= 2_000)
    }

    /// Whether a process lives, zombies aside.
    private func lives(_ pid: String) -> Bool {
        guard let status = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8) else { return false }
        return status.split(separator: ")").last?.split(separator: " ").first != "Z"
    }

    private func ended(_ pids: [String]) async throws {
        // It was killed before; the kernel ends it with some delay.
        try await eventually { !pids.contains(where: lives) }
    }

    private func contents(of note: String) throws -> String { try String(contentsOfFile: note, encoding: .utf8) }

    @Test("a program that ignores SIGTERM, and its children, are killed at the deadline", .timeLimit(.minutes(2)))
    func stubborn() async throws {
        let note = try ScratchDirectory().file("note")
        let script = "trap '' TERM; sleep 1000 & echo $$ $! > \(note); while :; do sleep 1000; done"
        #expect(await failure(shell(script), within: .seconds(2)) == .timedOut)
        let pids = try contents(of: note).split(whereSeparator: \.isWhitespace).map(String.init)
        #expect(pids.count == 2)
        try await ended(pids)
    }

    @Test("a child that holds the outputs open is not waited for", .timeLimit(.minutes(2)))
    func leftBehind() async throws {
        let transcript = try await run(shell("sleep 1000 & echo $!"), within: .seconds(100))
        try await ended([transcript.text])
    }

    @Test("a child that is in a session of its own is not waited for either", .timeLimit(.minutes(2)))
    func ownSession() async throws {
        let transcript = try await run(shell("setsid sleep 1000 & echo $!"), within: .seconds(100))
        let pid = try #require(pid_t(transcript.text))
        kill(pid, SIGKILL)
    }

    @Test("a program that has closed its outputs is waited for, until the deadline") func closed() async throws {
        #expect(await failure(shell("exec >&- 2>&-; sleep 1000"), within: .seconds(1)) == .timedOut)
        #expect(try await run(shell("echo done; exec >&- 2>&-; sleep 0.3")).text == "done")
    }

    @Test("it is killed when its task is cancelled", .timeLimit(.minutes(2))) func cancelled() async throws {
        let note = try ScratchDirectory().file("note")
        let task = Task {
            await failure(shell("echo $$ > \(note).new; mv \(note).new \(note); sleep 1000"))
        }
        try await eventually { FileManager.default.fileExists(atPath: note) }
        task.cancel()
        #expect(await task.value == .cancelled)
        try await ended([try contents(of: note).trimmingCharacters(in: .whitespacesAndNewlines)])
        #expect(await Task { await failure(["sleep", "1000"]) }.cancelledAtOnce() == .cancelled)
    }
}

extension Task where Failure == Never {
    fileprivate func cancelledAtOnce() async -> Success {
        cancel()
        return await value
    }
}
