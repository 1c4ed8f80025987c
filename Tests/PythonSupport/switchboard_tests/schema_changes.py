"""What a JSON schema of OpenAPI or AsyncAPI no longer promises that an older version of it did.

A schema is compared by who sends its values. Of a request, the new schema has to accept everything that the old one
accepted. Of a response, what a client relies on has to stay: members that are there, and their types; a client ignores
members and values that it does not know.

A component that both documents refer to by the same name is the location of its own changes, which are named once
for all that use it.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import Any

Schema = dict[str, Any]
# A conjunction of references and plain schemas.
Parts = list[Schema]

ANNOTATIONS = {"description", "title", "example", "examples", "default", "deprecated", "$comment"}
LOWER_BOUNDS = ["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"]
UPPER_BOUNDS = ["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"]


@dataclass(frozen=True)
class Location:
    """Where a schema stands: `owner` is an operation, a message or a component."""

    owner: str
    kind: str  # "request" or "response"
    path: str = ""

    def member(self, name: str) -> Location:
        return replace(self, path=f"{self.path}.{name}".lstrip("."))

    def items(self) -> Location:
        return replace(self, path=f"{self.path}[]")

    def says(self, words: str) -> list[str]:
        return [f"{self.owner}: {self.kind} {f'member {self.path}' if self.path else 'body'} {words}"]


def resolved(document: Schema, node: Any) -> Any:
    """The node, or what its `$ref` leads to."""
    visited: set[str] = set()
    while isinstance(node, dict) and "$ref" in node and node["$ref"] not in visited:
        visited.add(node["$ref"])
        target: Any = document
        for step in node["$ref"].removeprefix("#/").split("/"):
            target = target[step.replace("~1", "/").replace("~0", "~")]
        node = target
    return node


class SchemaChanges:
    def __init__(self, old: Schema, new: Schema) -> None:
        self.old = old
        self.new = new
        # The changes of components by name and kind; empty while they are compared, which ends cycles.
        self.components: dict[tuple[str, str], list[str]] = {}

    def between(
        self, old: Schema, new: Schema, location: Location, visiting: tuple[tuple[int, int], ...] = ()
    ) -> list[str]:
        """The breaking changes from one schema to the other."""
        if (id(old), id(new)) in visiting:
            return []
        visiting = (*visiting, (id(old), id(new)))
        if "$ref" in old and plain(old) == plain(new):
            return self.component(old["$ref"], location.kind)
        before = alternatives(self.old, old)
        after = alternatives(self.new, new)
        if len(before) == len(after) == 1:
            return self.alternative(before[0], after[0], location, visiting)
        changes = []
        for one in before:
            # A response may become narrower: a value that no longer comes breaks nothing.
            if location.kind == "response" and types(merged(self.old, one)) != {"object"}:
                continue
            changes += self.nearest(
                [self.alternative(one, other, location, visiting) for other in self.candidates(one, after)],
                location.says(f"{self.name(self.old, one)} was removed"),
            )
        if location.kind == "response":
            # An alternative with a label of its own is a new kind, which clients ignore.
            for other in after:
                known = [one for one in before if other in self.candidates(one, after)]
                changes += self.nearest([self.alternative(one, other, location, visiting) for one in known], [])
        return changes

    @staticmethod
    def nearest(changes: list[list[str]], otherwise: list[str]) -> list[str]:
        return min(changes, key=len, default=otherwise)

    def component(self, reference: str, kind: str) -> list[str]:
        name = reference.rpartition("/")[2]
        if (name, kind) not in self.components:
            self.components[name, kind] = []
            old, new = resolved(self.old, {"$ref": reference}), resolved(self.new, {"$ref": reference})
            self.components[name, kind] = self.between(old, new, Location(name, kind))
        return self.components[name, kind]

    def candidates(self, one: Parts, others: list[Parts]) -> list[Parts]:
        """The alternatives that may be the same one: of the same component, or without another label."""
        same = [other for other in others if references(one) and references(one) == references(other)]
        if same:
            return same
        labels = label(merged(self.old, one))
        return [
            other for other in others
            if all(labels.get(key, value) == value for key, value in label(merged(self.new, other)).items())
        ]

    def name(self, document: Schema, parts: Parts) -> str:
        names = list(label(merged(document, parts)).values()) or references(parts)
        return f"alternative {names[0]}" if names else "an alternative"

    def alternative(
        self, before: Parts, after: Parts, location: Location, visiting: tuple[tuple[int, int], ...]
    ) -> list[str]:
        shared = [one for one in references(before) if one in references(after)]
        if not shared:
            return self.flat(merged(self.old, before), merged(self.new, after), location, visiting)
        changes = []
        for reference in shared:
            changes += self.component(reference, location.kind)
        rest = [[part for part in parts if part.get("$ref") not in shared] for parts in (before, after)]
        return changes + self.flat(merged(self.old, rest[0]), merged(self.new, rest[1]), location, visiting)

    def flat(self, old: Schema, new: Schema, location: Location, visiting: tuple[tuple[int, int], ...]) -> list[str]:
        """The changes between schemas without `$ref`, `allOf` and `anyOf` at the top."""
        is_request = location.kind == "request"
        if not (accepts(new, old) if is_request else accepts(old, new)):
            return location.says(f"is {type_name(new)} now, not {type_name(old)}")
        changes = narrowed(old, new, location) if is_request else []
        members, now = old.get("properties", {}), new.get("properties", {})
        required, required_now = set(old.get("required", [])), set(new.get("required", []))
        for name in sorted(members.keys() | required | now.keys() | required_now):
            member = location.member(name)
            if name in members and name not in now:
                changes += member.says("was removed")
                continue
            if is_request and name in required_now - required:
                changes += member.says("is required now")
            if not is_request and name in required - required_now:
                changes += member.says("may be absent now")
            if name in members:
                changes += self.between(members[name], now[name], member, visiting)
        inner = [("items", location.items()), ("additionalProperties", location.member("*"))]
        inner += [("propertyNames", location.member("(name)"))] if is_request else []
        for keyword, where in inner:
            before, after = old.get(keyword, {}), new.get(keyword, {})
            if is_request and after is False and before is not False:
                changes += where.says("is not allowed now")
            elif (keyword in old or keyword in new) and before is not False and after is not False:
                # `true` is a schema without rules.
                schemas = [{} if one is True else one for one in (before, after)]
                changes += self.between(schemas[0], schemas[1], where, visiting)
        return changes


def plain(schema: Schema) -> Schema:
    return {key: value for key, value in schema.items() if key not in ANNOTATIONS}


def references(parts: Parts) -> list[str]:
    return [part["$ref"] for part in parts if "$ref" in part]


def alternatives(document: Schema, schema: Schema, visited: tuple[str, ...] = ()) -> list[Parts]:
    """The schema as a disjunction of conjunctions. References stay unless they lead to several alternatives."""
    groups: list[list[Parts]] = []
    if "$ref" in schema and schema["$ref"] not in visited:
        target = resolved(document, schema)
        behind = alternatives(document, target, (*visited, schema["$ref"]))
        groups.append(behind if len(behind) > 1 else [[{"$ref": schema["$ref"]}]])
    groups += [alternatives(document, part, visited) for part in schema.get("allOf", [])]
    for keyword in ("anyOf", "oneOf"):
        if keyword in schema:
            groups.append([one for part in schema[keyword] for one in alternatives(document, part, visited)])
    rest = {key: value for key, value in plain(schema).items() if key not in ("$ref", "allOf", "anyOf", "oneOf")}
    if rest or not groups:
        groups.append([[rest]])
    return [[part for parts in choice for part in parts] for choice in itertools.product(*groups)]


def merged(document: Schema, parts: Parts) -> Schema:
    """One schema with the members of all parts."""
    result: Schema = {}
    for part in parts:
        flat = merged(document, alternatives(document, resolved(document, part))[0]) if "$ref" in part else part
        for key, value in flat.items():
            if key == "properties":
                members = dict(result.get(key, {}))
                for name, member in value.items():
                    known = members.get(name, member)
                    members[name] = member if known == member else {"allOf": [known, member]}
                result[key] = members
            elif key == "required":
                result[key] = [*result.get(key, []), *value]
            else:
                result[key] = value
    return result


def label(flat: Schema) -> dict[str, str]:
    """The members by which an alternative is told from others, such as `type` with a single value."""
    return {
        name: str(values[0])
        for name, member in flat.get("properties", {}).items()
        if name in flat.get("required", []) and len(values := allowed(member) or []) == 1
    }


def allowed(flat: Schema) -> list[Any] | None:
    """The values that the schema lists, if it does."""
    values = [flat["const"]] if "const" in flat else flat.get("enum")
    return list(values) if values is not None else None


def types(flat: Schema) -> set[str] | None:
    kind = flat.get("type")
    if kind is None:
        return None
    found = set(kind) if isinstance(kind, list) else {kind}
    return found | {"null"} if flat.get("nullable") else found


def type_name(flat: Schema) -> str:
    words = " or ".join(sorted(types(flat) or {"anything"}))
    return f"{words} ({flat['format']})" if "format" in flat else words


def accepts(wide: Schema, narrow: Schema) -> bool:
    """Whether all types of one schema are of the other too."""
    outer, inner = types(wide), types(narrow)
    if outer is None:
        return True
    if inner is None:
        return False
    outer = outer | {"integer"} if "number" in outer else outer
    return inner <= outer and wide.get("format") in (None, narrow.get("format"))


def narrowed(old: Schema, new: Schema, location: Location) -> list[str]:
    """What the new schema of a request rejects and the old one accepted, apart from members."""
    changes = []
    before, after = allowed(old), allowed(new)
    if after is not None and before is None:
        changes += location.says(f"must be one of {', '.join(map(str, after))} now")
    elif after is not None:
        for value in before or []:
            changes += location.says(f"cannot be {value} now") if value not in after else []
    for bound in LOWER_BOUNDS + UPPER_BOUNDS:
        sign = 1 if bound in LOWER_BOUNDS else -1
        if bound in new and (bound not in old or sign * new[bound] > sign * old[bound]):
            implied = bound.startswith("min") and bound != "minimum" and new[bound] == 0
            changes += [] if implied else location.says(f"has {bound} {new[bound]} now, not {old.get(bound, 'none')}")
    if new.get("pattern") not in (None, old.get("pattern")):
        changes += location.says("has another pattern now")
    if new.get("uniqueItems") and not old.get("uniqueItems"):
        changes += location.says("must have unique items now")
    return changes
