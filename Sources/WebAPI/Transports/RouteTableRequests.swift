package import Model
package import Realtime

/// Handles realtime requests with the route table.
package struct RouteTableRequests: RequestHandler {
    private let table: RouteTable

    private let pages: Set<String>

    package init(table: RouteTable) {
        self.table = table
        pages = Set(
            table.operations.filter { operation in operation.parameters.contains { $0.name == "limit" } }.map(\.name))
    }

    package func isPage(_ name: String) -> Bool { pages.contains(name) }

    package func handle(
        _ name: String, params: [UInt8], principal: Principal, from origin: SessionOrigin
    ) async -> RequestResult {
        let host = origin.host.flatMap { HostName.withoutPort($0) }
        return
            switch await table.handle(
                name, params: params, principal: principal, clientAddress: origin.address, host: host)
        {
        case .success(let response):
            .result(response.body.isEmpty ? Array("{}".utf8) : response.body, positions: response.positions)
        case .failure(let problem): .problem(problem)
        }
    }
}
