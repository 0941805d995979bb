"""The web pages of `becbo serve` and the REST interface."""
