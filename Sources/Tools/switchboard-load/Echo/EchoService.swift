import SwitchboardClient

/// The user who answers: signed in as long as the program runs, and several calls at once.
actor EchoService {
    private static let retryDelay = Duration.seconds(2)
    private static let stopTimeout = Duration.seconds(3)

    private let client: Switchboard
    private let address: String
    private let account: EchoAccount
    private let limit: Int
    private let addresses: EchoAddresses
    private let worker: EchoWorker
    private let report: @Sendable (EchoEvent) -> Void
    private var calls: [CallID: (call: EchoCall, task: Task<Void, Never>)] = [:]
    private var stopping: Task<Void, Never>?

    /// - Parameters:
    ///   - address: the server's.
    ///   - limit: the maximum number of calls at once.
    init(
        _ address: String, _ account: EchoAccount, limit: Int, _ addresses: EchoAddresses,
        report: @escaping @Sendable (EchoEvent) -> Void
    ) throws {
        client = try Switchboard(address)
        worker = try EchoWorker()
        self.address = address
        self.account = account
        self.limit = limit
        self.addresses = addresses
        self.report = report
    }

    private var isStopping: Bool { stopping != nil }

    /// Answers calls until `stop`. Throws if the first sign-in fails; later ones are repeated.
    func run() async throws {
        defer { worker.stop() }
        var isFirst = true
        while !isStopping {
            do {
                try await answerCalls(isFirst: isFirst)
                if !isStopping { report(.signedOut("the server no longer accepts the sign-in")) }
            } catch {
                guard !isStopping else { break }
                guard !isFirst else { throw error }
                report(.signedOut("\(error)"))
            }
            isFirst = false
            if !isStopping { try? await Task.sleep(for: Self.retryDelay) }
        }
        await stopping?.value
        for call in calls.values { await call.task.value }
    }

    /// Signs in, and answers calls until the sign-in has ended.
    private func answerCalls(isFirst: Bool) async throws {
        let me = try await account.signIn(client, isFirst: isFirst)
        guard !isStopping else { return }
        if limit > 1, !me.callWaiting { try await client.changeProfile(ProfileChange(callWaiting: true)) }
        let incoming = await client.incomingCalls
        // The first request returns when the connection is open.
        _ = try await client.me()
        let changes = await client.connectionChanges
        report(.ready(name: me.displayName, user: me.id.rawValue, server: address))
        let watching = Task { await watch(changes) }
        defer { watching.cancel() }
        for await call in incoming { answer(call, me.id) }
    }

    private func watch(_ changes: AsyncStream<Bool>) async {
        var wasConnected = true
        for await isConnected in changes where isConnected != wasConnected && !isStopping {
            wasConnected = isConnected
            report(isConnected ? .connected : .disconnected)
        }
    }

    private func answer(_ call: LiveCall, _ user: UserID) {
        guard !isStopping, calls[call.id] == nil else { return }
        guard calls.count < limit else {
            report(.declined(call: call.id.rawValue, limit: limit))
            Task { _ = try? await call.decline() }
            return
        }
        let answered = EchoCall(call, user, addresses, worker, report: report)
        let task = Task {
            await answered.run()
            calls[call.id] = nil
        }
        calls[call.id] = (answered, task)
    }

    /// Hangs up every call and signs out, for at most a few seconds; `run` then returns.
    func stop() async {
        guard stopping == nil else { return }
        report(.stopping(calls: calls.count))
        let (open, client) = (calls.values.map(\.call), client)
        let task = Task {
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    await withTaskGroup(of: Void.self) { calls in
                        for call in open { calls.addTask { await call.hangUp() } }
                    }
                    _ = try? await client.signOut()
                }
                group.addTask { try? await Task.sleep(for: Self.stopTimeout) }
                await group.next()
                group.cancelAll()
            }
            await client.close()
        }
        stopping = task
        await task.value
    }
}
