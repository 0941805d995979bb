"""The experiment runner: what to run, running it, the records it leaves, and their numbers."""
