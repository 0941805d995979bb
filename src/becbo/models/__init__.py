"""From a history to fitted models: regressors of outputs, and feasibility as a product."""
