"""Buttons, lights and a buzzer on the table, at the pins of a Raspberry Pi's header (gpiozero)."""
