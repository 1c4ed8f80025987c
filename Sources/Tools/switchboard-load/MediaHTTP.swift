import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1

/// Requests with JSON in and JSON out, and errors that name the request and what the server said.
struct MediaHTTP: Sendable {
    private static let patience = TimeAmount.seconds(30)
    private static let largestAnswer = 1 << 20

    let server: String

    private struct Problem: Decodable {
        var type: String?
        var title: String?
        var detail: String?
    }

    func post<Answer: Decodable>(
        _ path: String, _ body: some Encodable, _ headers: [(String, String)] = []
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: server + path)
        request.method = .POST
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        request.headers.add(name: "Content-Type", value: "application/json")
        request.body = .bytes(ByteBuffer(data: try JSONEncoder().encode(body)))
        return try await perform(request, "POST \(path.generalized)")
    }

    func get<Answer: Decodable>(_ path: String) async throws -> Answer {
        try await perform(HTTPClientRequest(url: server + path), "GET \(path.generalized)")
    }

    private func perform<Answer: Decodable>(_ request: HTTPClientRequest, _ what: String) async throws -> Answer {
        let response: HTTPClientResponse
        let answer: Data
        do {
            response = try await HTTPClient.shared.execute(request, timeout: Self.patience)
            answer = Data(buffer: try await response.body.collect(upTo: Self.largestAnswer))
        } catch {
            throw MediaFailure("\(what): \(error)")
        }
        guard (200..<300).contains(response.status.code) else {
            let problem = try? JSONDecoder().decode(Problem.self, from: answer)
            throw MediaFailure(
                "\(what): \(response.status.code)"
                    + (problem.map { " \($0.type ?? ""): \($0.detail ?? $0.title ?? "")" } ?? ""))
        }
        do {
            return try JSONDecoder().decode(Answer.self, from: answer)
        } catch {
            throw MediaFailure("\(what): the answer is not what was expected: \(error)")
        }
    }
}

extension String {
    /// A path without its ids and query, so that errors of many calls are counted as one.
    fileprivate var generalized: String {
        prefix { $0 != "?" }.split(separator: "/")
            .map { $0.count > 12 || $0.first?.isNumber ?? false ? "{id}" : String($0) }
            .reduce("") { $0 + "/" + $1 }
    }
}
