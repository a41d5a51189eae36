"""What goes wrong with a model file."""


class ModelFileError(ValueError):
    """A model that cannot be saved, or a file that is refused; it says why."""
