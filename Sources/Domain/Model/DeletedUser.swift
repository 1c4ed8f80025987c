/// What is shown of a user whose account was deleted: an id, which others' calls and messages still name, and this name.
package enum DeletedUser {
    package static let name = "Deleted user"
}
