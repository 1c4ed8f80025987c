internal import CSpawn
internal import Foundation
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

    init(_ arguments: [String], path: String) throws(TranscriptionFailure) {
        guard let program = arguments.first, !program.isEmpty else { throw .programMissing("") }
        var ends: [Int32] = []
        for _ in 0..<3 {
            var pair: [Int32] = [-1, -1]
            guard pipe2(&pair, O_CLOEXEC) == 0 else {
                for end in ends { Glibc.close(end) }
                throw .unreachable("cannot create a pipe: \(String(cString: strerror(errno)))")
            }
            ends += pair
        }
        let (input, output, errors) = (ends[1], ends[2], ends[4])
        for end in [input, output, errors] {
            _ = fcntl(end, F_SETFL, fcntl(end, F_GETFL) | O_NONBLOCK)
        }
        let status: Int32
        (status, pid) = Self.spawn(program, arguments, path, standard: (ends[0], ends[3], ends[5]))
        for end in [ends[0], ends[3], ends[5]] { Glibc.close(end) }
        (self.input, self.output, self.errors) = (input, output, errors)
        guard status == 0 else {
            closeAll()
            switch status {
            case ENOENT, EACCES, ENOEXEC, ENOTDIR: throw .programMissing(program)
            default: throw .unreachable("the program cannot be started: \(String(cString: strerror(status)))")
            }
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

    /// As nice(1) adds: next to a busy thread of calls the program gets a tenth of the processor.
    private static let niceness: Int32 = 10

    private static func spawn(
        _ program: String, _ arguments: [String], _ path: String, standard: (Int32, Int32, Int32)
    ) -> (status: Int32, pid_t) {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, standard.0, 0)
        posix_spawn_file_actions_adddup2(&actions, standard.1, 1)
        posix_spawn_file_actions_adddup2(&actions, standard.2, 2)
        // The program inherits no sockets.
        posix_spawn_file_actions_addclosefrom_np(&actions, 3)

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

        var environment = ["PATH=\(path)"]
        for name in ["HOME", "LANG"] {
            if let value = ProcessInfo.processInfo.environment[name] { environment.append("\(name)=\(value)") }
        }
        var pid: pid_t = -1
        let status = withCStrings(arguments) { arguments in
            withCStrings(environment) { posix_spawnp(&pid, program, &actions, &attributes, arguments, $0) }
        }
        // Calls come first. A failure is ignored.
        if status == 0 { addNiceness(to: pid) }
        return (status, pid)
    }

    private static func addNiceness(to pid: pid_t) {
        let process = Int32(PRIO_PROCESS.rawValue)
        _ = setpriority(process, id_t(pid), getpriority(process, 0) + niceness)
    }

    private static func withCStrings<Result>(
        _ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        let copies = texts.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        return body(copies + [nil])
    }
}
