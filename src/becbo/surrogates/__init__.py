"""Models of the value and of the chance to work: arrays in, model out."""
