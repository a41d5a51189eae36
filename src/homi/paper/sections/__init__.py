"""Sections of the paper's report, one module each."""
