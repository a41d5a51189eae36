"""The paper's experiments: data set × protocol × method → cell → tables."""
