"""The sentences of the service that a page shows: constants, so that they can be translated by their text."""

from __future__ import annotations

NO_SUCH_COUNT = "An igloo holds 2 to 13 beads."
NO_MQTT = "The library for home automation is missing; pip install paho-mqtt installs it."
BAD_BROKER = "A broker is named as mqtt://host, mqtt://host:1883 or mqtt://user:password@host."
BROKER_AWAY = "The broker does not answer; the companion keeps trying."
