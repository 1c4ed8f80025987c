/// What a page of this server may load, run and reach (Content Security Policy Level 3).
///
/// A page keeps the tokens of who is signed in. So it runs the scripts of its own origin alone, makes none from text
/// (Trusted Types), and reaches no other host, over its WebSocket neither: `'self'` covers `ws:` and `wss:` of the same
/// host.
enum ContentSecurityPolicy {
    static let text = [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        // What the page makes itself, such as a picture that is about to be sent, is a blob.
        "img-src 'self' data: blob:",
        "media-src 'self' blob:",
        "manifest-src 'self'",
        "worker-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        // The policy of that name passes the address of the service worker alone.
        "trusted-types switchboard",
    ].joined(separator: "; ")
}
