"""Student code, walled off: what is run, the walls, and the proof that they hold."""
