"""Links by which people join groups, and invitations that are repeated, over REST."""

from __future__ import annotations

from typing import Any

from switchboard_tests.conversations import create, group, members_of, send, texts
from switchboard_tests.server import User


def make_link(user: User, conversation: str, **body: Any) -> tuple[str, str]:
    """The id and the token of a new link."""
    made = user.post(f"/v1/conversations/{conversation}/links", body)
    assert made.status_code == 201, made.text
    return made.json()["link"]["id"], made.json()["token"]


def join(user: User, token: str) -> int:
    return user.post(f"/v1/links/{token}").status_code


def test_a_group_is_joined_by_its_link(server):
    owner, ann, ben = server.users(3)
    here = group(owner, name="Team")
    assert send(owner, here, "before").status_code == 201
    id, token = make_link(owner, here, maxUses=1)
    found = ann.get(f"/v1/links/{token}")
    assert found.json() == {"kind": "group", "name": "Team", "members": 1}
    assert join(ann, token) == 201
    assert join(ann, token) == 200
    assert join(ben, token) == 404 and ben.get(f"/v1/links/{token}").status_code == 404
    assert send(owner, here, "after").status_code == 201
    assert texts(ann, here) == ["after"]
    listed = owner.get(f"/v1/conversations/{here}/links").json()["links"]
    assert [(one["id"], one["uses"], one["maxUses"]) for one in listed] == [(id, 1, 1)]
    assert "token" not in listed[0] and token not in owner.get(f"/v1/conversations/{here}/links").text
    assert ann.get(f"/v1/conversations/{here}/links").json()["links"] == []
    for _ in range(2):
        assert owner.request("DELETE", f"/v1/conversations/{here}/links/{id}").status_code == 204
    assert join(ann, token) == 404


def test_who_was_removed_needs_a_newer_link(server):
    owner, ann = server.users(2)
    here = group(owner)
    _, old = make_link(owner, here)
    assert join(ann, old) == 201
    assert owner.request("DELETE", f"/v1/conversations/{here}/members/{ann.id}").status_code == 204
    assert join(ann, old) == 404 and ann.get(f"/v1/links/{old}").status_code == 404
    _, new = make_link(owner, here)
    assert join(ann, new) == 201
    assert ann.id in members_of(owner, here)


def test_who_left_is_kept_out_by_a_removal(server):
    owner, ann = server.users(2)
    here = group(owner)
    _, old = make_link(owner, here)
    assert join(ann, old) == 201
    assert ann.request("DELETE", f"/v1/conversations/{here}/members/me").status_code == 204
    before = ann.get("/v1/inbox").json()["conversations"]
    for _ in range(2):
        assert owner.request("DELETE", f"/v1/conversations/{here}/members/{ann.id}").status_code == 204
    assert join(ann, old) == 404 and ann.get(f"/v1/links/{old}").status_code == 404
    assert ann.get("/v1/inbox").json()["conversations"] == before
    _, new = make_link(owner, here)
    assert join(ann, new) == 201


def test_links_end_with_their_maker(server):
    owner, ann, ben = server.users(3)
    here = group(owner)
    _, first = make_link(owner, here)
    assert join(ann, first) == 201
    _, token = make_link(ann, here)
    assert ann.request("DELETE", f"/v1/conversations/{here}/members/me").status_code == 204
    assert join(ben, token) == 404
    assert join(ben, first) == 201


def test_bad_links_name_their_fields(server):
    owner = server.user()
    here = group(owner)
    for body, name in [
        ({"expiresAt": "2020-01-01T00:00:00Z"}, "expiresAt"), ({"expiresAt": "soon"}, "expiresAt"),
        ({"maxUses": 0}, "maxUses"), ({"maxUses": "many"}, "maxUses"),
    ]:
        refused = owner.post(f"/v1/conversations/{here}/links", body)
        assert refused.status_code == 400 and refused.json()["field"] == name, refused.text
    notes = create(owner, "self").json()["conversation"]["id"]
    assert owner.post(f"/v1/conversations/{notes}/links", {}).status_code == 409
    assert join(owner, "x" * 43) == 404


def test_who_declined_is_not_asked_again_and_nobody_can_tell(server):
    owner, ann, ben = server.users(3)
    here = group(owner)
    path = f"/v1/conversations/{here}"

    def shown(user: User) -> str:
        page = owner.get(f"{path}/members").json()["members"]
        return next(one["state"] for one in page if one["user"] == user.id)

    answers = [owner.post(f"{path}/members", {"members": [ann.id]}) for _ in range(2)]
    assert ann.post(f"{path}/members/me/decline").status_code == 204
    assert shown(ann) == "left"
    again = owner.post(f"{path}/members", {"members": [ann.id]})
    fresh = owner.post(f"{path}/members", {"members": [ben.id]})
    assert {one.status_code for one in [*answers, again, fresh]} == {200}
    assert again.json().keys() == fresh.json().keys()
    assert (shown(ann), shown(ben)) == ("invited", "invited")
    assert ben.get(path).status_code == 200
    assert ann.get(path).status_code == 404
    assert here not in ann.get("/v1/inbox").text
    assert here not in ann.get("/v1/conversations").text
    # Another group does not help.
    assert ann.get(f"/v1/conversations/{group(owner, [ann])}").status_code == 404
