/// The server that owns the data directory, as `switchboard check` finds it through the control socket.
struct RunningServer: Sendable {
    enum State: Hashable, Sendable {
        case running(Set<ServerRole>)
        /// No server can be asked, with the reason.
        case absent(CheckProblem)
        /// The check runs on another machine.
        case remote
    }

    let state: State
    /// Sends a request; nil if no server listens.
    let send: @Sendable (ControlRequest) async throws -> ControlResponse?

    /// - Parameter isRemote: whether the data directory is on another machine.
    static func find(_ configuration: ServerConfiguration, isRemote: Bool) async -> RunningServer {
        let path = configuration[\.storage.path] + "/control.sock"
        return await find(isRemote: isRemote, path: path) { try await ControlClient.send($0, at: path) }
    }

    static func find(
        isRemote: Bool, path: String, send: @escaping @Sendable (ControlRequest) async throws -> ControlResponse?
    ) async -> RunningServer {
        guard !isRemote else { return RunningServer(state: .remote, send: send) }
        guard let response = (try? await send(.check(.roles))) ?? nil else {
            let problem = CheckProblem(
                "no server listens on \(path)",
                remedy: "Start it with `switchboard serve`, correct storage.path, or run this as the server's user.")
            return RunningServer(state: .absent(problem), send: send)
        }
        guard response.error == nil else {
            let problem = CheckProblem(
                "the server does not know this program's requests", remedy: "Restart it: it is of another version.")
            return RunningServer(state: .absent(problem), send: send)
        }
        return RunningServer(state: .running(Set(response.lines.compactMap(ServerRole.init(rawValue:)))), send: send)
    }

    /// Whether the server certainly runs without a role.
    func lacks(_ role: ServerRole) -> Bool {
        if case .running(let roles) = state { !roles.contains(role) } else { false }
    }

    /// Whether it can be asked.
    var isRunning: Bool { if case .running = state { true } else { false } }

    /// The first line of the response.
    func ask(_ request: CheckRequest) async throws(CheckProblem) -> String {
        let response: ControlResponse?
        do {
            response = try await send(.check(request))
        } catch {
            throw CheckProblem("the control socket fails: \(error)", remedy: "Look at the server's log.")
        }
        guard let response else {
            throw CheckProblem("the server has stopped meanwhile", remedy: "Start it, and look at its log.")
        }
        if let error = response.error {
            throw CheckProblem("the server refuses the check's request (\(error))", remedy: "Look at its log.")
        }
        return response.lines.first ?? ""
    }

    /// Limits of the operating system that are too low for it.
    func systemWarnings() async -> [String] {
        guard isRunning else { return [] }
        return ((try? await send(.systemWarnings)) ?? nil)?.lines ?? []
    }
}
