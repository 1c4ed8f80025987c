import Foundation
import TestSupport
import Testing

@testable import OpenSSLCrypto

@Suite("Certificates of servers")
struct ServerCertificateTests {
    @Test("a chain and its key are read, with the day on which they end")
    func good() throws {
        let files = try TestCertificate.make(days: 30)
        let certificate = try ServerCertificate(chainFile: files.certificate, keyFile: files.key)
        let now = Int64(Date().timeIntervalSince1970)
        #expect(abs(certificate.expiresAt - now - 30 * 86_400) < 600)
        #expect(certificate.warning(at: now) == nil)
        #expect(certificate.covers("localhost") && certificate.covers("127.0.0.1"))
        #expect(!certificate.covers("example.org") && !certificate.covers("127.0.0.2") && !certificate.covers(""))
        #expect(certificate.warning(at: now + 20 * 86_400 + 43_200)?.contains("expires in 9 days") == true)
        #expect(certificate.warning(at: now + 31 * 86_400)?.contains("has expired") == true)
    }

    @Test("unusable files are rejected with an error that names the file")
    func broken() throws {
        let files = try TestCertificate.make()
        let others = try TestCertificate.make()
        func rejection(_ chain: String, _ key: String) -> String {
            do {
                _ = try ServerCertificate(chainFile: chain, keyFile: key)
                return "accepted"
            } catch { return error.description }
        }
        #expect(rejection("/nowhere/chain.pem", files.key).contains("/nowhere/chain.pem cannot be read: No such file"))
        #expect(rejection(files.certificate, "/nowhere/key.pem").contains("/nowhere/key.pem cannot be read"))
        #expect(rejection(files.key, files.key).contains("\(files.key) holds no certificate"))
        #expect(rejection(files.certificate, files.certificate).contains("holds no private key"))
        #expect(rejection(files.certificate, others.key).contains("does not belong to the certificate"))
        let locked = try TestCertificate.make(keyPassphrase: "secret")
        #expect(rejection(locked.certificate, locked.key).contains("has a passphrase"))
        let weak = try TestCertificate.make(algorithm: "rsa:512")
        #expect(rejection(weak.certificate, weak.key).contains("OpenSSL refuses the certificate"))
    }
}
