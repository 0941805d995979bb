"""How to maximise: knows boxes, grids and callables, no surrogate and no method."""
