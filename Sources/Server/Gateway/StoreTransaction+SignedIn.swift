import Model
import Storage

extension StoreTransaction {
    /// Throws where the principal may do nothing any more: their token was good when the request came, and their sign-in
    /// has ended since, or their account is disabled.
    ///
    /// What lives in memory is entered first and checked then: the end of a sign-in is committed before anybody is told of
    /// it, so that it is seen either here or by whoever ends what was entered.
    func checkSignedIn(_ principal: Principal) throws {
        guard try isSignedIn(principal.user, by: principal.signIn) else {
            throw Problem(.unauthenticated, "The session of this access token has ended. Sign in again.")
        }
    }
}
