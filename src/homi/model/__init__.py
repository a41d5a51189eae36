"""HOMI and HOMICV: features, graph, route, search, held-out scores, calibration."""
