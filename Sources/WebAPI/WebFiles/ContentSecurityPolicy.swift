/// What a page of this server may load and run (Content Security Policy Level 3).
enum ContentSecurityPolicy {
    /// A page loads from its own origin alone. `ws:` and `wss:` are for its own WebSocket, which `'self'` does not cover in
    /// every browser.
    static let text = """
        default-src 'self'; img-src 'self' data:; media-src 'self' blob:; connect-src 'self' ws: wss:; \
        frame-ancestors 'none'; base-uri 'none'; form-action 'self'
        """
}
