"""The compared methods, one file each, and the parts that several share."""
