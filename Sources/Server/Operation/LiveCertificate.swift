import NIOCore
import NIOSSL
import Synchronization

/// The certificate chain and key of an HTTPS port, read from files and checked to match.
struct CertificateFiles: Sendable {
    /// The settings that name the two files.
    struct Port: Sendable {
        let certificate: any KeyPath<SettingsTable, Setting<String>> & Sendable
        let privateKey: any KeyPath<SettingsTable, Setting<String>> & Sendable

        static let api = Self(certificate: \.http.certificate, privateKey: \.http.privateKey)
        static let admin = Self(certificate: \.admin.certificate, privateKey: \.admin.privateKey)

        var keys: [String] { [SettingsTable.key(of: certificate), SettingsTable.key(of: privateKey)] }
    }

    let chain: [NIOSSLCertificate]
    let key: NIOSSLPrivateKey

    /// Nil if neither is configured.
    init?(_ configuration: ServerConfiguration, of port: Port) throws {
        let certificate = configuration[port.certificate]
        let privateKey = configuration[port.privateKey]
        let (certificateSetting, keySetting) = (
            SettingsTable.key(of: port.certificate), SettingsTable.key(of: port.privateKey)
        )
        if certificate.isEmpty, privateKey.isEmpty { return nil }
        guard !certificate.isEmpty, !privateKey.isEmpty else {
            throw ConfigurationError("\(certificateSetting) and \(keySetting) go together: set both, or neither.")
        }
        do {
            chain = try NIOSSLCertificate.fromPEMFile(certificate)
        } catch {
            throw ConfigurationError(
                "\(certificateSetting): \(certificate) is not a readable PEM file with certificates.")
        }
        do {
            key = try NIOSSLPrivateKey(file: privateKey, format: .pem)
        } catch {
            throw ConfigurationError("\(keySetting): \(privateKey) is not a readable PEM file with a private key.")
        }
        do {
            _ = try NIOSSLContext(configuration: tls)
        } catch {
            throw ConfigurationError(
                "\(keySetting): \(privateKey) is not the key of the certificate in \(certificate).")
        }
    }

    var tls: TLSConfiguration {
        .makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
    }
}

/// The certificate of new connections. A reload replaces it; existing connections are not affected.
final class LiveCertificate: Sendable {
    private let files: Mutex<CertificateFiles>

    init(_ files: CertificateFiles) { self.files = Mutex(files) }

    func adopt(_ files: CertificateFiles) { self.files.withLock { $0 = files } }

    /// Looks the certificate up at each handshake.
    var tls: TLSConfiguration {
        var tls = files.withLock { $0 }.tls
        tls.sslContextCallback = { [self] _, promise in
            let files = files.withLock { $0 }
            var change = NIOSSLContextConfigurationOverride()
            change.certificateChain = files.chain.map { .certificate($0) }
            change.privateKey = .privateKey(files.key)
            promise.succeed(change)
        }
        return tls
    }
}
