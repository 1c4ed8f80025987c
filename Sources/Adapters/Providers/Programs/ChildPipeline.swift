internal import Glibc

/// Programs of which each reads what the one before it writes, in one process group, with this process's ends of the
/// first one's input, the last one's output and the error output of all.
///
/// A program that ends takes the others along: those behind it read the end of their input, those before it cannot write.
/// This process's end has the same effect. Its owner calls `kill` once, which waits for all of them.
final class ChildPipeline {
    private var pids: [pid_t] = []
    /// -1 when closed.
    private(set) var input: Int32 = -1
    private(set) var output: Int32 = -1
    private(set) var errors: Int32 = -1

    /// The process group.
    var group: pid_t { pids.first ?? 0 }

    init(
        _ commands: [[String]], environment: [String: String], maxAddressSpace: UInt
    ) throws(ProviderFailure) {
        var spawn = ProgramSpawn()
        spawn.environment = environment
        spawn.maxAddressSpace = maxAddressSpace
        let ends = try Pipes.make(2)
        (input, errors) = (ends[1], ends[2])
        defer { Glibc.close(ends[3]) }
        // What the next program reads.
        var source = ends[0]
        for command in commands {
            do throws(ProviderFailure) {
                guard let program = command.first, !program.isEmpty else { throw .programMissing("") }
                let pair = try Pipes.make(1)
                let (status, pid) = spawn.start(command, standard: (source, pair[1], ends[3]))
                Glibc.close(source)
                Glibc.close(pair[1])
                source = pair[0]
                guard status == 0 else { throw ProgramSpawn.failure(status, program) }
                pids.append(pid)
                spawn.group = group
            } catch {
                Glibc.close(source)
                _ = kill()
                throw error
            }
        }
        output = source
        for end in [input, output, errors] { _ = fcntl(end, F_SETFL, fcntl(end, F_GETFL) | O_NONBLOCK) }
    }

    deinit { close() }

    func closeInput() { Self.close(&input) }
    func closeErrors() { Self.close(&errors) }

    /// Kills those that live, and waits for all.
    ///
    /// - Parameter areEnding: whether they have closed their output. The kernel does that before it says how a program has
    ///   ended, and the others end by their pipes: they have a second for it.
    /// - Returns: how the first of those ended that ended by themselves and not well.
    func kill(areEnding: Bool = false) -> ProgramEnding? {
        closeInput()
        var tries = areEnding ? 1_000 : 0
        while tries > 0, !pids.allSatisfy({ Self.ending(of: $0) != nil }) {
            usleep(1_000)
            tries -= 1
        }
        let killedBefore = pids.map(Self.isKilled)
        if group > 0 { _ = Glibc.kill(-group, SIGKILL) }
        var ending: ProgramEnding?
        for (pid, wasKilled) in zip(pids, killedBefore) {
            var status: Int32 = 0
            while waitpid(pid, &status, 0) < 0, errno == EINTR {}
            let signal = status & 0x7F
            let one: ProgramEnding = signal == 0 ? .exit(status >> 8 & 0xFF) : .signal(signal)
            let isOwn = one != .exit(0) && one != .signal(SIGPIPE) && (one != .signal(SIGKILL) || wasKilled)
            if isOwn { ending = ending ?? one }
        }
        pids = []
        close()
        return ending
    }

    /// Whether somebody else has killed it.
    private static func isKilled(_ pid: pid_t) -> Bool { ending(of: pid).map { $0 != Int32(CLD_EXITED) } ?? false }

    /// How it has ended, as `si_code` of waitid(2); nil if it lives. It can still be waited for.
    private static func ending(of pid: pid_t) -> Int32? {
        var info = siginfo_t()
        let isFound = waitid(P_PID, id_t(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_signo == SIGCHLD
        return isFound ? info.si_code : nil
    }

    private func close() {
        Self.close(&input)
        Self.close(&output)
        Self.close(&errors)
    }

    private static func close(_ end: inout Int32) {
        if end >= 0 { Glibc.close(end) }
        end = -1
    }
}
