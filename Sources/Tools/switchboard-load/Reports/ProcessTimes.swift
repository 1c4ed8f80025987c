import Foundation

/// The CPU time of a process, in total and by thread name (proc(5)).
struct ProcessTimes: Sendable {
    /// Seconds of user and system time.
    struct Times: Sendable {
        var user = 0.0
        var system = 0.0
        var total: Double { user + system }
    }

    private static let ticksPerSecond = Double(sysconf(Int32(_SC_CLK_TCK)))

    var all: Times
    /// Threads whose names differ only in a number at the end are added up.
    var threads: [String: Times]

    /// Reads the times of a process; nil means this one.
    init(of processID: Int?) throws {
        let path = "/proc/\(processID.map(String.init) ?? "self")"
        guard let (_, all) = Self.read("\(path)/stat") else {
            throw CallsFailure(what: "\(path)/stat cannot be read")
        }
        self.all = all
        threads = [:]
        for thread in (try? FileManager.default.contentsOfDirectory(atPath: "\(path)/task")) ?? [] {
            guard let (name, times) = Self.read("\(path)/task/\(thread)/stat") else { continue }
            let kind = String(name.reversed().drop { $0.isNumber || $0 == "-" || $0 == "#" }.reversed())
            threads[kind, default: Times()].user += times.user
            threads[kind, default: Times()].system += times.system
        }
    }

    private init(all: Times, threads: [String: Times]) {
        self.all = all
        self.threads = threads
    }

    func since(_ before: ProcessTimes) -> ProcessTimes {
        ProcessTimes(
            all: all.since(before.all),
            threads: Dictionary(
                uniqueKeysWithValues: threads.map { ($0, $1.since(before.threads[$0] ?? Times())) }))
    }

    private static func read(_ path: String) -> (name: String, Times)? {
        guard let data = FileManager.default.contents(atPath: path) else { return nil }
        let text = String(decoding: data, as: UTF8.self)
        guard let open = text.firstIndex(of: "("), let close = text.lastIndex(of: ")") else { return nil }
        // The state is field 3, utime and stime are 14 and 15.
        let fields = text[text.index(after: close)...].split(separator: " ")
        guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else { return nil }
        return (
            String(text[text.index(after: open)..<close]),
            Times(user: user / ticksPerSecond, system: system / ticksPerSecond)
        )
    }
}

extension ProcessTimes.Times {
    func since(_ before: Self) -> Self { Self(user: user - before.user, system: system - before.system) }
}
