import Foundation
import Logging
import NIOCore

// Connections, tokens and time.
extension RealtimeEndpoint {
    func connect(freshToken: Bool) {
        lastConnection += 1
        let number = lastConnection
        let task = Task { [weak self, credentials, address, options, group] in
            do {
                let token = try await credentials.accessToken(fresh: freshToken)
                let socket = try await WebSocketConnection.open(address, options: options, group: group)
                try await socket.withMessages { messages in
                    await self?.opened(number, socket, token)
                    for try await frame in messages {
                        guard let text = socket.text(of: frame) else { continue }
                        await self?.received(Self.parse(text, options.logger), on: number)
                    }
                }
                await self?.lost(number, nil)
            } catch {
                await self?.lost(number, error)
            }
        }
        connection = (number, nil, task)
    }

    static func parse(_ text: [UInt8], _ logger: Logger?) -> ServerFrame {
        do {
            return try ServerFrame(text)
        } catch {
            logger?.warning("a frame could not be parsed", metadata: ["error": "\(error)"])
            return .unknown
        }
    }

    func opened(_ number: Int, _ socket: WebSocketConnection, _ token: Credentials.AccessToken) {
        guard connection?.number == number else { return socket.close() }
        connection?.socket = socket
        tokenSubject = TokenSubject(of: token.text)
        act { $0.opened(token: token.text, lifetime: token.lifetime, at: now, into: &$1) }
    }

    func received(_ frame: ServerFrame, on number: Int) {
        guard connection?.number == number else { return }
        act { $0.receive(frame, at: now, into: &$1) }
    }

    func lost(_ number: Int, _ error: (any Error)?) {
        guard connection?.number == number else { return }
        connection = nil
        options.logger?.debug("not connected", metadata: ["error": "\(error.map { "\($0)" } ?? "closed")"])
        setConnected(false)
        if let error = error as? SwitchboardError, error == .signedOut { return endSession() }
        act { $0.lost(at: now, into: &$1) }
    }

    func disconnect() {
        connection?.socket?.close()
        connection?.task.cancel()
        connection = nil
        setConnected(false)
    }

    func refreshToken() {
        Task { [weak self, credentials] in
            do {
                let token = try await credentials.accessToken(fresh: true)
                await self?.renew(token)
            } catch {
                await self?.renewalFailed(error)
            }
        }
    }

    func renew(_ token: Credentials.AccessToken) {
        act { $0.renew(token: token.text, lifetime: token.lifetime, at: now, into: &$1) }
    }

    /// When the token expires, the server closes the connection, which leads to another attempt.
    func renewalFailed(_ error: any Error) {
        options.logger?.warning("the access token was not renewed", metadata: ["error": "\(error)"])
        if let error = error as? SwitchboardError, error == .signedOut { endSession() }
    }

    /// There are no credentials any more. What is stored of a session that was ended is erased, as when the server says so
    /// over the connection.
    private func endSession() {
        let owner = messaging.owner
        stop(.signedOut)
        Task { [weak self, credentials] in
            if await credentials.wasEnded { await self?.eraseStore(of: owner) }
        }
    }

    func setTimer() {
        guard let deadline = machine.deadline else {
            timer?.task.cancel()
            timer = nil
            return
        }
        if let timer, timer.deadline <= deadline { return }
        timer?.task.cancel()
        let wait = Duration.milliseconds(max(0, deadline - now))
        timer = (
            deadline,
            Task { [weak self, clock] in
                try? await clock.sleep(for: wait)
                if !Task.isCancelled { await self?.timePassed() }
            }
        )
    }

    func timePassed() {
        timer = nil
        act { $0.advance(to: now, into: &$1) }
    }
}

extension Credentials.AccessToken {
    /// The remaining lifetime in milliseconds.
    var lifetime: Int64? {
        expiresAt.map { Int64(max(0, min($0.timeIntervalSinceNow, 1e9)) * 1_000) }
    }
}

extension Duration {
    /// Whole milliseconds, at most some million years.
    var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        return max(-1_000_000_000_000, min(1_000_000_000_000, seconds)) * 1_000 + attoseconds / 1_000_000_000_000_000
    }
}
