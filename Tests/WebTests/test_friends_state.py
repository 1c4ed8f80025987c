"""state/friend-lists.js: friends and requests by user."""


def friend(user, name, state):
    return {"user": {"id": user, "displayName": name}, "state": state}


def test_friends_and_requests(run):
    script = """
        const f = await load("state/friend-lists.js");
        let friends = f.applyFriends({ old: one }, [two, three]);
        friends = f.withFriend(friends, one);
        const names = (state) => f.friendsIn(friends, state).map((found) => found.user.displayName);
        const before = ["friend", "received", "requested"].map(names);
        friends = f.withFriend(friends, { ...three, state: "friend" });
        friends = f.withoutFriend(friends, "a");
        return [before, names("friend"), names("received")];
    """
    values = {"one": friend("a", "Zoe", "friend"), "two": friend("b", "Ann", "friend"), "three": friend("c", "Ben", "received")}
    assert run(script, **values) == [[["Ann", "Zoe"], ["Ben"], []], ["Ann", "Ben"], []]
