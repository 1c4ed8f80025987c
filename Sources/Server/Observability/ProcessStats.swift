import Foundation

/// Resource usage of this process, as the kernel reports it.
enum ProcessStats {
    static var residentBytes: Int {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8),
            let pages = text.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
        else { return 0 }
        return pages * 4096
    }

    static var openDescriptors: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
    }

    /// User and system time of all threads, from proc(5)'s `stat`.
    static var cpuSeconds: Double {
        guard let text = try? String(contentsOfFile: "/proc/self/stat", encoding: .utf8),
            // The name in parentheses may contain spaces; user time is the 12th field after it.
            let rest = text.split(separator: ")").last?.split(separator: " "), rest.count > 12,
            let user = Double(rest[11]), let system = Double(rest[12])
        else { return 0 }
        return (user + system) / 100
    }
}
