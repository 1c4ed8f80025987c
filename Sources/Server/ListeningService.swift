import NIOCore
import ServiceLifecycle

/// A service that listens on a configured port, and says which one when it cannot.
struct NamedPort: Service {
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
        case 98: "Port \(port) on \(host) is taken by another program: stop it, or choose another port with \(setting)."
        case 13: "Port \(port) may not be used by this user: choose one from 1024 on with \(setting)."
        case 99: "The address \(host) is not one of this machine's: choose another with \(name).host."
        default: "\(host):\(port) cannot be listened on (\(error)): check \(name).host and \(setting)."
        }
    }
}
