"""Which backend serves which operator: the routing language and the table made from it.

    add.Tensor = flaggems[dtype!=float64], musa, none   # an operator with its overload, and a chain of backends
    include more.conf                                   # relative to this file, or a file that torch-fl ships

:func:`load` reads the files and the environment and gives the core its table.
"""

from .errors import Location, RoutingError
from .installed import Installed, of_core
from .missing import report_missing
from .parser import Condition, Entry, Step, parse_file
from .table import Link, Route, Table, load, read_table

__all__ = [
    "Condition",
    "Entry",
    "Installed",
    "Link",
    "Location",
    "Route",
    "RoutingError",
    "Step",
    "Table",
    "load",
    "of_core",
    "parse_file",
    "read_table",
    "report_missing",
]
