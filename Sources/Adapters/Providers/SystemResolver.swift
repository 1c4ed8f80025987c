internal import Glibc
internal import NIOPosix
internal import Synchronization

/// Resolves host names with the system's resolver.
///
/// getaddrinfo(3) cannot be interrupted: it runs on a thread pool of its own, so that names whose servers do not respond
/// hold up neither files nor, until there are 32 of them, other names. Its result is dropped when nobody waits any more.
package final class SystemResolver: Sendable {
    private enum State {
        case fresh
        case waiting(CheckedContinuation<[String]?, Never>)
        case done([String]?)
    }

    private static let threads: NIOThreadPool = {
        let threads = NIOThreadPool(numberOfThreads: 32)
        threads.start()
        return threads
    }()

    private let state = Mutex(State.fresh)

    package static func addresses(of host: String) async throws(ProviderFailure) -> [String] {
        let resolver = SystemResolver()
        let found = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                resolver.wait(continuation)
                threads.submit { state in
                    if case .active = state { resolver.finish(lookUp(host)) } else { resolver.finish(nil) }
                }
            }
        } onCancel: {
            resolver.finish(nil)
        }
        guard let found else { throw .cancelled }
        return found
    }

    private func wait(_ continuation: CheckedContinuation<[String]?, Never>) {
        let done: [String]?? = state.withLock { state in
            guard case .done(let found) = state else {
                state = .waiting(continuation)
                return nil
            }
            return found
        }
        if let done { continuation.resume(returning: done) }
    }

    private func finish(_ found: [String]?) {
        let waiting = state.withLock { state -> CheckedContinuation<[String]?, Never>? in
            switch state {
            case .done: return nil
            case .fresh:
                state = .done(found)
                return nil
            case .waiting(let continuation):
                state = .done(found)
                return continuation
            }
        }
        waiting?.resume(returning: found)
    }

    private static func lookUp(_ host: String) -> [String] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var first: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, nil, &hints, &first) == 0 else { return [] }
        defer { freeaddrinfo(first) }
        var found: [String] = []
        var next = first
        while let entry = next {
            next = entry.pointee.ai_next
            var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            let status = getnameinfo(
                entry.pointee.ai_addr, entry.pointee.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
            guard status == 0 else { continue }
            found.append(String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
        }
        return found
    }
}
