/// Who asks: the user behind a verified token, the sign-in it belongs to and, where one was proved, the endpoint.
package struct Principal: Hashable, Sendable {
    package var user: UserID
    /// Absent for tokens of an outside issuer, whose sessions live there.
    package var signIn: SignInID?
    package var endpoint: EndpointID?

    package init(user: UserID, signIn: SignInID? = nil, endpoint: EndpointID? = nil) {
        self.user = user
        self.signIn = signIn
        self.endpoint = endpoint
    }
}
