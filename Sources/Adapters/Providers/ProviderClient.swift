internal import AsyncHTTPClient
internal import Foundation
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL

/// HTTP requests to providers, which are not trusted: no redirect is followed, the size of the response is limited, and
/// the whole exchange has a deadline.
package final class ProviderClient: Sendable {
    package struct Response: Sendable {
        package var status: Int
        package var body: [UInt8]
        /// When the service accepts requests again, as `RetryTime` reads it.
        package var retryAfter: Duration?
    }

    /// What happens to a response that is larger than allowed.
    package enum Excess: Sendable {
        /// A successful response fails; of any other, 64 KiB are read.
        case rejected
        /// The status counts, the rest is not read.
        case dropped
    }

    /// The maximum length of an error message.
    package static let maxReasonLength = 200
    private static let maxErrorBodySize = 64 << 10

    package enum Version: Sendable {
        /// Up to 64 connections to a host.
        case http1
        /// One connection to a host, which is kept while it is used. Where TLS does not agree on HTTP/2, it is one of HTTP/1.
        case http2
    }

    private let client: HTTPClient

    /// Whether a file has certificates of authorities in PEM.
    package static func hasAuthorities(_ path: String) -> Bool {
        (try? NIOSSLCertificate.fromPEMFile(path))?.isEmpty == false
    }

    /// - Parameter authorities: a PEM file of authorities that are trusted beside the system's.
    package init(_ version: Version = .http1, authorities: String? = nil) {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.timeout.connect = .seconds(10)
        // A refused connection fails at once: the queue decides about retries.
        configuration.connectionPool.retryConnectionEstablishment = false
        switch version {
        case .http1:
            configuration.httpVersion = .http1Only
            configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 64
        case .http2:
            configuration.httpVersion = .automatic
            // Until the version is known, the pool opens as many as of HTTP/1.
            configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 1
            // Between here and there connections that are idle are forgotten without a word, after two minutes and more:
            // the next request would wait for its deadline.
            configuration.connectionPool.idleTimeout = .seconds(60)
        }
        if let authorities {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.additionalTrustRoots = [.file(authorities)]
            configuration.tlsConfiguration = tls
        }
        client = HTTPClient(eventLoopGroup: MultiThreadedEventLoopGroup.singleton, configuration: configuration)
    }

    deinit { client.shutdown { _ in } }

    package func post(
        _ body: [UInt8], to url: String, headers: [(String, String)], maxResponseSize: Int,
        excess: Excess = .rejected, deadline: ContinuousClock.Instant
    ) async throws(ProviderFailure) -> Response {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.body = .bytes(ByteBuffer(bytes: body))
        return try await send(request, headers, maxResponseSize, excess, deadline)
    }

    package func get(
        _ url: String, headers: [(String, String)], maxResponseSize: Int, deadline: ContinuousClock.Instant
    ) async throws(ProviderFailure) -> Response {
        try await send(HTTPClientRequest(url: url), headers, maxResponseSize, .rejected, deadline)
    }

    /// As `post`, of a successful response whose body is read while it comes.
    ///
    /// - Parameters:
    ///   - idle: the longest that a response may say nothing.
    ///   - read: takes each part of the body. Throwing ends the exchange.
    /// - Returns: the response; of a successful one without its body.
    package func post(
        _ body: [UInt8], to url: String, headers: [(String, String)], maxResponseSize: Int, idle: Duration,
        deadline: ContinuousClock.Instant, read: @escaping @Sendable ([UInt8]) throws -> Void
    ) async throws(ProviderFailure) -> Response {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.body = .bytes(ByteBuffer(bytes: body))
        let prepared = Self.prepared(request, headers)
        return try await Deadline.race(deadline) { () async throws(ProviderFailure) in
            try await self.exchange(prepared, maxResponseSize, idle, read)
        }
    }

    private static func prepared(_ request: HTTPClientRequest, _ headers: [(String, String)]) -> HTTPClientRequest {
        var request = request
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        request.headers.replaceOrAdd(name: "User-Agent", value: "Switchboard")
        return request
    }

    private func send(
        _ request: HTTPClientRequest, _ headers: [(String, String)], _ maxResponseSize: Int, _ excess: Excess,
        _ deadline: ContinuousClock.Instant
    ) async throws(ProviderFailure) -> Response {
        let prepared = Self.prepared(request, headers)
        // The closure holds this object, whose end would cancel the request.
        return try await Deadline.race(deadline) { () async throws(ProviderFailure) in
            try await self.exchange(prepared, maxResponseSize, excess)
        }
    }

    private func exchange(
        _ request: HTTPClientRequest, _ maxResponseSize: Int, _ excess: Excess
    ) async throws(ProviderFailure) -> Response {
        do {
            // `Deadline.race` enforces the deadline; this timeout only has to be later.
            let response = try await client.execute(request, timeout: .hours(24))
            let isSuccess = (200..<300).contains(response.status.code)
            var body: [UInt8] = []
            // The beginning of an error response is enough.
            let limit = isSuccess || excess == .dropped ? maxResponseSize : Self.maxErrorBodySize
            for try await part in response.body {
                guard part.readableBytes <= limit - body.count else {
                    if isSuccess, excess == .rejected { throw ProviderFailure.responseTooLarge(limit: limit) }
                    body += part.readableBytesView.prefix(limit - body.count)
                    // Leaving the loop closes the connection.
                    break
                }
                body += part.readableBytesView
            }
            return Response(
                status: Int(response.status.code), body: body,
                retryAfter: RetryTime.read { response.headers.first(name: $0) })
        } catch {
            throw Self.failure(error)
        }
    }

    private func exchange(
        _ request: HTTPClientRequest, _ maxResponseSize: Int, _ idle: Duration,
        _ read: @Sendable ([UInt8]) throws -> Void
    ) async throws(ProviderFailure) -> Response {
        do {
            let response = try await client.execute(request, timeout: .hours(24))
            let isSuccess = (200..<300).contains(response.status.code)
            var (body, count): ([UInt8], Int) = ([], 0)
            let parts = BodyParts(response.body)
            while let part = try await parts.next(within: idle) {
                count += part.readableBytes
                if isSuccess {
                    guard count <= maxResponseSize else {
                        throw ProviderFailure.responseTooLarge(limit: maxResponseSize)
                    }
                    try read(Array(part.readableBytesView))
                } else {
                    body += part.readableBytesView.prefix(max(0, Self.maxErrorBodySize - body.count))
                    if body.count == Self.maxErrorBodySize { break }
                }
            }
            return Response(
                status: Int(response.status.code), body: body,
                retryAfter: RetryTime.read { response.headers.first(name: $0) })
        } catch {
            throw Self.failure(error)
        }
    }

    private static func failure(_ error: any Error) -> ProviderFailure {
        switch error {
        case let failure as ProviderFailure: failure
        case is CancellationError: .cancelled
        case let error as HTTPClientError where error == .cancelled: .cancelled
        case let error as HTTPClientError where isTimeout(error): .unreachable("it did not respond")
        default: .unreachable(message(for: error))
        }
    }

    private static func isTimeout(_ error: HTTPClientError) -> Bool {
        [.connectTimeout, .readTimeout, .writeTimeout, .tlsHandshakeTimeout, .deadlineExceeded].contains(error)
    }

    private static func message(for error: any Error) -> String {
        switch error {
        case is NIOConnectionError, is IOError: "the connection was refused or lost"
        case let error as HTTPClientError where error == .remoteConnectionClosed: "it closed the connection"
        // Its own text names files of the machine on which this was built.
        case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError:
            "\(error)".contains("CERTIFICATE_VERIFY_FAILED")
                ? "its certificate is not trusted" : "TLS could not be agreed on"
        default: String("\(error)".prefix(maxReasonLength))
        }
    }

    /// The parts of a body, each within a time.
    private actor BodyParts {
        private var iterator: HTTPClientResponse.Body.AsyncIterator

        init(_ body: HTTPClientResponse.Body) { iterator = body.makeAsyncIterator() }

        private func read() async throws -> ByteBuffer? {
            var iterator = iterator
            defer { self.iterator = iterator }
            return try await iterator.next(isolation: self)
        }

        func next(within time: Duration) async throws(ProviderFailure) -> ByteBuffer? {
            try await Deadline.race(.now + time) { () async throws(ProviderFailure) in
                do { return try await self.read() } catch { throw ProviderClient.failure(error) }
            }
        }
    }

    /// The message of an error response: from JSON as most services write it, otherwise its first characters.
    package static func reason(_ body: [UInt8]) -> String {
        struct ErrorBody: Decodable {
            struct Message: Decodable {
                var message: String

                init(from decoder: any Decoder) throws {
                    struct Object: Decodable { var message: String }
                    if let object = try? Object(from: decoder) {
                        message = object.message
                    } else {
                        message = try decoder.singleValueContainer().decode(String.self)
                    }
                }
            }
            var error: Message?
            /// Beside a code in `error` (RFC 6749 section 5.2).
            var description: String?
            var detail: String?
            var message: String?

            private enum CodingKeys: String, CodingKey {
                case error, detail, message
                case description = "error_description"
            }

            var text: String? {
                guard let description else { return error?.message ?? detail ?? message }
                return error.map { "\($0.message): \(description)" } ?? description
            }
        }
        let errorBody = try? JSONDecoder().decode(ErrorBody.self, from: Data(body))
        let text =
            errorBody?.text
            ?? String(decoding: body.prefix(4 * maxReasonLength), as: UTF8.self)
        return String(SingleLine.normalized(text).prefix(maxReasonLength))
    }
}
