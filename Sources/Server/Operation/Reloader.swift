import Crypto
import Foundation
import Logging
import Relay
import Storage
import Synchronization
import WebAPI

/// The parts of a running server that a reload changes.
struct LiveParts: Sendable {
    let directory: DataDirectory
    let logLevel: SharedLogLevel
    let relay: RelayServer?
    let currentRelay: CurrentRelay
    let authenticator: RequestAuthenticator
    let features: FeatureFlags
    let certificate: LiveCertificate?
    /// Of the operator's port.
    let adminCertificate: LiveCertificate?
    /// Nil without the api.
    let translation: TranslationParts?
}

/// Reads the configuration again while the server runs, on SIGHUP and on `switchboard reload`.
///
/// A reload is atomic: everything is read and checked before the first part is replaced, and replacing cannot fail.
/// Settings that need a restart are checked and reported too, but keep their values.
final class Reloader: Sendable {
    private struct Running {
        /// The settings in force: live settings as last read, all others as they were at the start.
        var configuration: ServerConfiguration
        var files: [String: SHA256.Digest]
        var secrets: [String]
    }

    private let source: ConfigurationSource
    private let parts: LiveParts
    private let running: Mutex<Running>
    private let logger: Logger

    init(_ source: ConfigurationSource, running configuration: ServerConfiguration, _ parts: LiveParts, logger: Logger)
        throws
    {
        self.source = source
        self.parts = parts
        self.logger = logger
        let secrets = try RelaySettings(configuration, directory: parts.directory).configuration.secrets
        running = Mutex(
            Running(configuration: configuration, files: Self.files(of: configuration), secrets: secrets))
    }

    /// Reloads, and reports in a log line and in the response what changed, or why nothing did.
    @discardableResult
    func reload() -> ControlResponse {
        running.withLock { running in
            do {
                let read = try source.read()
                let report: Report
                do {
                    report = try replace(&running, with: read)
                } catch {
                    throw read.located(error)
                }
                logger.notice("\(report.line)")
                return ControlResponse(lines: [report.line])
            } catch {
                logger.error("nothing was reloaded", metadata: ["error": "\(error)"])
                return ControlResponse(error: "Nothing was reloaded. \(error)")
            }
        }
    }

    private struct Report {
        let changed: [String]
        let waiting: [String]

        var line: String {
            "reloaded: " + (changed.isEmpty ? "nothing changed" : changed.joined(separator: ", "))
                + (waiting.isEmpty ? "" : "; needs a restart: " + waiting.joined(separator: ", "))
        }
    }

    private func replace(_ running: inout Running, with read: ServerConfiguration) throws -> Report {
        // Settings that wait for a restart must be valid too, or the restart would fail.
        _ = try CertificateFiles(read, of: .api)
        _ = try AdminSettings(read)
        _ = try WebClientSettings(read)
        _ = try GatewaySettings(read)
        _ = try ConnectionSettings(read)
        _ = try TranslationParts.provider(read)
        _ = try ExplanationParts.model(read)
        _ = try RelayServer(configuration: RelaySettings(read, directory: parts.directory).configuration)

        let live = liveKeys(from: running.configuration, to: read)
        let next = running.configuration.replacing(live, from: read)
        let settings = try RelaySettings(next, directory: parts.directory)
        let relay = settings.configuration
        let rules = try parts.relay?.rules(for: relay)
        let certificate = try CertificateFiles(next, of: .api)
        let adminCertificate = try CertificateFiles(next, of: .admin)
        let files = Self.files(of: next)
        let report = report(
            from: running, to: next, files: files, secrets: relay.secrets, waiting: differences(next, read))

        if let rules {
            for failure in parts.relay?.adopt(rules) ?? [] {
                logger.warning("an address is not listened on: \(failure)")
            }
        }
        if let certificate { parts.certificate?.adopt(certificate) }
        if let adminCertificate { parts.adminCertificate?.adopt(adminCertificate) }
        parts.currentRelay.adopt(settings)
        parts.authenticator.adopt(next.requestLimits)
        parts.features.adopt(disabled: next.disabledFeatures)
        parts.logLevel.set(next[\.log.level])
        parts.translation?.reset()
        running = Running(configuration: next, files: files, secrets: relay.secrets)
        if let warning = settings.warning { logger.warning("relay: \(warning)") }
        return report
    }

    /// The settings in force.
    var configuration: ServerConfiguration { running.withLock { $0.configuration } }

    /// The settings that can be applied now. Adding the first certificate of a port or removing it cannot, since the port
    /// would change between HTTP and HTTPS.
    private func liveKeys(from old: ServerConfiguration, to new: ServerConfiguration) -> Set<String> {
        var keys = Set(SettingsTable.all.filter(\.isLive).map(\.key))
        for port in [CertificateFiles.Port.api, .admin]
        where old[port.certificate].isEmpty != new[port.certificate].isEmpty {
            keys.subtract(port.keys)
        }
        return keys
    }

    private func differences(_ old: ServerConfiguration, _ new: ServerConfiguration) -> [SettingChange] {
        SettingsTable.all.compactMap { setting in
            let (before, after) = (old.value(of: setting), new.value(of: setting))
            return before == after ? nil : SettingChange(setting: setting, old: before, new: after)
        }
    }

    private func report(
        from running: Running, to next: ServerConfiguration, files: [String: SHA256.Digest], secrets: [String],
        waiting: [SettingChange]
    ) -> Report {
        let changes = differences(running.configuration, next)
        var changed = changes.map(\.summary)
        for (key, content) in files.sorted(by: { $0.key < $1.key })
        where content != running.files[key] && !changes.contains(where: { $0.setting.key == key }) {
            changed.append("\(key) (new content)")
        }
        let key = SettingsTable.key(of: \.relay.secrets)
        if secrets != running.secrets, !changes.contains(where: { $0.setting.key == key }) {
            changed.append("\(key) (the one in storage.path)")
        }
        return Report(changed: changed, waiting: waiting.map(\.summary))
    }

    private static func files(of configuration: ServerConfiguration) -> [String: SHA256.Digest] {
        var digests: [String: SHA256.Digest] = [:]
        for setting in SettingsTable.all where setting.isFile {
            guard case .string(let path) = configuration.value(of: setting), !path.isEmpty,
                let content = try? Data(contentsOf: URL(filePath: path))
            else { continue }
            digests[setting.key] = SHA256.hash(data: content)
        }
        return digests
    }
}
