import CoreMetrics
import Foundation
import Logging
import NIOPosix
import ServiceLifecycle
import Storage
import UnixSignals

/// What the command line can have done: serve, migrate, and commands to the accounts.
package enum SwitchboardServer {
    /// Serves until SIGTERM or SIGINT. Throws an error whose description says what to do when it cannot.
    package static func run(_ configuration: ServerConfiguration, roles: Set<ServerRole>) async throws {
        let registry = PrometheusRegistry()
        MetricsSystem.bootstrap(registry)
        let level = Logger.Level(rawValue: configuration.text("log.level")) ?? .info
        let isJSON = configuration.text("log.format") == "json"
        LoggingSystem.bootstrap { LineLogHandler(label: $0, level: level, isJSON: isJSON) }
        let logger = Logger(label: "switchboard")

        let directory = try DataDirectory(path: configuration.text("storage.path"))
        let graph = try await ServiceGraph(
            configuration, roles, directory: directory, registry: registry, logger: logger)
        let group = ServiceGroup(
            configuration: .init(
                services: graph.services.map {
                    .init(service: $0, successTerminationBehavior: .gracefullyShutdownGroup)
                },
                gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
        do {
            try await group.run()
        } catch {
            await graph.close()
            throw error
        }
        await graph.close()
        logger.notice("stopped")
    }

    /// Brings the database up to date and tells what was done, a line for each step.
    package static func migrate(_ configuration: ServerConfiguration) async throws -> [String] {
        let directory = try DataDirectory(path: configuration.text("storage.path"))
        let database = try SQLiteDatabase(path: directory.file("switchboard.sqlite"))
        let store = Store(database: database) { _ in }
        let run = try await store.prepare()
        await database.close()
        return run.isEmpty ? ["The database is up to date."] : run.map { "Ran migration \($0.number): \($0.name)." }
    }

    /// Has the running server answer, or this process when no server runs on the data directory.
    package static func control(
        _ request: ControlRequest, _ configuration: ServerConfiguration
    ) async throws -> ControlAnswer {
        let path = configuration.text("storage.path")
        if let answer = try await ControlClient.ask(request, at: path + "/control.sock") { return answer }
        let directory = try DataDirectory(path: path)
        let parts = try await AccountParts(configuration, directory: directory) { _ in }
        let answer = await parts.answer(request)
        await parts.database.close()
        return answer
    }
}
