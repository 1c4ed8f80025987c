import Foundation

/// The resident memory of a process, in bytes (proc(5)).
enum ProcessMemory {
    static func resident(of processID: Int) throws -> Int {
        guard let data = FileManager.default.contents(atPath: "/proc/\(processID)/status"),
            let line = String(decoding: data, as: UTF8.self).split(separator: "\n").first(where: {
                $0.hasPrefix("VmRSS:")
            }),
            let kilobytes = line.split(separator: " ").compactMap({ Int($0) }).first
                ?? line.split(whereSeparator: { !$0.isNumber }).compactMap({ Int($0) }).first
        else { throw MediaFailure("/proc/\(processID)/status cannot be read") }
        return kilobytes * 1024
    }
}
