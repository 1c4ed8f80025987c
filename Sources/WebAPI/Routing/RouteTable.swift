import Accounts
import FoundationEssentials
import HTTPTypes
package import Hummingbird
import HummingbirdCore
package import Logging
import MediaFiles
package import Model
import NIOCore
import Services
import Storage

/// The table of all operations. It registers the REST routes, handles realtime requests of the same names, and
/// generates `/openapi.json`, so that the three cannot drift apart.
package struct RouteTable: Sendable {
    /// The maximum size of a body: an SDP is at most 256 KiB, and JSON escapes may double it.
    static let maximumBody = 640 * 1024
    /// What is read of the body of an operation without one.
    private static let maximumIgnoredBody = 4096
    /// How long a body may take to arrive. The idle timeout of the connection ends a stalled one earlier.
    private static let maxBodyDuration = Duration.seconds(300)

    package let operations: [Operation]
    private let documents: [DocumentOperation]
    package let openAPI: OpenAPIDocument
    private let byName: [String: Operation]
    private let authenticator: RequestAuthenticator
    private let operators: OperatorAuthenticator?
    private let features: FeatureFlags
    private let isStorageFull: @Sendable () -> Bool
    private let logger: Logger

    /// - Parameters:
    ///   - operators: authenticates the operations of the operator's port.
    ///   - features: what is disabled is refused before it does any work.
    ///   - isStorageFull: whether operations that write are refused, before they do any work.
    package init(
        operations: [Operation], documents: [DocumentOperation] = [], schemas: [(String, Schema)],
        about: OpenAPIDocument.About = .api, version: String, authenticator: RequestAuthenticator,
        operators: OperatorAuthenticator? = nil, features: FeatureFlags = FeatureFlags(),
        isStorageFull: @escaping @Sendable () -> Bool = { false },
        logger: Logger
    ) {
        self.operations = operations
        self.documents = documents
        self.authenticator = authenticator
        self.operators = operators
        self.features = features
        self.isStorageFull = isStorageFull
        self.logger = logger
        byName = Dictionary(
            operations.filter(\.isRealtime).map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        openAPI = OpenAPIDocument(
            operations: operations, documents: documents, schemas: schemas, about: about, version: version)
    }

    /// Adds a route for each operation, and a 405 for every other method on its path.
    package func register(on router: Router<WebContext>) {
        var methods: [String: [HTTPRequest.Method]] = [:]
        for operation in operations {
            methods[operation.path, default: []].append(operation.method)
            router.on(RouterPath(operation.path), method: operation.method) { request, context in
                await respond(to: request, context: context, with: operation)
            }
        }
        for operation in documents {
            methods[operation.path, default: []].append(operation.method)
            router.on(RouterPath(operation.path), method: operation.method) { request, context in
                await respond(to: request, context: context, with: operation)
            }
        }
        let everyMethod: [HTTPRequest.Method] = [.get, .post, .put, .patch, .delete, .head, .trace, .query]
        for (path, allowed) in methods {
            for method in everyMethod where !allowed.contains(method) {
                router.on(RouterPath(path), method: method) { _, _ in Response.methodNotAllowed(allowed: allowed) }
            }
        }
    }

    /// Handles a realtime request. `params` contains what REST has in path, query and body.
    package func handle(_ name: String, params: [UInt8], principal: Principal, clientAddress: String, host: String?)
        async -> Result<OperationResponse, Problem>
    {
        guard let operation = byName[name] else {
            return .failure(.invalid("request", "Unknown request \(name.prefix(64))."))
        }
        var request = OperationRequest(
            principal: principal, parameters: [:], body: params, clientAddress: clientAddress, host: host)
        request.bodySchema = operation.body
        do {
            try authenticator.admit(operation.limit, of: principal, permits: operation.permits)
            try features.check(operation, nil)
            if operation.writes { try checkStorage() }
            try authenticator.admit(bodyOf: params.count, operation, of: principal)
            if !operation.parameters.isEmpty {
                request.parameters =
                    try request.decode(RealtimeParameters.self, configuration: operation.parameters).values
            }
            try authenticator.admit(operation.limit, of: principal, in: request.parameters["conversation"])
            return .success(try await run(operation, request))
        } catch {
            return .failure(problem(for: error, in: operation.name))
        }
    }

    private func respond(to request: Request, context: WebContext, with operation: Operation) async -> Response {
        do {
            var operationRequest = OperationRequest(
                principal: nil, parameters: [:], body: [], clientAddress: context.clientAddress, host: request.hostName)
            operationRequest.bodySchema = operation.body
            operationRequest.wantsEvents = request.headers[.accept]?.contains("text/event-stream") ?? false
            for parameter in operation.parameters {
                operationRequest.parameters[parameter.name] = Self.value(of: parameter, request, context)
            }
            try await admit(request, &operationRequest, context, to: operation)
            try features.check(operation, nil)
            if operation.writes { try checkStorage() }
            if operation.body != nil {
                operationRequest.body = try await Self.body(of: request)
            } else {
                try await Self.rejectParameters(inBodyOf: request, to: operation)
            }
            try authenticator.admit(
                bodyOf: operationRequest.body.count, operation, of: operationRequest.principal)
            let response = try await run(operation, operationRequest)
            if let events = response.events { return Response(events: events) }
            return Response(json: response.bodyWithPositions, status: response.status)
        } catch {
            return Response(problem: problem(for: error, in: operation.name))
        }
    }

    /// Authenticates the request before its body is read.
    private func admit(
        _ request: Request, _ operationRequest: inout OperationRequest, _ context: WebContext, to operation: Operation
    ) async throws {
        func keyRequest(_ scope: ServerKeyScope) -> ServerKeyService.Request {
            .init(request, to: operation.name, scope: scope, from: context.clientAddress)
        }
        switch operation.access {
        case .serverKey(let scope):
            operationRequest.key = try authenticator.admit(keyRequest(scope), counted: context.counted)
        case .operatorKey:
            operationRequest.key = try operators?.admitKey(keyRequest(.operator), counted: context.counted)
        case .operator:
            operationRequest.key = try operators?.admit(keyRequest(.operator), counted: context.counted)
            operationRequest.operatorToken = BearerToken.read(from: request.headers[.authorization])
        case .anyone, .user, .endpoint:
            var admission = AdmissionRequest(
                limit: operation.limit, from: context,
                credential: operation.access == .anyone
                    ? .none : .accessToken(authorization: request.headers[.authorization]),
                endpoint: Self.endpoint(of: request, for: operation))
            admission.permits = operation.permits
            admission.conversation = operationRequest.parameters["conversation"]
            operationRequest.principal = try await authenticator.admit(admission)
        }
    }

    private func respond(
        to request: Request, context: WebContext, with operation: DocumentOperation
    ) async -> Response {
        do {
            let types = operation.bodyTypes
            let limit = request.headers.mediaType.flatMap { operation.bodyLimits[$0] } ?? operation.bodyLimit
            var documentRequest = DocumentOperation.Request(
                principal: nil, parameters: [:], headers: request.headers, host: request.hostName,
                receive: { try await Self.body(of: request, types: types, limit: limit) })
            for parameter in operation.parameters {
                documentRequest.parameters[parameter.name] = Self.value(of: parameter, request, context)
            }
            documentRequest.principal = try await authenticator.admit(
                AdmissionRequest(
                    limit: operation.limit, from: context,
                    credential: Self.credential(of: request, for: operation, documentRequest)))
            if operation.writes { try checkStorage() }
            return Response(try await operation.run(documentRequest))
        } catch {
            return Response(problem: problem(for: error, in: operation.name))
        }
    }

    /// - Throws: `storage_full`.
    private func checkStorage() throws {
        if isStorageFull() { throw SQLError(.diskFull, "The disk is full.").problem }
    }

    private static func value(of parameter: Operation.Parameter, _ request: Request, _ context: WebContext) -> String? {
        parameter.isInPath
            ? context.parameters.get(parameter.name) : request.uri.queryParameters.get(parameter.name)
    }

    private func run(_ operation: Operation, _ request: OperationRequest) async throws -> OperationResponse {
        try features.check(operation, request)
        var response = try await operation.run(request)
        response.positions = response.positions.filter { stream, _ in
            request.principal.map { stream.isOwn(of: $0) } ?? false
        }
        return response
    }

    private static func endpoint(of request: Request, for operation: Operation) -> AdmissionRequest.Endpoint {
        let header = request.headers[.switchboardEndpoint]
        return switch operation.access {
        case .anyone, .serverKey, .operatorKey, .operator: .ignored
        case .user: .optional(header)
        case .endpoint: .required(header)
        }
    }

    private static func credential(
        of request: Request, for operation: DocumentOperation, _ documentRequest: DocumentOperation.Request
    ) -> AdmissionRequest.Credential {
        if let signer = operation.signer { return .signature { try signer(documentRequest) } }
        return operation.isPublic ? .none : .accessToken(authorization: request.headers[.authorization])
    }

    private static func body(of request: Request) async throws -> [UInt8] {
        if let media = request.headers.mediaType {
            guard media == "application/json" || media.hasSuffix("+json") else {
                throw Problem(.unsupportedMediaType, "The body must be application/json.", field: "Content-Type")
            }
        }
        return try await anyBody(of: request, limit: maximumBody)
    }

    /// A parameter of the query in the body of an operation without one would be ignored, and with it what it limits.
    private static func rejectParameters(inBodyOf request: Request, to operation: Operation) async throws {
        guard operation.method != .get, operation.parameters.contains(where: { !$0.isInPath }),
            request.headers[.contentLength].map({ $0 != "0" }) ?? (request.headers[.transferEncoding] != nil),
            let bytes = try? await anyBody(of: request, limit: maximumIgnoredBody),
            let members = try? JSONDecoder().decode([String: Ignored].self, from: Data(bytes)),
            let name = operation.parameters.first(where: { !$0.isInPath && members[$0.name] != nil })?.name
        else { return }
        throw Problem.invalid(name, "\(name) belongs in the query: \(operation.name) takes no body.")
    }

    /// Any value.
    private struct Ignored: Decodable {
        init(from decoder: any Decoder) {}
    }

    private static func body(of request: Request, types: [String], limit: Int) async throws -> [UInt8] {
        guard let media = request.headers.mediaType, types.contains(media) else {
            throw Problem(
                .unsupportedMediaType, "The body must be \(types.joined(separator: " or ")).", field: "Content-Type")
        }
        return try await anyBody(of: request, limit: limit)
    }

    private static func anyBody(of request: Request, limit: Int) async throws -> [UInt8] {
        let tooLarge = Problem(.payloadTooLarge, "The body may have at most \(limit) bytes.", field: "body")
        // A Content-Length above the limit is rejected before the body is read.
        if let length = request.headers[.contentLength].flatMap({ Int($0) }), length > limit { throw tooLarge }
        let deadline = ContinuousClock.now + maxBodyDuration
        var buffer = ByteBuffer()
        do {
            for try await part in request.body {
                guard buffer.readableBytes + part.readableBytes <= limit else { throw tooLarge }
                guard ContinuousClock.now < deadline else {
                    throw Problem.invalid("body", "The body arrived too slowly.")
                }
                buffer.writeImmutableBuffer(part)
            }
            return Array(buffer: buffer)
        } catch let problem as Problem {
            throw problem
        } catch {
            // The client has disconnected in the middle of the body.
            throw Problem.invalid("body", "The body ended early.")
        }
    }

    private func problem(for error: any Error, in operation: String) -> Problem {
        if let problem = error as? Problem { return problem }
        if let error = error as? MediaFileError {
            logger.error("a media file failed", metadata: ["operation": "\(operation)", "error": "\(error)"])
            return error.problem
        }
        if let error = error as? SQLError {
            logger.error("the store failed", metadata: ["operation": "\(operation)", "error": "\(error)"])
            return error.problem
        }
        logger.error("operation failed", metadata: ["operation": "\(operation)", "error": "\(error)"])
        return Problem(.internalError, "An internal error occurred. It has been logged.")
    }
}
