package import Accounts
package import Model

// Contact links: whoever has a user's link finds the user, whatever `reach` says. Only a digest of the token is stored.
extension FriendCommands {
    /// Makes a new link for the principal, whose earlier link stops working. Returns its token.
    package func makeLink(of principal: Principal) async throws -> String {
        let token = secrets.makeSecret()
        let hash = secrets.digest(token)
        _ = try await database.writeFriends { store in
            _ = try store.existingUser(principal.user)
            try store.setContactLink(hash: hash, of: principal.user)
        }
        return token
    }

    package func removeLink(of principal: Principal) async throws {
        _ = try await database.writeFriends { try $0.removeContactLink(of: principal.user) }
    }

    /// The owner of a link. A token that is wrong, one that was removed, and one of a user who has blocked the principal
    /// are the same problem.
    package func contact(_ token: String, for principal: Principal) async throws -> UserProfile {
        let hash = token.utf8.count <= 128 ? secrets.digest(token) : []
        return try await database.readFriends { store in
            guard let owner = try store.contactLinkOwner(hash: hash), let user = try store.user(owner),
                user.disabledAt == nil, try !store.isBlocked(principal.user, by: owner)
            else { throw Problem.notFound("link", field: "token") }
            return user.profile
        }
    }
}
