import Foundation
import NIOCore
import NIOPosix
import SwitchboardClient
import Synchronization

/// A `switchboard serve` process on free ports of the loopback, with its data in a temporary directory.
final class RealServer: Sendable {
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    let port: Int
    private let directory: URL
    private let binary: URL
    private let configuration: URL
    private let process: Mutex<Process>

    var address: String { "http://127.0.0.1:\(port)" }

    /// Starts the binary that the package's tests were built with, and waits until it is ready.
    ///
    /// - Parameter settings: More lines of the configuration, of the folder with the package.
    init(_ settings: (_ root: URL) -> String = { _ in "" }) async throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        binary = root.appendingPathComponent(".build/debug/switchboard")
        guard FileManager.default.isExecutableFile(atPath: binary.path) else {
            throw Failure(description: "\(binary.path) does not exist: build the package first")
        }
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("switchboard-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let ports = try await Self.freePorts(3)
        port = ports[0]
        configuration = directory.appendingPathComponent("switchboard.yaml")
        try Data(
            """
            http: {host: 127.0.0.1, port: \(ports[0])}
            admin: {host: 127.0.0.1, port: \(ports[1])}
            storage: {path: "\(directory.path)/data"}
            log: {level: warning}
            shutdown: {drainSeconds: 0}
            accounts: {signUp: open, signUpsPerHour: 100000}
            limits: {callsPerMinute: 100000, signalsPerMinute: 100000, credentialsPerMinute: 100000, requestsPerMinute: 100000}
            relay: {listen: ["127.0.0.1"], port: \(ports[2])}
            gateway: {port: 0}
            \(settings(root))
            """.utf8
        ).write(to: configuration)
        process = Mutex(try Self.run(binary, configuration))
        try await untilReady()
    }

    private static func run(_ binary: URL, _ configuration: URL) throws -> Process {
        let process = Process()
        process.executableURL = binary
        process.arguments = ["serve", "--config", configuration.path]
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        return process
    }

    /// Ends the server as a power cut does, and starts it again on the same ports and data.
    func crashAndRestart() async throws {
        try process.withLock { process in
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            process = try Self.run(binary, configuration)
        }
        try await untilReady()
    }

    /// Ends the server as a power cut does.
    func stop() {
        process.withLock { process in
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
    }

    deinit {
        process.withLock { process in
            process.terminate()
            process.waitUntilExit()
        }
        try? FileManager.default.removeItem(at: directory)
    }

    /// A client of this server, or of a proxy before it.
    func client(through port: Int? = nil, _ configure: (inout SwitchboardOptions) -> Void = { _ in }) throws
        -> Switchboard
    {
        var options = SwitchboardOptions()
        configure(&options)
        return try Switchboard("http://127.0.0.1:\(port ?? self.port)", options: options)
    }

    /// A client of this server with a new account.
    func person(_ name: String, through port: Int? = nil) async throws -> (client: Switchboard, me: Me) {
        let client = try client(through: port)
        let me = try await client.signUp(
            email: "\(name.prefix(3).lowercased())-\(UUID().uuidString.prefix(8))@example.org",
            password: "correct horse",
            displayName: name)
        return (client, me)
    }

    private func untilReady() async throws {
        let probe = try Switchboard(address)
        let deadline = ContinuousClock.now + .seconds(60)
        var seen = "nothing"
        while process.withLock({ $0.isRunning }), ContinuousClock.now < deadline {
            do {
                _ = try await probe.serverDescription()
                return await probe.close()
            } catch {
                seen = "\(error)"
            }
            try await Task.sleep(for: .milliseconds(50))
        }
        await probe.close()
        let end = process.withLock { $0.isRunning ? "it is still running" : "it ended with \($0.terminationStatus)" }
        throw Failure(description: "the server did not become ready: \(end); last seen: \(seen)")
    }

    /// Below the kernel's ephemeral ports, and apart from those of the Python tests, so that nobody else takes a port
    /// between its choice and the server's start.
    private static let portRange = 10_000..<21_000
    private static let taken = Mutex<Set<Int>>([])
    /// Several runs at once do not take the same ports: each holds locks on the bytes of this file whose offsets are
    /// its ports, until it ends (`ports.py` of the Python tests does it too).
    private static let locks: Int32 = {
        let folder = FileManager.default.temporaryDirectory
        let path = folder.appendingPathComponent("switchboard-tests-\(getuid()).ports").path
        return open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    }()

    /// Takes a port for this process, unless another one has it.
    private static func lock(_ port: Int) -> Bool {
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = off_t(port)
        lock.l_len = 1
        return fcntl(locks, F_SETLK, &lock) == 0
    }

    /// Ports that are free on the loopback, for UDP and TCP; never the same twice.
    private static func freePorts(_ count: Int) async throws -> [Int] {
        let group = MultiThreadedEventLoopGroup.singleton
        var ports: [Int] = []
        guard locks >= 0 else { throw Failure(description: "the file of the tests' ports cannot be opened: \(errno)") }
        while ports.count < count {
            let port = Int.random(in: portRange)
            guard taken.withLock({ $0.insert(port).inserted }), lock(port),
                let stream = try? await ServerBootstrap(group: group).bind(host: "127.0.0.1", port: port).get()
            else { continue }
            let datagrams = try? await DatagramBootstrap(group: group).bind(host: "127.0.0.1", port: port).get()
            try await stream.close()
            guard let datagrams else { continue }
            try await datagrams.close()
            ports.append(port)
        }
        return ports
    }
}
