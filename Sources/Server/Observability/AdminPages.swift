import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import Realtime
import WebAPI

/// The routes of the operator's port: `/metrics` for Prometheus, `/admin` for people with the API of that page, and the
/// health checks.
struct AdminPages: Sendable {
    let registry: PrometheusRegistry
    /// Updates the gauges that are only set on demand.
    let collect: @Sendable () async -> Void
    /// The operator's API.
    let table: RouteTable
    let hosts: KnownHosts
    let addresses: ClientAddresses
    let readiness: Readiness

    func router() -> Router<WebContext> {
        let router = Router(context: WebContext.self)
        router.add(middleware: RequestMiddleware())
        router.add(middleware: ClientAddressMiddleware { [addresses] in addresses.client(of: $0, header: $1) })
        router.add(middleware: BrowserMiddleware(allowedOrigins: []))
        router.add(middleware: OperatorMiddleware(hosts: hosts))
        router.get("/metrics") { _, _ in
            await collect()
            return Response(
                status: .ok, headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
                body: .init(byteBuffer: ByteBuffer(string: registry.text)))
        }
        table.register(on: router)
        let document = OnDemand { [table] in ByteBuffer(string: table.openAPI.text) }
        router.get("/admin/openapi.json") { _, _ in Response(json: await document.value, status: 200) }
        HealthRoutes(readiness: readiness).register(on: router)
        WebFiles.admin.register(on: router)
        return router
    }
}

/// Health checks: `/livez` succeeds while the process runs, `/readyz` while it accepts clients. Without that it responds
/// with status 503 and a word that says why: `starting`, `draining` or `storage_full`.
struct HealthRoutes: Sendable {
    let readiness: Readiness

    func register(on router: Router<WebContext>) {
        router.get("/livez") { _, _ in Response(status: .ok, body: .init(byteBuffer: ByteBuffer(string: "ok\n"))) }
        router.get("/readyz") { _, _ in
            let obstacle = readiness.obstacle
            return Response(
                status: obstacle == nil ? .ok : .serviceUnavailable,
                body: .init(byteBuffer: ByteBuffer(string: (obstacle?.rawValue ?? "ok") + "\n")))
        }
    }
}
