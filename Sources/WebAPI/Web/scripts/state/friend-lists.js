// Friends, and requests that were received and sent, by user.

/** The stream's snapshot: the newest of them. */
export const applyFriends = (friends, list) => Object.fromEntries(list.map((one) => [one.user.id, one]));

export const withFriend = (friends, friend) => ({ ...friends, [friend.user.id]: friend });

export function withoutFriend(friends, user) {
    const { [user]: _, ...others } = friends;
    return others;
}

/** Those of a state, `received`, `requested` or `friend`, by name. */
export const friendsIn = (friends, state) => Object.values(friends).filter((one) => one.state === state)
    .sort((one, other) => one.user.displayName.localeCompare(other.user.displayName));
