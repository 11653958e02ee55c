"""What a person did or has that cannot be used."""


class UserError(Exception):
    """One sentence that names the argument or file and the remedy; the command line shows it alone and exits with 2."""
