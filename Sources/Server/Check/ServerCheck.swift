import DatagramIO
import Foundation
import Model
import Storage
import Wire

/// `switchboard check`: tries what the configuration promises, part by part, against the running server.
package struct ServerCheck: Sendable {
    /// What the command line may add.
    package struct Options: Sendable {
        /// The YAML file of the configuration, to be named.
        package var file: String?
        /// Where clients reach the API, through a proxy.
        package var url: String?
        /// The only address to test, from another machine.
        package var address: String?
        /// The host name that clients use, for certificates.
        package var name: String?
        /// A PEM file of authorities to trust beside the system's.
        package var authorities: String?
        /// A STUN server elsewhere, as `host:port`, that reports this machine's public address.
        package var stun: String?

        package init() {}
    }

    private let configuration: ServerConfiguration
    private let options: Options
    private let address: IPAddress?
    private let url: WebAddress?

    /// Throws if an option is not valid.
    package init(_ configuration: ServerConfiguration, _ options: Options) throws {
        self.configuration = configuration
        self.options = options
        address = try options.address.map { text in
            guard let address = IPAddress(text) else {
                throw ConfigurationError("--address \(text) is not an IP address.")
            }
            return address
        }
        url = try options.url.map { text in
            guard let url = WebAddress(text) else {
                throw ConfigurationError(
                    "--url \(text) is not an http or https URL, such as https://calls.example.org.")
            }
            return url
        }
    }

    /// Prints a line for each check and then the sum, or one JSON document. Returns false if something fails.
    package func run(isJSON: Bool, print: (String) -> Void) async -> Bool {
        let server = await RunningServer.find(configuration, isRemote: address != nil)
        let report = await CheckReport.run(probes(server), clock: { SystemClock.now().nanoseconds }) { entry in
            if !isJSON { print(entry.line) }
        }
        if isJSON {
            print(report.json(version: ServerVersion.text))
        } else {
            for line in report.summary { print(line) }
        }
        return report.isGood
    }

    /// In the order in which they run.
    func probes(_ server: RunningServer) -> [CheckProbe] {
        [configurationProbe, serverProbe(server)] + webProbes(server) + [gatewayProbe(server)] + relayProbes(server)
            + [
                keyProbe(server), webhookProbe(server), pushProbe(server), translationProbe(server),
                meaningProbe(server),
                explanationProbe(server), transcriptionProbe(server), storageProbe,
            ]
    }

    // MARK: The configuration and the server

    private var configurationProbe: CheckProbe {
        let file = options.file ?? "no file, only defaults, options and the environment"
        var parts = [
            configuration[\.http.certificate].isEmpty ? "HTTP" : "HTTPS", "relay over UDP and TCP", "gateway",
        ]
        let hasTLS = !configuration[\.relay.certificate].isEmpty || !configuration[\.http.certificate].isEmpty
        if hasTLS { parts[1] = "relay over UDP, TCP, TLS and DTLS" }
        if configuration[\.transcription.provider] != .none { parts.append("transcription") }
        return CheckProbe(.configuration, "Configuration", .passed("\(file): \(parts.joined(separator: ", "))"))
    }

    private func serverProbe(_ server: RunningServer) -> CheckProbe {
        CheckProbe(.server, "Server") {
            switch server.state {
            case .running(let roles):
                let names = ServerRole.allCases.filter(roles.contains).map(\.rawValue)
                return .passed(
                    "it runs with the roles \(names.joined(separator: ", "))",
                    warnings: await server.systemWarnings())
            case .absent(let problem): return .failed(problem)
            case .remote: return .skipped("--address tests another machine")
            }
        }
    }

    // MARK: HTTP and realtime

    /// Where the API is: at --url, at --address, or at http.host and http.port on this machine. Nil if it cannot be
    /// known.
    var webAddress: WebAddress? {
        if let url { return url }
        let port = configuration[\.http.port]
        guard port > 0 else { return nil }
        let host = configuration[\.http.host]
        let shown = host == "0.0.0.0" ? "127.0.0.1" : host == "::" ? "::1" : host
        return WebAddress(
            isSecure: !configuration[\.http.certificate].isEmpty, host: address.map { "\($0)" } ?? shown,
            port: UInt16(clamping: port))
    }

    private func webProbes(_ server: RunningServer) -> [CheckProbe] {
        func all(_ outcome: CheckOutcome) -> [CheckProbe] {
            [(CheckSubject.http, "HTTP"), (.certificate, "Certificate"), (.realtime, "Realtime")]
                .map { CheckProbe($0, $1, outcome) }
        }
        guard !server.lacks(.api) else { return all(.notConfigured("the server runs without the role api")) }
        guard let target = webAddress else {
            return all(.skipped("http.port is 0, which is any free port: name the API's address with --url"))
        }
        let host = configuration[\.http.host]
        if address != nil, url == nil, host == "localhost" || IPAddress(host)?.isLoopback == true {
            return all(
                .skipped("http.host is \(host), which other machines do not reach: name the proxy with --url"))
        }
        let messages = WebMessages(address: target, isPublic: url != nil)
        // --url has the name that clients use, --name is then the relay's. http.host is mostly an address.
        let name = url?.host ?? options.name
        let http = HTTPProbe(address: target, messages: messages, name: name, authorities: options.authorities)
        return [
            CheckProbe(.http, "HTTP \(target)") { http.run() },
            certificateProbe(target, messages, name),
        ] + realtimeProbes(target, messages, name, server)
    }

    private func certificateProbe(_ target: WebAddress, _ messages: WebMessages, _ name: String?) -> CheckProbe {
        guard target.isSecure else {
            return CheckProbe(
                .certificate, "Certificate",
                .notConfigured(
                    url == nil
                        ? "http.certificate is empty, so that the port speaks HTTP" : "--url begins with http://"))
        }
        let probe = CertificateProbe(
            address: target, messages: messages, name: name, authorities: options.authorities,
            renewal: configuration[\.http.certificate].isEmpty ? "Renew it in the proxy." : CheckMessages.reload)
        return CheckProbe(.certificate, "Certificate \(target)", needs: [.http]) { probe.run() }
    }

    private func realtimeProbes(
        _ target: WebAddress, _ messages: WebMessages, _ name: String?, _ server: RunningServer
    ) -> [CheckProbe] {
        let probe = RealtimeProbe(
            address: target, messages: messages, name: name, authorities: options.authorities
        ) { () async throws(CheckProblem) -> String? in
            server.isRunning ? try await server.ask(.helloToken) : nil
        }
        return [
            CheckProbe(.realtime, "WebSocket \(target)/v1/realtime", needs: [.http]) { await probe.runWebSocket() },
            CheckProbe(.realtime, "Events \(target)/v1/realtime/sse", needs: [.http]) { await probe.runEvents() },
        ]
    }

    // MARK: Media

    private func gatewayProbe(_ server: RunningServer) -> CheckProbe {
        if server.lacks(.gateway) {
            return CheckProbe(.gateway, "Gateway", .notConfigured("the server runs without the role gateway"))
        }
        if case .remote = server.state {
            return CheckProbe(
                .gateway, "Gateway", .skipped("it is tried on the server's own machine, without --address"))
        }
        let probe = GatewayProbe(server: server)
        return CheckProbe(.gateway, "Gateway", needs: [.server]) { await probe.run() }
    }

    private func relayProbes(_ server: RunningServer) -> [CheckProbe] {
        guard !server.lacks(.relay) else {
            return [CheckProbe(.relay, "Relay", .notConfigured("the server runs without the role relay"))]
        }
        do {
            let relay = try RelayCheck(configuration, options, address: address)
            var probes = relay.probes
            if let stun = options.stun {
                let probe = CheckProbe(.externalAddress, "STUN \(stun)") {
                    relay.compareExternalAddress(withServer: stun)
                }
                probes.append(probe)
            }
            return probes
        } catch {
            let problem = CheckProblem(
                "its settings cannot be used: \(error)", remedy: "Correct the setting that is named.")
            return [CheckProbe(.relay, "Relay", .failed(problem))]
        }
    }

    // MARK: Keys and disk

    private func keyProbe(_ server: RunningServer) -> CheckProbe {
        if case .remote = server.state {
            return CheckProbe(.keys, "Keys", .skipped("they are those of the server's own machine"))
        }
        if server.lacks(.api) {
            return CheckProbe(.keys, "Keys", .notConfigured("the server runs without the role api"))
        }
        let probe = KeyProbe(server: server, clock: Timestamp.systemClock)
        return CheckProbe(.keys, "Keys", needs: [.server]) { await probe.run() }
    }

    private func webhookProbe(_ server: RunningServer) -> CheckProbe {
        if case .remote = server.state {
            return CheckProbe(.webhooks, "Webhooks", .skipped("they are those of the server's own machine"))
        }
        if server.lacks(.api) {
            return CheckProbe(.webhooks, "Webhooks", .notConfigured("the server runs without the role api"))
        }
        return CheckProbe(.webhooks, "Webhooks", needs: [.server]) { await WebhookProbe(server: server).run() }
    }

    private func pushProbe(_ server: RunningServer) -> CheckProbe {
        if case .remote = server.state {
            return CheckProbe(.push, "Pushes", .skipped("they are those of the server's own machine"))
        }
        if server.lacks(.api) {
            return CheckProbe(.push, "Pushes", .notConfigured("the server runs without the role api"))
        }
        let browsers = WebPushProbe.address(configuration[\.push.web.checkURL])
        return CheckProbe(.push, "Pushes", needs: [.server]) { [browsers] in
            await PushProbe(server: server, browsers: browsers).run()
        }
    }

    private func explanationProbe(_ server: RunningServer) -> CheckProbe {
        engineProbe(.explanation, "Explanation", .explanation(server))
    }

    private func transcriptionProbe(_ server: RunningServer) -> CheckProbe {
        engineProbe(.transcription, "Transcription", .transcription(server))
    }

    private func translationProbe(_ server: RunningServer) -> CheckProbe {
        engineProbe(.translation, "Translation", .translation(server))
    }

    private func meaningProbe(_ server: RunningServer) -> CheckProbe {
        engineProbe(.meaning, "Search by meaning", .meaning(server))
    }

    private func engineProbe(_ subject: CheckSubject, _ name: String, _ probe: EngineProbe) -> CheckProbe {
        if case .remote = probe.server.state {
            return CheckProbe(subject, name, .skipped("it is tried by the server's own machine"))
        }
        if probe.server.lacks(.api) {
            return CheckProbe(subject, name, .notConfigured("the server runs without the role api"))
        }
        return CheckProbe(subject, name, needs: [.server]) { await probe.run() }
    }

    private var storageProbe: CheckProbe {
        guard address == nil else {
            return CheckProbe(.storage, "Disk", .skipped("it is that of the server's own machine"))
        }
        let probe = StorageProbe(
            directory: configuration[\.storage.path], minFreeBytes: Int64(configuration[\.media.minFreeBytes]))
        return CheckProbe(.storage, "Disk") { probe.run() }
    }
}
