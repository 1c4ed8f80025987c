/// Tests the API's port: that it lives, is ready, and is a Switchboard's.
struct HTTPProbe: Sendable {
    let address: WebAddress
    let messages: WebMessages
    let name: String?
    let authorities: String?

    func run() -> CheckOutcome {
        do throws(WebConnection.Failure) {
            let life = try get("/livez")
            guard life.status == 200 else { return .failed(messages.problem(life, of: "/livez")) }
            let readiness = try get("/readyz")
            guard readiness.status == 200 else {
                guard readiness.status == 503 else { return .failed(messages.problem(readiness, of: "/readyz")) }
                return .failed(
                    CheckProblem(
                        "the server is not ready (503), since it is draining",
                        remedy: "`switchboard drain --off` ends that; after SIGTERM, start the server again."))
            }
            let server = try get("/v1/server")
            guard server.status == 200 else { return .failed(messages.problem(server, of: "/v1/server")) }
            guard let document = server.object, document["name"] as? String == "Switchboard",
                let version = document["version"] as? String
            else {
                return .failed(
                    CheckProblem(
                        "/v1/server is not the document of a Switchboard",
                        remedy: "Another program listens on TCP port \(address.port), or the proxy leads to one."))
            }
            return .passed("version \(version), alive and ready", warnings: warnings(version))
        } catch {
            return .failed(messages.problem(error))
        }
    }

    private func warnings(_ version: String) -> [String] {
        version == ServerVersion.text
            ? []
            : ["The server's version is \(version), and this program's is \(ServerVersion.text): restart the server."]
    }

    private func get(_ path: String) throws(WebConnection.Failure) -> WebResponse {
        var connection = try WebConnection.open(address, name: name, authorities: authorities)
        return try connection.get(path, at: address)
    }
}
