"""All rows of the operator matrix."""

from . import matrix_placing, matrix_pointwise, matrix_products, matrix_reductions

ROWS = {
    row.name: row
    for part in (matrix_pointwise, matrix_reductions, matrix_products, matrix_placing)
    for row in part.ROWS
}
