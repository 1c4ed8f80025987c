import NIOCore
import ServiceLifecycle

/// A service that listens on a configured port. Its error names the setting if it cannot.
struct ListeningService: Service {
    let service: any Service
    /// The setting, such as `http.port`.
    let setting: String
    let host: String
    let port: Int

    func run() async throws {
        do {
            try await service.run()
        } catch let error as IOError {
            throw ConfigurationError(Self.explain(error, setting: setting, host: host, port: port))
        }
    }

    private static func explain(_ error: IOError, setting: String, host: String, port: Int) -> String {
        let name = setting.split(separator: ".").first.map(String.init) ?? setting
        return switch error.errnoCode {
        case 98:
            "Port \(port) on \(host) is in use by another program: stop it, or choose another port with \(setting)."
        case 13: "This user may not listen on port \(port): choose a port of 1024 or above with \(setting)."
        case 99: "This machine does not have the address \(host): choose another with \(name).host."
        default: "Cannot listen on \(host):\(port) (\(error)): check \(name).host and \(setting)."
        }
    }
}
