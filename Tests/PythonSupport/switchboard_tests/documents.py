"""What breaks clients of an older `/openapi.json` or `/asyncapi.json`.

Each change is a line such as `calls.create: request member kind is required now`. It names the operation, message,
stream or component that has changed, and stays the same while the documents do: the guide of changes quotes it.
"""

from __future__ import annotations

from typing import Any

from switchboard_tests.schema_changes import Location, SchemaChanges, resolved

Document = dict[str, Any]
METHODS = {"get", "put", "post", "delete", "options", "head", "patch", "trace"}


def breaking_changes(old: Document, new: Document) -> list[str]:
    """What clients of the old document can no longer rely on, without repetitions."""
    compare = asyncapi_changes if "asyncapi" in old else openapi_changes
    return list(dict.fromkeys(compare(old, new)))


# OpenAPI


def openapi_changes(old: Document, new: Document) -> list[str]:
    changes = []
    schemas = SchemaChanges(old, new)
    for path, methods in old["paths"].items():
        for method in sorted(METHODS & methods.keys()):
            before = with_path(methods, method)
            name = before.get("operationId", f"{method.upper()} {path}")
            if method not in new["paths"].get(path, {}):
                changes.append(f"{name}: {method.upper()} {path} was removed")
                continue
            after = with_path(new["paths"][path], method)
            if before.get("operationId") not in (None, after.get("operationId")):
                changes.append(f"{name}: operationId is {after.get('operationId', 'absent')} now")
            changes += parameter_changes(schemas, name, before, after)
            changes += body_changes(schemas, name, before, after)
            changes += response_changes(schemas, name, before, after)
    return changes


def with_path(methods: Document, method: str) -> Document:
    """An operation with the parameters of its path."""
    operation = methods[method]
    return operation | {"parameters": [*methods.get("parameters", []), *operation.get("parameters", [])]}


def parameter_changes(schemas: SchemaChanges, name: str, old: Document, new: Document) -> list[str]:
    changes = []
    before, after = (
        {(one["in"], one["name"]): one for one in (resolved(document, part) for part in operation["parameters"])}
        for document, operation in ((schemas.old, old), (schemas.new, new))
    )
    for (where, parameter), one in before.items():
        if (where, parameter) not in after:
            changes.append(f"{name}: {where} parameter {parameter} was removed")
            continue
        now = after[where, parameter]
        location = Location(name, "request", parameter)
        found = schemas.between(one.get("schema", {}), now.get("schema", {}), location)
        member = f"{name}: request member "
        changes += [line.replace(member, f"{name}: {where} parameter ", 1) for line in found]
    for (where, parameter), now in after.items():
        if now.get("required") and not before.get((where, parameter), {}).get("required"):
            changes.append(f"{name}: {where} parameter {parameter} is required now")
    return changes


def body_changes(schemas: SchemaChanges, name: str, old: Document, new: Document) -> list[str]:
    before, after = resolved(schemas.old, old.get("requestBody", {})), resolved(schemas.new, new.get("requestBody", {}))
    if before and not after:
        return [f"{name}: request body was removed"]
    changes = []
    if after.get("required") and not before.get("required"):
        changes.append(f"{name}: request body is required now")
    return changes + content_changes(schemas, Location(name, "request"), before, after)


def response_changes(schemas: SchemaChanges, name: str, old: Document, new: Document) -> list[str]:
    """Those of responses with success: a problem may be removed, and all problems have the same shape."""
    changes = []
    for status, reference in old["responses"].items():
        if status[0] not in "23":
            continue
        if status not in new["responses"]:
            changes.append(f"{name}: response {status} was removed")
            continue
        before, after = resolved(schemas.old, reference), resolved(schemas.new, new["responses"][status])
        for header in before.get("headers", {}):
            if header not in after.get("headers", {}):
                changes.append(f"{name}: response header {header} was removed")
        changes += content_changes(schemas, Location(name, "response"), before, after)
    problem = "#/components/schemas/Problem"
    if all("Problem" in one.get("components", {}).get("schemas", {}) for one in (schemas.old, schemas.new)):
        changes += schemas.component(problem, "response")
    return changes


