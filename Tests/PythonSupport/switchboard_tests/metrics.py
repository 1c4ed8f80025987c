"""The values of a server's metrics."""

from __future__ import annotations

from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from switchboard_tests.server import HTTP, Server


def text(server: Server) -> str:
    return HTTP.get(server.admin_url + "/metrics").text


def families(server: Server) -> dict[str, Any]:
    return {family.name: family for family in text_string_to_metric_families(text(server))}


def value(server: Server, name: str, **labels: str) -> float:
    """A sample's value, by the metric's full name."""
    for family in families(server).values():
        for sample in family.samples:
            if sample.name == "switchboard_" + name and all(
                sample.labels.get(key) == wanted for key, wanted in labels.items()
            ):
                return sample.value
    raise AssertionError(f"no {name} with {labels}")


def metric(server: Server, name: str, **labels: str) -> float:
    wanted = (
        "switchboard_"
        + name
        + ("{" + ",".join(f'{key}="{value}"' for key, value in labels.items()) + "}" if labels else "")
    )
    for line in HTTP.get(server.admin_url + "/metrics").text.splitlines():
        if line.startswith(wanted + " "):
            return float(line.split()[-1])
    raise AssertionError(f"there is no {wanted}")
