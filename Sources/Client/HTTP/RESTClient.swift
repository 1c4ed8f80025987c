import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import NIOSSL

/// The REST client, for routes without a realtime request and those that must work without a connection.
final class RESTClient: Sendable {
    static let maxResponseBytes = 4 << 20
    private static let maxProblemBytes = 64 << 10

    private let address: ServerAddress
    private let http: HTTPClient
    private let timeout: TimeAmount

    init(_ address: ServerAddress, options: SwitchboardOptions, group: any EventLoopGroup) {
        self.address = address
        var configuration = HTTPClient.Configuration(tlsConfiguration: options.tls)
        configuration.timeout.connect = TimeAmount(options.connectTimeout)
        http = HTTPClient(eventLoopGroupProvider: .shared(group), configuration: configuration)
        timeout = TimeAmount(options.requestTimeout)
    }

    func close() async {
        try? await http.shutdown()
    }

    /// Sends a request and decodes its response; `token` is the access token, if the route needs one.
    func request<Result: Decodable>(
        _ method: HTTPMethod, _ route: String, token: String? = nil, body: (some Encodable)? = Nothing?.none
    ) async throws -> Result {
        let response = try await send(method, route, token: token, body: body)
        if response.isEmpty, let nothing = Nothing() as? Result { return nothing }
        return try JSON.decode(Result.self, from: response)
    }

    private func send(
        _ method: HTTPMethod, _ route: String, token: String?, body: (some Encodable)?
    ) async throws -> [UInt8] {
        let text = try body.map { ("application/json", try JSON.encode($0)) }
        return try await exchange(method, route, token: token, body: text, timeout: timeout)
    }

    /// Sends a body of any media type and returns the response body of at most `limit` bytes; throws a problem.
    func exchange(
        _ method: HTTPMethod, _ route: String, token: String?, body: (type: String, bytes: [UInt8])?,
        timeout: TimeAmount, limit: Int = maxResponseBytes
    ) async throws -> [UInt8] {
        var request = HTTPClientRequest(url: address.url(route))
        request.method = method
        request.headers.add(name: "User-Agent", value: SwitchboardVersion.userAgent)
        if let token { request.headers.add(name: "Authorization", value: "Bearer \(token)") }
        if let body {
            request.headers.add(name: "Content-Type", value: body.type)
            request.body = .bytes(body.bytes)
        }
        let status: UInt
        let bytes: [UInt8]
        do {
            let response = try await http.execute(request, timeout: timeout)
            status = response.status.code
            bytes = Array(try await response.body.collect(upTo: max(limit, Self.maxProblemBytes)).readableBytesView)
        } catch is CancellationError {
            throw CancellationError()
        } catch let error as HTTPClientError where error == .deadlineExceeded {
            throw SwitchboardError.timedOut
        } catch let error as HTTPClientError where error == .alreadyShutdown {
            throw SwitchboardError.closed
        } catch {
            throw SwitchboardError.unreachable("\(error)")
        }
        guard (200..<300).contains(status) else {
            guard let problem = try? JSON.decode(Problem.self, from: bytes) else {
                throw SwitchboardError.invalidResponse("status \(status) without a problem document")
            }
            throw SwitchboardError.refused(problem)
        }
        return bytes
    }
}
