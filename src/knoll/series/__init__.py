"""Pure functions of a released kernel sum: modes, their places, conditional modes."""
