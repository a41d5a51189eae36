"""Experiments: data set × protocol × method × fold → results → tables, figures."""
