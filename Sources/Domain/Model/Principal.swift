/// Who makes a request: the user of a verified token, the token's sign-in and, if authenticated, the endpoint.
package struct Principal: Hashable, Sendable {
    package var user: UserID
    /// Absent for tokens of an external issuer, which manages its own sessions.
    package var signIn: SignInID?
    package var endpoint: EndpointID?
    /// When the token was issued; nil if it does not say so, or if no token was used.
    package var tokenIssuedAt: Timestamp?

    package init(
        user: UserID, signIn: SignInID? = nil, endpoint: EndpointID? = nil, tokenIssuedAt: Timestamp? = nil
    ) {
        self.user = user
        self.signIn = signIn
        self.endpoint = endpoint
        self.tokenIssuedAt = tokenIssuedAt
    }
}
