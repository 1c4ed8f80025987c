/// A self-signed certificate for `localhost` in files of its own, made by the openssl command.
package struct TestCertificate: Sendable {
    package let certificate: String
    package let key: String

    package static func make(
        days: Int = 30, algorithm: String = "ec:P-256", keyPassphrase: String? = nil
    ) throws -> TestCertificate {
        let directory = try ScratchDirectory()
        let made = TestCertificate(certificate: directory.file("certificate.pem"), key: directory.file("key.pem"))
        let key =
            algorithm.hasPrefix("ec:")
            ? ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:" + algorithm.dropFirst(3)] : ["-newkey", algorithm]
        let passphrase = keyPassphrase.map { ["-passout", "pass:" + $0] } ?? ["-nodes"]
        let files = ["-days", "\(days)", "-out", made.certificate, "-keyout", made.key]
        try Program.run(
            "openssl",
            ["req", "-x509", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"] + key
                + passphrase + files)
        return made
    }
}
