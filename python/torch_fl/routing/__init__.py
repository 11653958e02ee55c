"""Which backend serves which operator: the routing language and the table made from it.

    add.Tensor = flaggems        # an operator with its overload, a backend
    include more.conf            # relative to this file

:func:`load` reads the files and the environment and gives the core its table.
"""

from .errors import Location, RoutingError
from .parser import Condition, Entry, Step, parse_file
from .table import Route, Table, load, read_table

__all__ = [
    "Condition",
    "Entry",
    "Location",
    "Route",
    "RoutingError",
    "Step",
    "Table",
    "load",
    "parse_file",
    "read_table",
]
