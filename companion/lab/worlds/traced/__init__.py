"""Tables that a ray tracer draws: a second drawing program that shares neither art nor code with the first."""