def content_changes(schemas: SchemaChanges, location: Location, old: Document, new: Document) -> list[str]:
    changes = []
    after = new.get("content", {})
    for kind, content in old.get("content", {}).items():
        if kind in after:
            changes += schemas.between(content.get("schema", {}), after[kind].get("schema", {}), location)
        else:
            changes.append(f"{location.owner}: {location.kind} of type {kind} was removed")
    return changes


# AsyncAPI


def asyncapi_changes(old: Document, new: Document) -> list[str]:
    changes = []
    for name, channel in old["channels"].items():
        after = new["channels"].get(name)
        changes += removed_or_changed(f"channel {name}", channel, after, "address")
        for message in channel.get("messages", {}) if after else []:
            if message not in after.get("messages", {}):
                changes.append(f"channel {name}: message {message} was removed")
    for name, operation in old.get("operations", {}).items():
        changes += removed_or_changed(f"operation {name}", operation, new.get("operations", {}).get(name), "action")
    schemas = SchemaChanges(old, new)
    return changes + frame_changes(schemas) + stream_changes(schemas) + list_changes(schemas)


def removed_or_changed(name: str, old: Document, new: Document | None, *members: str) -> list[str]:
    if new is None:
        return [f"{name}: was removed"]
    return [
        f"{name}: {member} is {new.get(member, 'absent')} now, not {old[member]}"
        for member in members
        if member in old and old[member] != new.get(member)
    ]


def frame_changes(schemas: SchemaChanges) -> list[str]:
    """Those of the messages: what the server receives is a request, and all else a response."""
    changes = []
    received = {
        message["$ref"].rpartition("/")[2]
        for operation in schemas.old.get("operations", {}).values()
        if operation["action"] == "receive"
        for message in operation["messages"]
    }
    old, new = (one.get("components", {}) for one in (schemas.old, schemas.new))
    for name, message in old.get("messages", {}).items():
        after = new.get("messages", {}).get(name)
        changes += removed_or_changed(f"message {name}", message, after)
        if after is not None:
            location = Location(f"message {name}", "request" if name in received else "response")
            changes += schemas.between(message.get("payload", {}), after.get("payload", {}), location)
    # The result of a frame has a name, and no message that refers to it.
    for name in old.get("schemas", {}):
        if name.endswith("Result") and name in new.get("schemas", {}):
            changes += schemas.component(f"#/components/schemas/{name}", "response")
    return changes


def stream_changes(schemas: SchemaChanges) -> list[str]:
    changes = []
    for name, stream, after in by(schemas, "x-streams", "name"):
        changes += removed_or_changed(f"stream {name}", stream, after, "kind")
        if after is None:
            continue
        now = {change["type"] for change in after.get("changes", [])}
        for change in stream.get("changes", []):
            if change["type"] not in now:
                changes.append(f"stream {name}: change {change['type']} was removed")
        for kind, frame in stream.get("frames", {}).items():
            if kind in after.get("frames", {}):
                changes += schemas.between(frame, after["frames"][kind], Location(f"stream {name}", "response", kind))
            else:
                changes.append(f"stream {name}: frame {kind} was removed")
    return changes


def list_changes(schemas: SchemaChanges) -> list[str]:
    changes = []
    for reason, reset, after in by(schemas, "x-resets", "reason"):
        changes += removed_or_changed(f"reset {reason}", reset, after)
    for code, close, after in by(schemas, "x-closeCodes", "code"):
        changes += removed_or_changed(f"close code {code}", close, after, "reason")
    for name, request, after in by(schemas, "x-requests", "name"):
        changes += removed_or_changed(f"realtime {name}", request, after)
        if after is not None:
            for member, kind in [("frame", "request"), ("result", "response")]:
                location = Location(f"realtime {name}", kind)
                changes += schemas.between(request.get(member, {}), after.get(member, {}), location)
    return changes


def by(schemas: SchemaChanges, member: str, key: str) -> list[tuple[Any, Document, Document | None]]:
    """Each entry of a list of the old document, with the new one of the same key."""
    after = {one[key]: one for one in schemas.new.get(member, [])}
    return [(one[key], one, after.get(one[key])) for one in schemas.old.get(member, [])]
