internal import Foundation
internal import Glibc
internal import Synchronization

/// One run of a program, with only `PATH`, `HOME` and `LANG` of this process's environment, in a process group of its
/// own.
///
/// A thread writes its input, reads both of its outputs at once, so that neither fills up, and kills the whole group at
/// the deadline, when the output is too large, on cancellation, and in any case when the program itself has ended: its
/// children would keep the pipes open. (A child with a session of its own cannot be killed, but nothing waits for it.)
package final class ProgramRun: Sendable {
    package enum Input: Sendable {
        case stream([UInt8])
        /// A file that only this user can read; its path replaces the placeholder in the arguments.
        case file([UInt8], name: String, placeholder: String)
    }

    private enum Phase {
        case waiting
        case running(pid_t)
        case stopped
    }

    package static var path: String { ProcessInfo.processInfo.environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin" }

    /// Whether the program is installed now, by path or by name. A later use may still fail.
    package static func isInstalled(_ program: String) -> Bool {
        if program.contains("/") { return FileManager.default.isExecutableFile(atPath: program) }
        guard !program.isEmpty else { return false }
        return path.split(separator: ":").contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(program)") }
    }

    private let arguments: [String]
    private let input: Input
    private let maxOutputSize: Int
    private let deadline: ContinuousClock.Instant
    private let phase = Mutex(Phase.waiting)

    package init(_ arguments: [String], input: Input, maxOutputSize: Int, deadline: ContinuousClock.Instant) {
        self.arguments = arguments
        self.input = input
        self.maxOutputSize = maxOutputSize
        self.deadline = deadline
    }

    /// The standard output of a program that exited with status 0.
    package func output() async throws(ProviderFailure) -> [UInt8] {
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Result<[UInt8], _>, Never>) in
                let thread = Thread {
                    continuation.resume(returning: Result { () throws(ProviderFailure) in try self.run() })
                }
                thread.name = "program"
                thread.start()
            }
        } onCancel: {
            stop()
        }
        return try result.get()
    }

    /// The thread notices that the pipes are closed.
    private func stop() {
        phase.withLock { phase in
            // The process ID is valid only until it was waited for.
            if case .running(let pid) = phase { _ = kill(-pid, SIGKILL) }
            phase = .stopped
        }
    }

    private func run() throws(ProviderFailure) -> [UInt8] {
        switch input {
        case .stream(let bytes): return try run(arguments, feeding: bytes)
        case .file(let bytes, let name, let placeholder):
            let folder = try PrivateFolder()
            defer { folder.remove() }
            let path = try folder.write(bytes, named: name)
            return try run(arguments.map { $0.replacing(placeholder, with: path) }, feeding: [])
        }
    }

    private func run(_ arguments: [String], feeding bytes: [UInt8]) throws(ProviderFailure) -> [UInt8] {
        // A program that does not read its input must not kill this process; the mask ends with the thread.
        var mask = sigset_t()
        sigemptyset(&mask)
        sigaddset(&mask, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &mask, nil)

        let process = try phase.withLock { phase throws(ProviderFailure) -> ChildProcess in
            if case .stopped = phase { throw .cancelled }
            let process = try ChildProcess(arguments, path: Self.path)
            phase = .running(process.pid)
            return process
        }
        var exchange = ProgramExchange(process, feeding: bytes, maxOutputSize: maxOutputSize)
        let end = exchange.run(until: deadline)
        let status = phase.withLock { phase -> Int32? in
            process.killGroup()
            let status = process.wait()
            if case .stopped = phase { return nil }
            phase = .stopped
            return status
        }
        guard let status else { throw .cancelled }
        switch end {
        case .timedOut: throw .timedOut
        case .outputTooLarge: throw .responseTooLarge(limit: maxOutputSize)
        case .ended:
            guard status != 0 else { return exchange.output }
            let signal = status & 0x7F
            throw .programFailed(
                signal == 0 ? .exit(status >> 8 & 0xFF) : .signal(signal), errorOutput: exchange.errorOutput)
        }
    }
}

/// A temporary directory that only this user can read. Its creator removes it.
private struct PrivateFolder {
    private let path: String

    init() throws(ProviderFailure) {
        var template = Array(
            FileManager.default.temporaryDirectory.appending(path: "switchboard-XXXXXX").path.utf8CString)
        guard mkdtemp(&template) != nil else {
            throw .unreachable("cannot create a temporary directory: \(String(cString: strerror(errno)))")
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    func remove() { try? FileManager.default.removeItem(atPath: path) }

    func write(_ bytes: [UInt8], named name: String) throws(ProviderFailure) -> String {
        let file = path + "/" + name
        do {
            try Data(bytes).write(to: URL(filePath: file))
        } catch {
            throw .unreachable("cannot write to the temporary directory")
        }
        return file
    }
}
