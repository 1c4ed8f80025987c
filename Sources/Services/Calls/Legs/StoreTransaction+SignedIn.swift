import Model
import Storage

extension StoreTransaction {
    /// Throws if the principal's sign-in has ended, or their account was disabled, since their token was verified.
    ///
    /// Callers register their state in memory first and check afterwards: the end of a sign-in is committed before
    /// anybody is notified of it, so either this check or the notification catches it.
    func checkSignedIn(_ principal: Principal) throws {
        guard try isSignedIn(principal.user, by: principal.signIn) else {
            throw Problem(.unauthenticated, "The session of this access token has ended. Sign in again.")
        }
    }
}
