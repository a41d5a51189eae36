"""The error of model files."""


class ModelFileError(ValueError):
    """A model that cannot be saved, or a file that is refused."""
