"""Parts of estimators that ask the door: trees of shapes, principal axes, refinement, component moments."""
