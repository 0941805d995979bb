"""Pictures of a run: arrays in, a matplotlib Figure out. Needs the extra `becbo[bench]`."""
