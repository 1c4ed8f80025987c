import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import WebAPI

/// What the operator sees, on a port of its own: `/metrics` for Prometheus, `/admin` for a person, and the health checks.
struct AdminPages: Sendable {
    let registry: PrometheusRegistry
    /// Brings the gauges up to date that nobody sets by themselves.
    let collect: @Sendable () async -> Void
    /// The figures of the operator's page as JSON.
    let figures: @Sendable () async -> JSON
    let isReady: @Sendable () -> Bool

    func router() -> Router<WebContext> {
        let router = Router(context: WebContext.self)
        router.add(middleware: BrowserMiddleware(allowedOrigins: []))
        router.get("/metrics") { _, _ in
            await collect()
            return Response(
                status: .ok, headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
                body: .init(byteBuffer: ByteBuffer(string: registry.text)))
        }
        router.get("/admin/figures") { _, _ in Response(json: Array((await figures()).encoded.utf8), status: 200) }
        HealthRoutes(isReady: isReady).register(on: router)
        WebFiles.admin.register(on: router)
        return router
    }
}

/// `/livez` says that the process runs, `/readyz` that it can serve.
struct HealthRoutes: Sendable {
    let isReady: @Sendable () -> Bool

    func register(on router: Router<WebContext>) {
        router.get("/livez") { _, _ in Response(status: .ok, body: .init(byteBuffer: ByteBuffer(string: "ok\n"))) }
        router.get("/readyz") { _, _ in
            isReady()
                ? Response(status: .ok, body: .init(byteBuffer: ByteBuffer(string: "ok\n")))
                : Response(status: .serviceUnavailable, body: .init(byteBuffer: ByteBuffer(string: "not ready\n")))
        }
    }
}
