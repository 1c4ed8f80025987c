internal import AsyncHTTPClient
internal import Foundation
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix

/// HTTP requests to providers, which are not trusted: no redirect is followed, the size of the response is limited, and
/// the whole exchange has a deadline.
package final class ProviderClient: Sendable {
    package struct Response: Sendable {
        package var status: Int
        package var body: [UInt8]
        /// From `Retry-After` in seconds, at most a day.
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

    private let client: HTTPClient

    /// - Parameter addresses: the addresses of host names, instead of the resolver's.
    package init(addresses: [String: String] = [:]) {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.httpVersion = .http1Only
        configuration.timeout.connect = .seconds(10)
        // A refused connection fails at once: the queue decides about retries.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 64
        configuration.dnsOverride = addresses
        client = HTTPClient(eventLoopGroup: MultiThreadedEventLoopGroup.singleton, configuration: configuration)
    }

    deinit { client.shutdown { _ in } }

    package func post(
        _ body: [UInt8], to url: String, headers: [(String, String)], maxResponseSize: Int,
        excess: Excess = .rejected, deadline: ContinuousClock.Instant
    ) async throws(ProviderFailure) -> Response {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        request.headers.replaceOrAdd(name: "User-Agent", value: "Switchboard")
        request.body = .bytes(ByteBuffer(bytes: body))
        let prepared = request
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
            let retryAfter = response.headers.first(name: "Retry-After").flatMap { Int64($0) }
            return Response(
                status: Int(response.status.code), body: body,
                retryAfter: retryAfter.flatMap { (0...86_400).contains($0) ? .seconds($0) : nil })
        } catch let failure as ProviderFailure {
            throw failure
        } catch is CancellationError {
            throw .cancelled
        } catch let error as HTTPClientError where error == .cancelled {
            throw .cancelled
        } catch let error as HTTPClientError where Self.isTimeout(error) {
            throw .unreachable("it did not respond")
        } catch {
            throw .unreachable(Self.message(for: error))
        }
    }

    private static func isTimeout(_ error: HTTPClientError) -> Bool {
        [.connectTimeout, .readTimeout, .writeTimeout, .tlsHandshakeTimeout, .deadlineExceeded].contains(error)
    }

    private static func message(for error: any Error) -> String {
        switch error {
        case is NIOConnectionError, is IOError: "the connection was refused or lost"
        case let error as HTTPClientError where error == .remoteConnectionClosed: "it closed the connection"
        default: String("\(error)".prefix(maxReasonLength))
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
            var detail: String?
            var message: String?
        }
        let errorBody = try? JSONDecoder().decode(ErrorBody.self, from: Data(body))
        let text =
            errorBody.flatMap { $0.error?.message ?? $0.detail ?? $0.message }
            ?? String(decoding: body.prefix(4 * maxReasonLength), as: UTF8.self)
        return String(SingleLine.normalized(text).prefix(maxReasonLength))
    }
}
