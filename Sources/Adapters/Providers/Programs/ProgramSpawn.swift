internal import CSpawn
internal import Foundation
internal import Glibc

/// How programs are started: in a process group, with only `PATH`, `HOME` and `LANG` of this process's environment, no
/// files but their three, no signal blocked or ignored, and at a low priority.
struct ProgramSpawn {
    /// As nice(1) adds: next to a busy thread of calls the program gets a tenth of the processor.
    private static let niceness: Int32 = 10

    var path = ProgramRun.path
    /// The process ID of the group's leader; 0: the program leads one of its own.
    var group: pid_t = 0
    /// In bytes.
    var maxAddressSpace: UInt?
    /// Beside what it inherits, instead of which it counts.
    var environment: [String: String] = [:]

    /// - Parameters:
    ///   - arguments: the program, by path or by name, and its arguments.
    ///   - standard: its input, output and error output, which remain open here.
    func start(_ arguments: [String], standard: (Int32, Int32, Int32)) -> (status: Int32, pid_t) {
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
        posix_spawnattr_setpgroup(&attributes, group)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

        var variables = ["HOME", "LANG"].reduce(into: [:]) { $0[$1] = ProcessInfo.processInfo.environment[$1] }
        variables["PATH"] = path
        variables.merge(environment) { $1 }
        var pid: pid_t = -1
        let program = arguments.first ?? ""
        let status = Self.withCStrings(arguments) { arguments in
            Self.withCStrings(variables.map { "\($0)=\($1)" }) {
                posix_spawnp(&pid, program, &actions, &attributes, arguments, $0)
            }
        }
        // Calls come first. A failure is ignored.
        if status == 0 {
            Self.addNiceness(to: pid)
            if let maxAddressSpace { Self.limit(pid, addressSpace: maxAddressSpace) }
        }
        return (status, pid)
    }

    static func failure(_ status: Int32, _ program: String) -> ProviderFailure {
        switch status {
        case ENOENT, EACCES, ENOEXEC, ENOTDIR: .programMissing(program)
        default: .unreachable("the program cannot be started: \(String(cString: strerror(status)))")
        }
    }

    private static func addNiceness(to pid: pid_t) {
        let process = Int32(PRIO_PROCESS.rawValue)
        _ = setpriority(process, id_t(pid), getpriority(process, 0) + niceness)
    }

    /// It holds for its children too. What it has allocated by now, in its first microseconds, it keeps.
    private static func limit(_ pid: pid_t, addressSpace: UInt) {
        var limit = rlimit(rlim_cur: rlim_t(addressSpace), rlim_max: rlim_t(addressSpace))
        _ = prlimit(pid, Int32(RLIMIT_AS.rawValue), &limit, nil)
        // A core of that size would help nobody.
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        _ = prlimit(pid, Int32(RLIMIT_CORE.rawValue), &none, nil)
    }

    private static func withCStrings<Result>(
        _ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        let copies = texts.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        return body(copies + [nil])
    }
}

/// Pipes that no program inherits unless it is given them.
enum Pipes {
    /// Of each pipe the end to read, then the end to write.
    static func make(_ count: Int) throws(ProviderFailure) -> [Int32] {
        var ends: [Int32] = []
        for _ in 0..<count {
            var pair: [Int32] = [-1, -1]
            guard pipe2(&pair, O_CLOEXEC) == 0 else {
                for end in ends { Glibc.close(end) }
                throw .unreachable("cannot create a pipe: \(String(cString: strerror(errno)))")
            }
            ends += pair
        }
        return ends
    }
}
