import CoreMetrics
import Foundation
import Logging
import MediaFiles
import NIOPosix
import ServiceLifecycle
import Storage
import UnixSignals

/// What the command line runs: the server, migrations, and control requests.
package enum SwitchboardServer {
    /// Serves until SIGTERM or SIGINT. The description of a thrown error says what to do.
    ///
    /// - Parameters:
    ///   - configuration: what was read from `source`.
    ///   - source: read again on SIGHUP.
    package static func run(
        _ configuration: ServerConfiguration, from source: ConfigurationSource, roles: Set<ServerRole>
    ) async throws {
        // Before anything else, because an untrapped SIGHUP would end the process.
        let reloads = await UnixSignalsSequence(trapping: .sighup)
        let registry = PrometheusRegistry()
        MetricsSystem.bootstrap(registry)
        let level = SharedLogLevel(configuration[\.log.level])
        let isJSON = configuration[\.log.format] == .json
        let log = LineLogHandler.standardError(isJSON: isJSON)
        log.flushAtExit()
        defer { log.flush() }
        LoggingSystem.bootstrap(
            { LineLogHandler(label: $0, level: level, isJSON: isJSON, output: log, metadataProvider: $1) },
            metadataProvider: .request)
        let logger = Logger(label: "switchboard")

        let directory = try DataDirectory(path: configuration[\.storage.path], creates: true)
        let graph: ServiceGraph
        do {
            graph = try await ServiceGraph(
                configuration, from: source, roles, directory: directory, registry: registry,
                level: level, log: log,
                logger: logger)
        } catch {
            throw configuration.located(error)
        }
        let group = ServiceGroup(
            configuration: .init(
                services: graph.services.map {
                    // By default it is a description of all that the service holds, in every line about it.
                    .init(
                        service: $0, successTerminationBehavior: .gracefullyShutdownGroup,
                        serviceName: "\(type(of: $0))")
                }, logger: logger))
        let stops = await UnixSignalsSequence(trapping: .sigterm, .sigint)
        let signals = StopSignals(
            draining: graph.draining, drainSeconds: configuration[\.shutdown.drainSeconds], logger: logger)
        let stopping = Task { await signals.handle(stops) { await group.triggerGracefulShutdown() } }
        let reloading = Task { for await _ in reloads { graph.reloader.reload() } }
        defer {
            stopping.cancel()
            reloading.cancel()
        }
        do {
            try await group.run()
        } catch {
            await graph.close()
            throw error
        }
        await graph.close()
        logger.notice("stopped")
    }

    /// Migrates the database, and returns a line for each step that was done.
    ///
    /// - Parameter creates: whether to make a data directory and a database if there are none.
    package static func migrate(_ configuration: ServerConfiguration, creates: Bool) async throws -> [String] {
        let directory = try DataDirectory(path: configuration[\.storage.path], creates: creates)
        let database = try SQLiteDatabase(path: directory.file(DataDirectory.databaseName))
        let store = Store(database: database) { _ in }
        let run = try await store.prepare()
        let compaction = try await database.compact()
        await database.close()
        return (run.isEmpty ? ["The database is up to date."] : run.map { "Ran migration \($0.number): \($0.name)." })
            + lines(compaction)
    }

    static func lines(_ compaction: SQLiteDatabase.Compaction) -> [String] {
        switch compaction {
        case .notNeeded: []
        case .done(let before, let after):
            [
                "Rewrote the database file of an earlier version, so that it can shrink and has no remains of what was "
                    + "deleted: it had \(before) bytes and has \(after)."
            ]
        case .insufficientSpace(let needed, let free):
            [
                "The database file is of an earlier version: until it is rewritten once, it cannot shrink, and may have "
                    + "remains of what was deleted. That needs \(needed) free bytes on its disk: \(free) are free. Free "
                    + "some space there and run `switchboard migrate`."
            ]
        }
    }

    /// Makes a data directory from the backup at `path`, and returns a report for the operator.
    package static func restore(_ configuration: ServerConfiguration, from path: String) async throws -> [String] {
        try await RestoreWork.run(configuration, from: path)
    }

    /// Runs `body` with a function that has requests handled by the running server, or by this process if no server runs
    /// on the data directory: then none can start before the end.
    package static func withControl<Value>(
        _ configuration: ServerConfiguration,
        _ body: ((ControlRequest) async throws -> ControlResponse) async throws -> Value
    ) async throws -> Value {
        let path = configuration[\.storage.path]
        let socket = path + "/control.sock"
        if try await ControlClient.send(.systemWarnings, at: socket) != nil {
            return try await body { request in
                do {
                    return try await ControlClient.send(request, at: socket)
                        ?? ControlResponse(error: "The server has stopped.")
                } catch {
                    return ControlResponse(error: "The server did not respond: \(error).")
                }
            }
        }
        let directory = try DataDirectory(path: path)
        let storage = try await StorageParts(directory: directory) { _ in }
        let parts = try await AccountParts(configuration, storage, directory: directory)
        do {
            let media = try MediaFiles(path: directory.file("media"))
            let value = try await body { await parts.handle($0, media: media) }
            await storage.database.close()
            return value
        } catch {
            await storage.database.close()
            throw error
        }
    }

    /// Has the request handled by the running server, or by this process if no server runs on the data directory.
    package static func control(
        _ request: ControlRequest, _ configuration: ServerConfiguration
    ) async throws -> ControlResponse {
        let path = configuration[\.storage.path]
        if let response = try await ControlClient.send(request, at: path + "/control.sock") { return response }
        if request.needsServer {
            return ControlResponse(error: "No server is running on the data directory \(path): check storage.path.")
        }
        if request.needsEmbedder, configuration[\.languages.embeddings.provider] == .none { return .withoutEmbedder }
        let directory = try DataDirectory(path: path)
        let storage = try await StorageParts(directory: directory) { _ in }
        let parts = try await AccountParts(configuration, storage, directory: directory)
        var media: MediaFiles?
        if request.needsMedia { media = try MediaFiles(path: directory.file("media")) }
        let response = await parts.handle(request, media: media, isServing: false)
        await storage.database.close()
        return response
    }
}
