"""Reads events as an app's own back end does."""

from __future__ import annotations

import uuid
from typing import Any

import jsonschema_rs

from switchboard_tests.server import HTTP
from switchboard_tests.server_keys import ServerKey


class EventReader:
    """Reads events from now on, and checks each with its schema."""

    def __init__(self, key: ServerKey) -> None:
        self.key = key
        document = HTTP.get(f"{key.server.url}/openapi.json").json()
        components = {"components": document["components"]}
        self.validators = {}
        for type, path in document["webhooks"].items():
            schema = path["post"]["requestBody"]["content"]["application/json"]["schema"]
            self.validators[type] = jsonschema_rs.Draft202012Validator(
                {"allOf": [schema]} | components, validate_formats=True
            )
        self.after = self.page("").pop("next")

    def page(self, query: str) -> dict[str, Any]:
        response = self.key.get(f"/v1/server/events{query}")
        assert response.status_code == 200, response.text
        page = response.json()
        for event in page["events"]:
            uuid.UUID(event["id"])
            self.validators[event["type"]].validate({name: event[name] for name in ("type", "timestamp", "data")})
        return page

    def read(self, wait: int = 10) -> list[dict[str, Any]]:
        page = self.page(f"?after={self.after}&wait={wait}")
        self.after = page["next"]
        return page["events"]

    def until(self, *types: str) -> list[dict[str, Any]]:
        """Reads until the last of these types was seen; returns the events of these types."""
        found: list[dict[str, Any]] = []
        missing = set(types)
        for _ in range(20):
            for event in self.read():
                if event["type"] in types:
                    found.append(event)
                    missing.discard(event["type"])
            if not missing:
                return found
        raise AssertionError(f"no {missing} in {found}")
