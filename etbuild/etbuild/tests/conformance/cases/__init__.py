"""The cases: suites of names, each with a function that makes what is exported and its inputs."""

from .elementwise import binary, elementwise
from .experts import conveniences, grouped_products
from .images import detection, images
from .mathematics import linear_algebra, ordered, reductions_by_index, special_functions
from .products import products
from .sequences import classification, composite, losses, sequences
from .shapes import create, indexing, reduce, shape, writes
from .signals import complex_numbers, filters, signals

CASES = {
    "elementwise": elementwise, "binary": binary, "reduce": reduce, "shape": shape, "create": create,
    "indexing": indexing, "writes": writes, "products": products, "images": images, "sequences": sequences,
    "composite": composite, "losses": losses, "classification": classification, "special_functions": special_functions,
    "ordered": ordered, "reductions_by_index": reductions_by_index, "linear_algebra": linear_algebra, "signals": signals,
    "complex_numbers": complex_numbers, "grouped_products": grouped_products, "filters": filters, "conveniences": conveniences, "detection": detection,
}  # fmt: skip
