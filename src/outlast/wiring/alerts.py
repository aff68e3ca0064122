"""Where alerts of a configuration go."""

from __future__ import annotations

from collections.abc import Mapping

from outlast.adapters.alarms.command import CommandAlarm
from outlast.ports.alarm import Alarm
from outlast.wiring.adapters import WEBHOOK, symbol
from outlast.wiring.settings.parts import Alerts


def alarms_of(alerts: Alerts, environ: Mapping[str, str]) -> list[Alarm]:
    """Everybody who is told. Raises CallerMistake (`missing_variable`)."""
    alarms: list[Alarm] = []
    if alerts.webhook is not None:
        alarms.append(symbol(WEBHOOK)(alerts.webhook.resolve(environ)))
    if alerts.command:
        alarms.append(CommandAlarm([text.resolve(environ) for text in alerts.command]))
    return alarms
