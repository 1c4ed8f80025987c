import Calls
import NIOSSL
import WebAPI

extension ServerConfiguration {
    /// How often a user, or before signing up an address, may ask for what.
    var requestLimits: [RequestLimit: RequestRate] {
        func perMinute(_ key: String) -> RequestRate { RequestRate(perMinute: integer(key), burst: integer(key)) }
        let signUps = integer("accounts.signUpsPerHour")
        return [
            .requests: perMinute("limits.requestsPerMinute"), .calls: perMinute("limits.callsPerMinute"),
            .signals: perMinute("limits.signalsPerMinute"), .searches: perMinute("limits.searchesPerMinute"),
            .credentials: perMinute("limits.credentialsPerMinute"),
            .signUps: RequestRate(perMinute: max(1, signUps / 60), burst: signUps),
        ]
    }
}

extension CallRules {
    init(_ configuration: ServerConfiguration) {
        self.init()
        ringSeconds = Int64(configuration.integer("calls.ringSeconds"))
        setupSeconds = Int64(configuration.integer("calls.setupSeconds"))
        participantLimit = configuration.integer("calls.maxParticipants")
    }
}

/// The certificate and key of the HTTPS port.
struct TLSFiles {
    let certificate: String
    let privateKey: String

    /// Nil where neither is configured.
    init?(_ configuration: ServerConfiguration) throws {
        certificate = configuration.text("http.certificate")
        privateKey = configuration.text("http.privateKey")
        if certificate.isEmpty, privateKey.isEmpty { return nil }
        guard !certificate.isEmpty, !privateKey.isEmpty else {
            throw ConfigurationError("http.certificate and http.privateKey go together: set both, or neither.")
        }
    }

    func load() throws -> TLSConfiguration {
        let chain: [NIOSSLCertificate]
        do {
            chain = try NIOSSLCertificate.fromPEMFile(certificate)
        } catch {
            throw ConfigurationError("http.certificate: \(certificate) is no readable PEM file with certificates.")
        }
        do {
            let key = try NIOSSLPrivateKey(file: privateKey, format: .pem)
            return .makeServerConfiguration(
                certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        } catch {
            throw ConfigurationError("http.privateKey: \(privateKey) is no readable PEM file with a private key.")
        }
    }
}
