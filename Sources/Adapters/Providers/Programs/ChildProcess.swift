internal import Glibc

/// A child process, with this process's ends of its three pipes.
///
/// Its owner must `wait` for it once; until then its process ID is not reused.
final class ChildProcess {
    let pid: pid_t
    /// -1 when closed.
    private(set) var input: Int32
    private(set) var output: Int32
    private(set) var errors: Int32

    init(_ arguments: [String], path: String) throws(ProviderFailure) {
        guard let program = arguments.first, !program.isEmpty else { throw .programMissing("") }
        let ends = try Pipes.make(3)
        let (input, output, errors) = (ends[1], ends[2], ends[4])
        for end in [input, output, errors] {
            _ = fcntl(end, F_SETFL, fcntl(end, F_GETFL) | O_NONBLOCK)
        }
        let status: Int32
        (status, pid) = ProgramSpawn(path: path).start(arguments, standard: (ends[0], ends[3], ends[5]))
        for end in [ends[0], ends[3], ends[5]] { Glibc.close(end) }
        (self.input, self.output, self.errors) = (input, output, errors)
        guard status == 0 else {
            closeAll()
            throw ProgramSpawn.failure(status, program)
        }
    }

    deinit { closeAll() }

    func closeInput() { Self.close(&input) }
    func closeOutput() { Self.close(&output) }
    func closeErrors() { Self.close(&errors) }

    private func closeAll() {
        closeInput()
        closeOutput()
        closeErrors()
    }

    private static func close(_ end: inout Int32) {
        if end >= 0 { Glibc.close(end) }
        end = -1
    }

    /// Whether it ended; it can still be waited for.
    var hasEnded: Bool {
        var info = siginfo_t()
        let result = waitid(P_PID, id_t(pid), &info, WEXITED | WNOHANG | WNOWAIT)
        return result != 0 || info.si_signo == SIGCHLD
    }

    /// Kills it and its children; only before `wait`.
    func killGroup() { _ = kill(-pid, SIGKILL) }

    /// Its wait(2) status.
    func wait() -> Int32 {
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        return status
    }
}
